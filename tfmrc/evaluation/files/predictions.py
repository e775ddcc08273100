"""Prediction files: one JSON object per line, written while a model runs, resumable."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.json_stream import json_lines
from tfmrc.data.stream import Account, open_binary

_BEGINNING = b'{"id": '


@dataclass(frozen=True)
class Prediction:
    """One answer with its scores and sources.

    Args:
        id: str. The id of the example.
        answer: str. The text. `"No Answer Present."` or empty if the system abstains.
        style: str. The answer style, or empty. Default: "".
        scores: dict. Numbers or lists by name, such as `"answerable_probability"` and
            `"relevance"`. Default: {}.
        provenance: tuple. One mapping per generated word: `word`, `source` ("vocabulary",
            "question" or "passage"), `passage`, `start`, `end` and the three weights `mixture`.
            Default: ().
        alternatives: tuple of str. Further answers, best first (without `answer`), for the K-best
            oracle. Default: ().
        digest: str. Digest of model, options and example, by which a stale answer is recognised.
            Default: "".
        error: str. Why a record of the data has no answer. Default: "", it has one.

    Example:

    >>> Prediction.from_json({"id": "q1", "answer": "the mill"}).answer
    'the mill'
    """

    id: str
    answer: str
    style: str = ""
    scores: Mapping[str, Any] = field(default_factory=dict)
    provenance: tuple[Mapping[str, Any], ...] = ()
    alternatives: tuple[str, ...] = ()
    digest: str = ""
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for one line, without empty fields."""
        result = {"error": self.error} if self.error else {"answer": self.answer}
        optional = ("style", "scores", "provenance", "alternatives", "digest")
        values = {name: getattr(self, name) for name in optional}
        return {"id": self.id, **result, **{n: value for n, value in values.items() if value}}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Prediction":
        """Returns the prediction of one line.

        Raises:
            ValueError: If a field is missing or unknown.
        """
        try:
            answer = "" if record.get("error") else record["answer"] + ""
            fields = {**record, "id": str(record["id"]), "answer": answer}
            for name in ("provenance", "alternatives"):
                fields[name] = tuple(record.get(name, ()))
            return cls(**fields)
        except (TypeError, KeyError) as error:
            raise ValueError(
                "a prediction has the fields id and answer, and optionally style, scores, "
                f"provenance, alternatives and digest. Received: {record!r:.200}"
            ) from error


def read_predictions(path: str | Path, style: str | None = None) -> dict[str, Prediction]:
    """Reads all predictions of a file by id, in the order of the file.

    Each record is known by its fields, whatever their order; records are JSON lines or a list:

    - `id` and `answer`: a `Prediction`, as tfmrc writes it.
    - `query_id` and `answers` with one text, or none for an empty answer: MS MARCO's candidates.
    - `id`, `prediction_text` and optionally `no_answer_probability`: the lists of Hugging Face's
      metrics of SQuAD.

    An object from id to text is the form of SQuAD's scripts.

    Args:
        path: str or path. The file, also `.gz`.
        style: str or None. The style to read; needed if an id has answers in several styles.
            Default: None.

    Raises:
        ValueError: If a record is broken or an id is repeated. The message names file and record.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "predictions.jsonl"
    >>> with PredictionWriter(path) as writer:
    ...     writer.write(Prediction("q1", "the mill", style="qa"))
    >>> read_predictions(path)["q1"].style
    'qa'
    """
    predictions: dict[str, Prediction] = {}
    for location, record in _records(path):
        prediction = _prediction(location, _as_prediction(location, record))
        if style is not None and prediction.style not in ("", style):
            continue
        known = predictions.setdefault(prediction.id, prediction)
        if known is not prediction:
            hint = ""
            if known.style != prediction.style:
                hint = f" (styles {known.style!r} and {prediction.style!r}: pass style=...)"
            raise location.error(f"the id occurs twice{hint}. Received: id={prediction.id!r}")
    return predictions


def _records(path: str | Path) -> Iterator[tuple[RecordLocation, Any]]:
    """Yields the records of a file of JSON lines, of a list, or of an object from id to text."""
    if str(path).endswith((".csv", ".tsv", ".xlsx")):
        raise ValueError(
            "Predictions are JSON lines, as `tfmrc predict --output FILE.jsonl` writes them. "
            f"Received: {path}"
        )
    with open_binary(path) as file:
        content = file.read()
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        yield from json_records(path)
        return
    if isinstance(whole, dict) and not {"id", "query_id"} & whole.keys():
        whole = [{"id": key, "answer": text} for key, text in whole.items()]
    for number, record in enumerate(whole if isinstance(whole, list) else [whole], 1):
        yield RecordLocation(path, f"record {number}"), record


def json_records(path: str | Path) -> Iterator[tuple[RecordLocation, Any]]:
    """Yields the values of a file of JSON lines, each with its location.

    Raises:
        ValueError: If a line is not JSON. The message names file and line.
    """
    with open_binary(path) as file:
        yield from json_lines(file, path, Account())


class PredictionWriter:
    """Writes predictions one by one, and resumes an interrupted file.

    Every line is flushed, so a killed process loses at most the line that it was writing. With
    `resume=True` such a half line is removed. Only a file of predictions is resumed: any other
    content raises an error and stays as it is.

    Args:
        path: str or path. The file. Its folder is created.
        resume: bool. Whether to keep the predictions of the file (see `digest_of`) instead of
            overwriting it. Default: False.

    Raises:
        ValueError: If the file to resume has anything but predictions, or one twice.
        OSError: If another writer has the file open.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "predictions.jsonl"
    >>> with PredictionWriter(path) as writer:
    ...     writer.write(Prediction("q1", "the mill"))
    >>> with PredictionWriter(path, resume=True) as writer:
    ...     for key in ("q1", "q2"):
    ...         if writer.digest_of(key) is None:
    ...             writer.write(Prediction(key, "a weir"))
    >>> list(read_predictions(path))
    ['q1', 'q2']
    """

    def __init__(self, path: str | Path, *, resume: bool = False):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._done: dict[str, str] = {}
        self._file = self.path.open("a", encoding="utf-8")
        try:
            if self.path.is_file():  # not /dev/stdout or a pipe
                _lock(self._file, self.path)
                if resume:
                    self._resume()
                else:
                    self._file.truncate(0)
        except BaseException:
            self.close()
            raise

    def digest_of(self, id: str, style: str = "") -> str | None:
        """Returns the digest of a prediction that the file has; None if it has none."""
        return self._done.get(f"{style}\n{id}")

    def forget(self, id: str, style: str = "") -> None:
        """Removes a prediction from those that `digest_of` knows; the file keeps it."""
        del self._done[f"{style}\n{id}"]

    def write(self, prediction: Prediction) -> None:
        """Appends one prediction."""
        self._file.write(json.dumps(prediction.to_json(), ensure_ascii=False) + "\n")
        self._file.flush()
        self._done[f"{prediction.style}\n{prediction.id}"] = prediction.digest

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _resume(self) -> None:
        """Notes the predictions of the file; then removes a half line, or ends a last line.

        Nothing is changed before all complete lines were recognised as predictions.
        """
        length, last = 0, b""
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                location = RecordLocation(self.path, f"line {number}")
                try:
                    record = json.loads(line) if line.strip() else None
                except ValueError as error:
                    if line.endswith(b"\n") or not line.startswith(_BEGINNING[: len(line)]):
                        raise location.error(
                            "only a file of predictions can be resumed; this line is not one. "
                            f"Received: {line[:80]!r}"
                        ) from error
                    break  # a half line
                length, last = length + len(line), line
                if record is not None:
                    prediction = _prediction(location, record)
                    if self.digest_of(prediction.id, prediction.style) is not None:
                        raise location.error(f"the id occurs twice. Received: {prediction.id!r}")
                    self._done[f"{prediction.style}\n{prediction.id}"] = prediction.digest
        with self.path.open("rb+") as file:
            file.truncate(length)
            if last and not last.endswith(b"\n"):
                file.seek(length)
                file.write(b"\n")


def _lock(file: IO[str], path: Path) -> None:
    """Locks a file until it is closed; the system releases the lock when the process ends.

    A process that had the lock may have replaced the file after it was opened here.
    """
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_locked = path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat())
    except BlockingIOError:
        is_locked = False
    if not is_locked:
        raise OSError(f"Another process is writing {path}. Wait until it ends.")


def _as_prediction(location: RecordLocation, record: Any) -> Any:
    """Returns a record of another form as one of tfmrc's; see `read_predictions`."""
    if not isinstance(record, dict):
        return record
    fields = dict(record)
    if {"query_id", "answers"} <= fields.keys():
        texts = location.list(fields, "answers")
        if len(texts) > 1:
            raise location.error(f"each query has one candidate. Received: {record!r:.200}")
        return {"id": fields["query_id"], "answer": texts[0] if texts else ""}
    if "prediction_text" in fields:
        fields["answer"] = fields.pop("prediction_text")
        chance = fields.pop("no_answer_probability", None)
        fields["scores"] = {} if chance is None else {"answerable_probability": 1.0 - chance}
    return fields


def _prediction(location: RecordLocation, record: Any) -> Prediction:
    try:
        return Prediction.from_json(record)
    except ValueError as error:
        raise location.error(str(error)) from error

"""Prediction files: one JSON object per line, written while a model runs, resumable."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from tfmrc.evaluation.files.json_lines import read_json_lines, short

_BEGINNING = b'{"id": '
_KINDS: dict[str, tuple[type, str]] = {
    "answer": (str, "a string"),
    "style": (str, "a string"),
    "scores": (dict, "an object"),
    "provenance": (list, "a list"),
    "alternatives": (list, "a list"),
    "digest": (str, "a string"),
}
_FIELDS = {"id", *_KINDS}


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

    def to_json(self) -> dict[str, Any]:
        """Returns a dictionary for one line, without empty fields."""
        record: dict[str, Any] = {"id": self.id, "answer": self.answer}
        optional = {
            "style": self.style,
            "scores": dict(self.scores),
            "provenance": [dict(word) for word in self.provenance],
            "alternatives": list(self.alternatives),
            "digest": self.digest,
        }
        return record | {name: value for name, value in optional.items() if value}

    @classmethod
    def from_json(cls, record: Any) -> "Prediction":
        """Returns the prediction of one line.

        Raises:
            ValueError: If a field is missing, unknown or of the wrong type.
        """
        if not isinstance(record, dict) or not {"id", "answer"} <= record.keys():
            raise ValueError(
                "a prediction is an object with 'id' and 'answer' (and 'style', 'scores', "
                f"'provenance', 'alternatives', 'digest'). Received: {short(record)}"
            )
        unknown = sorted(record.keys() - _FIELDS)
        if unknown:
            raise ValueError(f"unknown fields in a prediction. Received: {unknown}")
        for name, (kind, what) in _KINDS.items():
            if not isinstance(record.get(name, kind()), kind):
                raise ValueError(f"{name!r} must be {what}. Received: {name}={record[name]!r}")
        return cls(
            id=str(record["id"]),
            answer=record["answer"],
            style=record.get("style", ""),
            scores=record.get("scores", {}),
            provenance=tuple(record.get("provenance", ())),
            alternatives=tuple(record.get("alternatives", ())),
            digest=record.get("digest", ""),
        )


def read_predictions(path: str | Path, style: str | None = None) -> dict[str, Prediction]:
    """Reads all predictions of a file by id, in the order of the file.

    Args:
        path: str or path. A file of JSON lines, also `.gz`.
        style: str or None. The style to read; needed if an id has answers in several styles.
            Default: None.

    Raises:
        ValueError: If a line is broken or an id is repeated. The message names file and line.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "predictions.jsonl"
    >>> with PredictionWriter(path) as writer:
    ...     writer.write(Prediction("q1", "the mill", style="qa"))
    >>> read_predictions(path)["q1"].style
    'qa'
    """
    predictions: dict[str, Prediction] = {}
    lines: dict[str, int] = {}
    for number, record in read_json_lines(path):
        prediction = _prediction(path, number, record)
        if style is not None and prediction.style != style:
            continue
        key = prediction.id
        if key in predictions:
            hint = ""
            first = predictions[key].style
            if first != prediction.style:
                hint = f" (styles {first!r} and {prediction.style!r}: pass style=...)"
            raise ValueError(
                f"{path}, line {number}: the id already occurs in line {lines[key]}{hint}. "
                f"Received: id={key!r}"
            )
        predictions[key], lines[key] = prediction, number
    return predictions


class PredictionWriter:
    """Writes predictions one by one, and resumes an interrupted file.

    Every line is flushed, so a killed process loses at most the line that it was writing. With
    `resume=True` such a half line is removed. Only a file of predictions is resumed: any other
    content raises an error and stays as it is.

    Args:
        path: str or path. The file. Its folder is created.
        resume: bool. Whether to keep the predictions of the file (their ids and styles are in
            `done`) instead of overwriting it. Default: False.

    Raises:
        ValueError: If the file to resume has anything but predictions.
        OSError: If another writer has the file open.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "predictions.jsonl"
    >>> with PredictionWriter(path) as writer:
    ...     writer.write(Prediction("q1", "the mill"))
    >>> with PredictionWriter(path, resume=True) as writer:
    ...     for key in ("q1", "q2"):
    ...         if (key, "") not in writer.done:
    ...             writer.write(Prediction(key, "a weir"))
    >>> list(read_predictions(path))
    ['q1', 'q2']
    """

    def __init__(self, path: str | Path, *, resume: bool = False):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.done: set[tuple[str, str]] = set()
        self._file = self.path.open("a", encoding="utf-8")
        try:
            if self.path.is_file():  # not /dev/stdout or a pipe
                _lock(self._file, self.path)
                if resume:
                    self.done = _resume(self.path)
                else:
                    self._file.truncate(0)
        except BaseException:
            self._file.close()
            raise

    def write(self, prediction: Prediction) -> None:
        """Appends one prediction.

        Raises:
            ValueError: If the id was already written in this style.
        """
        key = (prediction.id, prediction.style)
        if key in self.done:
            raise ValueError(
                f"{self.path}: an id can be predicted once in each style. "
                f"Received: id={prediction.id!r}, style={prediction.style!r}"
            )
        self._file.write(json.dumps(prediction.to_json(), ensure_ascii=False) + "\n")
        self._file.flush()
        self.done.add(key)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _lock(file: IO[str], path: Path) -> None:
    """Locks a file until it is closed; the system releases the lock when the process ends.

    A process that had the lock may have replaced the file after it was opened here.
    """
    import fcntl

    said = f"Another process is writing {path}. Wait until it ends."
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise OSError(said) from error
    if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
        raise OSError(said)


def _prediction(path: str | Path, number: int, record: Any) -> Prediction:
    try:
        return Prediction.from_json(record)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from error


def _resume(path: Path) -> set[tuple[str, str]]:
    """Returns ids and styles of a file; then removes a half line, or ends a last line.

    Nothing is changed before all complete lines were recognised as predictions.
    """
    done: set[tuple[str, str]] = set()
    length, last = 0, b""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                last = line
                break
            length += len(line)
            if line.strip():
                prediction = _prediction(path, number, _parsed(path, number, line))
                done.add((prediction.id, prediction.style))
    if not last:
        return done
    try:
        record = json.loads(last)
    except ValueError:
        if not last.startswith(_BEGINNING[: len(last)]):
            raise ValueError(
                f"{path}: only a file of predictions can be resumed. The last line is not the "
                f"beginning of a prediction. Received: {last[:80]!r}"
            ) from None
        with path.open("rb+") as file:
            file.truncate(length)
        return done
    prediction = _prediction(path, number, record)
    with path.open("ab") as file:
        file.write(b"\n")
    return done | {(prediction.id, prediction.style)}


def _parsed(path: Path, number: int, line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise ValueError(
            f"{path}, line {number}: not JSON ({error}). Received: {line[:80]!r}"
        ) from error

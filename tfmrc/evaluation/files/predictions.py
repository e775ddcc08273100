"""Prediction files: one JSON object a line, written while a model runs, resumable."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tfmrc.evaluation.files.json_lines import read_json_lines, short

_FIELDS = {"id", "style", "answer", "scores", "provenance", "alternatives"}


@dataclass(frozen=True)
class Prediction:
    """One answer with what its reader knows about it.

    Args:
        id: the example's id.
        answer: the text; `"No Answer Present."` or empty where the reader abstains.
        style: the answer style, or empty.
        scores: numbers by name, lists allowed (`"possibility"`, `"relevance"` by passage, ...).
        provenance: one mapping a generated word: `word`, `source` ("vocabulary", "question" or
            "passage"), `passage`, `start`, `end` and the three weights `mixture`.
        alternatives: further answers, best first (without `answer`), for the K-best oracle.

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

    def to_json(self) -> dict[str, Any]:
        """A dictionary for one line; what is empty is left out."""
        record: dict[str, Any] = {"id": self.id, "answer": self.answer}
        optional = {
            "style": self.style,
            "scores": dict(self.scores),
            "provenance": [dict(word) for word in self.provenance],
            "alternatives": list(self.alternatives),
        }
        return record | {name: value for name, value in optional.items() if value}

    @classmethod
    def from_json(cls, record: Any) -> "Prediction":
        """The prediction of one line.

        Raises:
            ValueError: a field is missing, unknown or of the wrong type.
        """
        if not isinstance(record, dict) or not {"id", "answer"} <= record.keys():
            raise ValueError(
                "a prediction is an object with 'id' and 'answer' (and 'style', 'scores', "
                f"'provenance', 'alternatives'). Received: {short(record)}"
            )
        unknown = sorted(record.keys() - _FIELDS)
        if unknown:
            raise ValueError(f"unknown fields in a prediction. Received: {unknown}")
        if not isinstance(record["answer"], str):
            raise ValueError(f"'answer' must be a string. Received: answer={record['answer']!r}")
        return cls(
            id=str(record["id"]),
            answer=record["answer"],
            style=record.get("style", ""),
            scores=record.get("scores", {}),
            provenance=tuple(record.get("provenance", ())),
            alternatives=tuple(record.get("alternatives", ())),
        )


def read_predictions(path: str | Path, style: str | None = None) -> dict[str, Prediction]:
    """All predictions of a file by id, in the file's order.

    Args:
        path: a file of JSON lines, also `.gz`.
        style: keep only this style; needed where one id has answers in several styles.

    Raises:
        ValueError: a broken line or a repeated id; the message names file and line.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "predictions.jsonl"
    >>> with PredictionWriter(path) as writer:
    ...     writer.write(Prediction("q1", "the mill", style="qa"))
    >>> read_predictions(path)["q1"].style
    'qa'
    """
    found: dict[str, Prediction] = {}
    lines: dict[str, int] = {}
    for number, prediction in _numbered(Path(path)):
        if style is not None and prediction.style != style:
            continue
        key = prediction.id
        if key in found:
            hint = ""
            if found[key].style != prediction.style:
                hint = f" (styles {found[key].style!r} and {prediction.style!r}: pass style=...)"
            raise ValueError(
                f"{path}, line {number}: the id was already predicted in line {lines[key]}{hint}. "
                f"Received: id={key!r}"
            )
        found[key], lines[key] = prediction, number
    return found


class PredictionWriter:
    """Writes predictions as they come, and goes on where an interrupted run stopped.

    Every line is flushed, so at most the line being written is lost when the process is killed;
    such a half line is cut off when the file is opened again with `resume=True`.

    Args:
        path: the file; its folder is made.
        resume: keep what is there (`done` has it) instead of starting anew.

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
        if resume and self.path.exists():
            _cut_half_line(self.path)
            self.done = {(p.id, p.style) for _, p in _numbered(self.path)}
        self._file = self.path.open("a" if resume else "w", encoding="utf-8")

    def write(self, prediction: Prediction) -> None:
        """Append one prediction.

        Raises:
            ValueError: the id was already written in this style.
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


def _numbered(path: Path) -> Iterator[tuple[int, Prediction]]:
    for number, record in read_json_lines(path):
        try:
            prediction = Prediction.from_json(record)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        yield number, prediction


def _cut_half_line(path: Path) -> None:
    with path.open("rb+") as file:
        content = file.read()
        if content and not content.endswith(b"\n"):
            file.truncate(content.rfind(b"\n") + 1)

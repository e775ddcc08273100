"""Pairing of predictions and references by id; missing ones are counted or refused."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Missing = Literal["error", "empty", "leave_out"]


@dataclass(frozen=True)
class Pairing:
    """Ids to score, in the order of the references, and the ids that did not match."""

    ids: tuple[Hashable, ...]
    missing: tuple[Hashable, ...]
    unused: tuple[Hashable, ...]

    @property
    def counts(self) -> dict[str, int]:
        return {"missing": len(self.missing), "unused": len(self.unused)}


def pair(
    predictions: Mapping[Any, Any],
    references: Collection[Hashable],
    *,
    missing: Missing = "error",
    known: Collection[Hashable] = (),
) -> Pairing:
    """Matches the ids of predictions and references.

    Args:
        predictions: dict. Predictions by id.
        references: list of `Hashable`. The ids to score.
        missing: str. Treatment of an id without a prediction: `"error"`, `"empty"` (scored as an
            empty prediction, and counted) or `"leave_out"` (not scored, and counted).
            Default: "error".
        known: list of `Hashable`. Further valid ids that are not scored (unanswerable questions).
            They are not "unused". Default: ().

    Raises:
        ValueError: If `missing` is unknown, or an id has no prediction under `"error"`.
        TypeError: If the predictions are no dict.
    """
    if missing not in ("error", "empty", "leave_out"):
        raise ValueError(
            f"`missing` must be 'error', 'empty' or 'leave_out'. Received: missing={missing!r}"
        )
    _check_dict(predictions, "predictions", '{"q1": ...}')
    absent = tuple(key for key in references if key not in predictions)
    if absent and missing == "error":
        shown = ", ".join(repr(key) for key in absent[:5])
        more = ", …" if len(absent) > 5 else ""
        raise ValueError(
            f"{len(absent)} of {len(references)} references have no prediction: {shown}{more}. "
            "Predict them, or pass missing='empty' (they count as empty predictions) or "
            f"missing='leave_out'. Received: {len(predictions)} predictions"
            f"{_kinds(predictions, references)}"
        )
    dropped = set(absent) if missing == "leave_out" else set()
    expected = set(references) | set(known)
    return Pairing(
        ids=tuple(key for key in references if key not in dropped),
        missing=absent,
        unused=tuple(key for key in predictions if key not in expected),
    )


def _kinds(predictions: Collection[Hashable], references: Collection[Hashable]) -> str:
    """Returns a hint if the ids of one side are numbers and those of the other strings."""
    kinds = [sorted({type(key).__name__ for key in side}) for side in (predictions, references)]
    if not predictions or kinds[0] == kinds[1]:
        return ""
    return f" with ids of type {'/'.join(kinds[0])}, references with {'/'.join(kinds[1])}"


def _check_dict(values: Any, name: str, form: str) -> None:
    if not isinstance(values, Mapping):
        raise TypeError(
            f"`{name}` must be a dict with an entry per id, such as {form}. "
            f"Received: {name}={values!r:.80}"
        )


def check_text(predictions: Mapping[Any, Any]) -> None:
    """Raises TypeError if the predictions are no dict, or one is not a string."""
    _check_dict(predictions, "predictions", '{"q1": "York"}')
    for key, text in predictions.items():
        if not isinstance(text, str):
            raise TypeError(
                f"A prediction must be a string. Received: predictions[{key!r}]={text!r}"
            )


def check_references(references: Mapping[Any, Any], name: str = "references") -> None:
    """Raises TypeError if the references are no dict, or those of an id no sequence of strings."""
    _check_dict(references, name, '{"q1": ["York", "in York"]}')
    for key, texts in references.items():
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError(
                f"{name} must be a sequence of strings for each id. "
                f"Received: {name}[{key!r}]={texts!r}"
            )

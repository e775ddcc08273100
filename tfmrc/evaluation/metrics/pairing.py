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
        ValueError: If an id has no prediction under `"error"`.
    """
    absent = tuple(key for key in references if key not in predictions)
    if absent and missing not in ("empty", "leave_out"):
        shown = ", ".join(repr(key) for key in absent[:5])
        rest = ", …" if len(absent) > 5 else ""
        raise ValueError(
            f"{len(absent)} of {len(references)} references have no prediction: {shown}{rest}. "
            "Predict them, or add `--missing empty` (they count as empty predictions) or "
            "`--missing leave_out`, in Python missing='empty'. "
            f"Received: {len(predictions)} predictions"
        )
    dropped = set(absent) if missing == "leave_out" else set()
    expected = set(references) | set(known)
    return Pairing(
        ids=tuple(key for key in references if key not in dropped),
        missing=absent,
        unused=tuple(key for key in predictions if key not in expected),
    )


def check_texts(texts: Mapping[Any, Any], name: str = "references") -> None:
    """Raises a TypeError if an id has one string where several texts are expected.

    Each of its letters would count as a text.
    """
    for key, value in texts.items():
        if isinstance(value, str):
            raise TypeError(
                f"{name} must be a list of strings for each id. Received: {name}[{key!r}]={value!r}"
            )

"""Pairing of predictions and references by id; missing ones are counted or refused."""

from collections.abc import Collection, Hashable, Mapping
from typing import Any, Literal

Missing = Literal["error", "empty", "leave_out"]


def pair(
    predictions: Mapping[Any, Any],
    references: Collection[Hashable],
    *,
    missing: Missing = "error",
    known: Collection[Hashable] = (),
) -> tuple[list[Hashable], dict[str, int]]:
    """Matches the ids of predictions and references.

    Args:
        predictions: dict. Predictions by id.
        references: list of `Hashable`. The ids to score.
        missing: str. Treatment of an id without a prediction: `"error"`, `"empty"` (scored as an
            empty prediction, and counted) or `"leave_out"` (not scored, and counted).
            Default: "error".
        known: list of `Hashable`. Further valid ids that are not scored (unanswerable questions).
            They are not "unused". Default: ().

    Returns:
        The ids to score, in the order of the references, and the counts of those that do not match.

    Raises:
        ValueError: If an id has no prediction under `"error"`.
    """
    absent = [key for key in references if key not in predictions]
    if absent and missing not in ("empty", "leave_out"):
        shown = ", ".join(repr(key) for key in absent[:5])
        rest = ", …" if len(absent) > 5 else ""
        raise ValueError(
            f"{len(absent)} of {len(references)} references have no prediction: {shown}{rest}. "
            "Predict them, or add `--missing empty` (they count as empty predictions) or "
            "`--missing leave_out`, in Python missing='empty'. "
            f"Received: {len(predictions)} predictions"
        )
    ids = [key for key in references if missing != "leave_out" or key in predictions]
    return ids, {"missing": len(absent), "unused": len({*predictions} - {*references, *known})}


def check_texts(texts: Mapping[Any, Any], name: str = "references") -> None:
    """Raises a TypeError if an id has one string where several texts are expected.

    Each of its letters would count as a text.
    """
    for key, value in texts.items():
        if isinstance(value, str):
            raise TypeError(
                f"{name} must be a list of strings for each id. Received: {name}[{key!r}]={value!r}"
            )

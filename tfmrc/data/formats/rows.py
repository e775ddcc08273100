"""The row of a question as an example, by one rule for tables, SQuAD and its parts."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, Literal

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.stream import Account

BlankAnswers = Literal["unknown", "none"]

CANNOT_ANSWER = "CANNOTANSWER"  # QuAC's answer where there is none
FREE = -1
"""The ``answer_start`` of a free-form answer, which does not occur in its context."""
ANSWERS = {"answers", "styles"}
READ_FRAME = " (pandas.read_csv(path, dtype=str) reads numbers as texts)"

_FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def example_of(
    row: Mapping[str, Any],
    location: RecordLocation,
    account: Account,
    style: str = "span",
    blank_answers: BlankAnswers = "unknown",
    ranked: bool = False,
) -> Example:
    """Returns the example of a row.

    An answer that is not at its position, but once in the passage, is located and counted.

    Args:
        row: dict. The fields of `tables.NAMES`, with plain values, and `styles`, the answers by
            style. A value may be a `RecordError`, which is raised if the value is needed.
        location: `RecordLocation`. The place of the row.
        account: `Account`. Counts blank answers and repaired positions.
        style: str. Style of `answers`. Default: "span".
        blank_answers: str. Whether a blank answer says that there is `"none"`. Default: "unknown".
        ranked: bool. Whether the only passage is relevant if it answers. Default: False.

    Raises:
        RecordError: A value is missing or of the wrong type, or values contradict each other.
    """
    name = location.name(row.get("id"))
    question, passages = (plain(_value(row, field)) for field in ("question", "passages"))
    if not isinstance(question, str):
        shown = "nothing" if question is None else short(question)
        raise location.error(f"must be text. Received: {shown}", "question")
    if not passages:
        raise location.error("must have a passage. Received: nothing", "passages")
    passages = _texts(passages, "passages", location)

    def labels() -> dict[str, Any]:
        answers, starts, answerable = _answers(row, location, account, style, blank_answers)
        is_known = ranked and answerable is not None
        optional = {name: _value(row, name) for name in ("query_type", "group")}
        return {
            "answers": {style: tuple(texts) for style, texts in answers.items() if texts},
            "answerable": answerable,
            "relevance": (answerable,) if is_known else _relevance(row, location),
            "spans": _spans(row, passages, answers.get(style, []), starts, location, account),
            **{name: None if value is None else str(value) for name, value in optional.items()},
        }

    return location.labelled(account, labels, id=name, question=question, passages=passages)


def plain(value: Any) -> Any:
    """Returns a cell as plain Python; None for a blank one and for the NaN of data frames."""
    if hasattr(value, "tolist"):  # of NumPy
        value = value.tolist()
    if type(value).__name__ == "NAType" or (isinstance(value, float) and value != value):
        return None
    if isinstance(value, str) and not value.strip():
        return None
    return list(value) if isinstance(value, tuple) else value


def _value(row: Mapping[str, Any], field: str) -> Any:
    value = row.get(field)
    if isinstance(value, Exception):
        raise value
    return value


def _texts(value: Any, field: str, location: RecordLocation) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if field == "answers":
        values = [
            str(text) if isinstance(text, Integral) and not isinstance(text, bool) else text
            for text in values
        ]
    if not all(isinstance(text, str) for text in values):
        raise location.error(
            f"must be a text or a list of texts{READ_FRAME}. Received: {short(value)}", field
        )
    return values


def _given(
    row: Mapping[str, Any], style: str, location: RecordLocation
) -> tuple[dict[str, list[str]], list[Any], bool]:
    """Returns the texts by style, the positions of those of `style`, and if the list is empty."""
    value, starts, styles = (_value(row, name) for name in ("answers", "answer_start", "styles"))
    if isinstance(value, Mapping) and "text" not in value:
        styles = value
    elif isinstance(value, Mapping):  # Hugging Face
        starts, value = plain(value.get("answer_start", starts)), plain(value["text"])
    elif isinstance(value, list) and any(isinstance(answer, Mapping) for answer in value):
        if any(answer.get("answer_category") in ("YES", "NO") for answer in value):
            raise location.error(
                "the answer is yes or no, and its text the evidence (Haystack's answer_category); "
                f"readers learn from answers of the passage. Received: {short(value)}",
                "answers",
            )
        # SQuAD, Label Studio
        starts = [answer.get("answer_start", answer.get("start")) for answer in value]
        value = [location.text(answer, "text", blank=True) for answer in value]
    if styles is None:
        styles = {style: [] if value is None else value}
    given = {str(name): _texts(plain(texts), "answers", location) for name, texts in styles.items()}
    starts = starts if isinstance(starts, list) else [] if starts is None else [starts]
    return given, starts, value == []


def _answers(
    row: Mapping[str, Any],
    location: RecordLocation,
    account: Account,
    style: str,
    blank_answers: BlankAnswers,
) -> tuple[dict[str, list[str]], list[Any], bool | None]:
    """Returns the answers by style, the positions of those of `style`, and `answerable`."""
    given, starts, is_empty = _given(row, style, location)
    own = given.get(style, [])
    if len(starts) == len(own):
        starts = [start for text, start in zip(own, starts, strict=True) if _is_answer(text)]
    found = {name: [text for text in texts if _is_answer(text)] for name, texts in given.items()}
    flag = _answerable(row, location)
    texts = [text for texts in given.values() for text in texts]
    if any(found.values()) if flag is False else flag and is_empty:
        raise location.error(
            "must be empty for an unanswerable question, and for no other. Received: "
            f"answerable={flag}, answers={short(texts)}",
            "answers",
        )
    if any(found.values()):
        flag = True
    elif CANNOT_ANSWER in texts or is_empty:
        flag = False
    elif flag is not False and (texts or (flag is None and not row.keys().isdisjoint(ANSWERS))):
        flag = False if blank_answers == "none" else None
        if flag is False:
            account.notes["blank answers, read as no answer"] += 1
    return found, starts, flag


def _is_answer(text: str) -> bool:
    return bool(text.strip()) and text != CANNOT_ANSWER


def _answerable(row: Mapping[str, Any], location: RecordLocation) -> bool | None:
    flags = {
        _flag(value, field, location) == (field == "answerable")
        for field in ("answerable", "is_impossible")
        for value in [_value(row, field)]
        if value is not None
    }
    if len(flags) == 2:
        raise location.error("contradicts `is_impossible`", "answerable")
    return flags.pop() if flags else None


def _relevance(row: Mapping[str, Any], location: RecordLocation) -> tuple[bool, ...] | None:
    value = _value(row, "relevance")
    if value is None:
        return None
    flags = value if isinstance(value, list) else [value]
    return tuple(_flag(flag, "relevance", location) for flag in flags)


def _flag(value: object, field: str, location: RecordLocation) -> bool:
    """True and false, also as 1 and 0 or as a CSV file writes them."""
    result = _FLAGS.get(str(value).strip().lower().removesuffix(".0"))
    if result is None:
        raise location.error(f"must be true or false. Received: {short(value)}", field)
    return result


def _spans(
    row: Mapping[str, Any],
    passages: list[str],
    texts: list[str],
    starts: list[Any],
    location: RecordLocation,
    account: Account,
) -> list[Span]:
    spans = _value(row, "spans")
    if spans is not None:
        return [Span(*span) for span in spans]
    if all(start is None or whole(start) == FREE for start in map(plain, starts)):
        return []
    if len(starts) != len(texts) or len(passages) != 1:
        if account.labels != "all":
            return []
        raise location.error(
            "needs a number per answer, and a single passage. Received: "
            f"{len(starts)} numbers, {len(texts)} answers, {len(passages)} passages",
            "answer_start",
        )
    pairs = zip(texts, starts, strict=True)
    found = (_span(text, start, passages[0], location, account) for text, start in pairs)
    return [span for span in found if span is not None]


def _span(
    text: str, start: object, passage: str, location: RecordLocation, account: Account
) -> Span | None:
    """Returns the span of an answer; None if its position is unknown, or wrong and not needed."""
    first = whole(start)
    if plain(start) is None or first == FREE:
        return None
    if first is None or first < 0 or not passage.startswith(text, first):
        first = passage.find(text)
        if first < 0 or passage.find(text, first + 1) >= 0:
            if account.labels != "all":
                return None
            raise location.error(
                "the answer does not begin there, and is not exactly once in the passage. "
                f"Received: answer_start={short(start)}, text={short(text)}",
                "answer_start",
            )
        account.notes["answers located, as their position was wrong"] += 1
    return Span(0, first, first + len(text))


def whole(value: Any) -> int | None:
    """A whole number, also as 3.0 or "3.0": frames with blank cells hold and write floats."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if number.is_integer() and not isinstance(value, bool) else None

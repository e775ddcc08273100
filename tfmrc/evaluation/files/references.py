"""References: the texts and labels against which predictions are scored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.detect import read_file
from tfmrc.data.formats.json_stream import json_shape
from tfmrc.data.formats.msmarco import NO_ANSWER
from tfmrc.data.stream import Account, RecordError
from tfmrc.evaluation.files.predictions import json_records


@dataclass(frozen=True)
class Reference:
    """Reference of one example.

    Args:
        id: str. The id of the example.
        answers: tuple of str. The reference texts. Empty if the question has no answer.
        question: str. Text of the question, if known. Default: "".
        query_type: str. MS MARCO's type of the question, if known. Default: "".
        answerable: bool or None. Whether the question can be answered. None if unknown.
            Default: None.
        relevance: tuple of bool or None. One truth value per passage. None if unknown.
            Default: None.
        passages: tuple of str. The passages, if spans of them are right; not compared. Default: ().
        spans: tuple of `Span`. The spans of the passages that are right; not compared. Default: ().
    """

    id: str
    answers: tuple[str, ...]
    question: str = ""
    query_type: str = ""
    answerable: bool | None = None
    relevance: tuple[bool, ...] | None = None
    passages: tuple[str, ...] = field(default=(), compare=False, repr=False)
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, example: Example, style: str | None = None) -> "Reference":
        """Returns the reference of an example: its answers in a style, or in all styles."""
        by_style = example.answers if style is None else {style: example.answers.get(style, ())}
        return cls(
            example.id,
            tuple(text for texts in by_style.values() for text in texts),
            example.question,
            example.query_type or "",
            example.answerable,
            example.relevance,
            tuple(example.passages) if example.spans else (),  # else they would only take memory
            tuple(example.spans),
        )


def read_references(
    path: str | Path,
    *,
    style: str | None = None,
    split: str | None = None,
    account: Account | None = None,
    **options: Any,
) -> dict[str, Reference]:
    """Reads references by id from a file, whose form is detected from its content.

    Every form of `tfmrc.data.read_file` is read, and MS MARCO's reference files: JSON lines with
    `query_id` and `answers`. The file is read as a stream; no passage is kept. A question whose
    answers are all of other styles is left out.

    Args:
        path: str or path. The file, also `.gz`.
        style: str or None. The style of the answers, needed if a question has several.
            Default: None.
        split: str or None. NarrativeQA's `set` column (`"train"`, `"valid"`, `"test"`).
            Default: None.
        account: `Account` or None. Receives the counts of questions, and says what becomes of
            broken and blank ones. Default: None.
        **options: `columns` and `blank_answers`, as of `tfmrc.data.read_file`.

    Raises:
        ValueError: If the form is unknown, a record is broken, an id is repeated, or a style is
            needed or does not occur.

    Example:

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "references.jsonl"
    >>> _ = path.write_text('{"query_id": 7, "answers": ["the mill", "a mill"]}')
    >>> read_references(path)["7"].answers
    ('the mill', 'a mill')
    """
    names = json_shape(path).keys()
    if "answers" in names and names.isdisjoint(("question", "passages")):
        return _answers_only(path, account or Account())
    given = {name: value for name, value in (options | {"split": split}).items() if value}
    found: dict[str, Reference] = {}
    styles: set[str] = set()
    for example in read_file(path, **given).records(account or Account(labels="texts")):
        if isinstance(example, RecordError):
            continue
        styles.update(example.answers)
        if style is None and len(example.answers) > 1:
            raise ValueError(
                f"{path}, id {example.id}: the answers have several styles, choose one with "
                f"style=... (--style). Received: styles {sorted(example.answers)}"
            )
        if not example.answers or style is None or style in example.answers:
            found[example.id] = Reference.of(example, style)
    if style is not None and style not in styles:
        raise ValueError(
            f"{path}: no answer has this style; there are {sorted(styles)}. "
            f"Received: style={style!r}"
        )
    return found


def _answers_only(path: str | Path, account: Account) -> dict[str, Reference]:
    """Returns MS MARCO's references: an id and a list of answers in each line."""
    found: dict[str, Reference] = {}
    for location, record in json_records(path):
        account.used += 1
        answers = location.list(record, "answers")
        key = str(record["query_id"] if "query_id" in record else location.text(record, "id"))
        if key in found:
            raise location.error(f"occurs twice. Received: id={key!r}", "id")
        answerable = bool(answers) and NO_ANSWER not in answers
        found[key] = Reference(key, tuple(answers), answerable=answerable)
    return found


def question_references(examples: Sequence[Example]) -> dict[str, list[str]]:
    """Returns the reference questions of each example, by id.

    The reference of an example with an answer is its own question. Without answers, all questions
    about the same text are references.
    """
    by_text: dict[str, list[str]] = {}
    for example in examples:
        if not example.answers:
            by_text.setdefault(example.passages[0], []).append(example.question)
    return {
        example.id: [example.question] if example.answers else by_text[example.passages[0]]
        for example in examples
    }


def answer_references(examples: Iterable[Example], style: str | None) -> dict[str, list[str]]:
    """Returns the reference answers of each example, by id; of all styles if `style` is None.

    Examples without such an answer are left out.
    """
    references = {one.id: list(Reference.of(one, style).answers) for one in examples}
    return {key: answers for key, answers in references.items() if answers}

"""MS MARCO QA: JSON lines of v2.1 and v1.1."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

from tfmrc.data.example import Example
from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.formats.json_stream import json_records
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError

Subset = Literal["ALL", "ANS", "NLG"]
SUBSETS = ("ALL", "ANS", "NLG")
STYLES = ("qa", "nlg")
NO_ANSWER = "No Answer Present."


@register_format("msmarco")
def read_msmarco(
    path: str | PathLike,
    *,
    subset: Subset = "ALL",
    styles: tuple[str, ...] = STYLES,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Reads an MS MARCO QA file: each query with its passages, in the order of the search engine.

    A file has the columns of v2.1, which are read side by side, an object per line as v1.1 has, or
    rows as Hugging Face's hub has them. ``answers`` become style ``"qa"``, ``wellFormedAnswers``
    style ``"nlg"``. A query is answerable if it has an answer of either style. An empty list of
    answers (v1.1) and "No Answer Present." (v2.1) mean unanswerable. The evaluation file has no
    answers and gives ``answerable=None``.

    Blank answers are removed and noted in the account; a query with only blank answers has
    ``answerable=None``. Blank passages are kept and noted, so that the index of a passage is its
    rank.

    Args:
        path: str or path. The file, which may be gzipped.
        subset: str. ``"ALL"`` queries, the answerable ones (``"ANS"``), or those with a well-formed
            answer (``"NLG"``). Default: ``"ALL"``.
        styles: tuple of str. The answer styles to keep; the subset does not depend on them.
            Default: ``("qa", "nlg")``.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken record; ``"skip"`` counts
            the record and continues. Default: ``"raise"``.

    Returns:
        A stream of examples with ``query_type`` and without ``group``.

    Raises:
        ValueError: The subset or a style does not exist.
        RecordError: While reading: a field is missing or has a wrong type, the query is blank,
            there is no passage, the file is truncated or not JSON.

    Example:

    >>> import json, pathlib, tempfile
    >>> record = {
    ...     "query_id": 7,
    ...     "query": "who flew",
    ...     "query_type": "PERSON",
    ...     "passages": [{"is_selected": 1, "passage_text": "An owl flew.", "url": ""}],
    ...     "answers": ["An owl"],
    ...     "wellFormedAnswers": ["An owl flew."],
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "marco.json")
    ...     _ = path.write_text(json.dumps(record))
    ...     [example] = read_msmarco(path, subset="NLG")
    >>> example.answers
    {'qa': ('An owl',), 'nlg': ('An owl flew.',)}

    Reference: Bajaj et al. 2016; the subsets are those of masque, table 1.
    """
    if subset not in SUBSETS:
        raise ValueError(f"subset must be one of {SUBSETS}. Received: subset={subset!r}")
    if isinstance(styles, str) or not set(styles) <= set(STYLES):
        raise ValueError(f"styles must be among {STYLES}. Received: styles={styles!r}")

    def read(account: Account) -> Iterator[Example]:
        for location, record in json_records(path, account):
            with account.checked():
                example = _example(record, location, account)
                if subset == "ANS" and not example.answerable:
                    account.notes["queries outside ANS"] += 1
                elif subset == "NLG" and "nlg" not in example.answers:
                    account.notes["queries outside NLG"] += 1
                else:
                    account.location = location
                    if set(example.answers) <= set(styles):
                        yield example
                    else:
                        kept = {s: texts for s, texts in example.answers.items() if s in styles}
                        yield replace(example, answers=kept)

    return ExampleStream(read, on_error)


def _example(record: Mapping[str, Any], location: RecordLocation, account: Account) -> Example:
    query = location.text(record, "query")
    name = location.name(record.get("query_id"))
    location.record += f", query_id {name}"
    passages = record.get("passages")
    if isinstance(passages, dict):  # of lists, as Hugging Face has them
        columns = [location.list(passages, column) for column in passages]
        if len({len(column) for column in columns}) > 1:
            raise location.error(f"lists differ in length. Received: {short(passages)}", "passages")
        rows = [dict(zip(passages, row, strict=True)) for row in zip(*columns, strict=True)]
        record = {**record, "passages": rows}
    texts, selected = _passages(record, location, account)

    def labels() -> dict[str, Any]:
        answers, answerable = _answers(record, location, account)
        known = None if -1 in selected else tuple(value == 1 for value in selected)
        query_type = location.text(record, "query_type") if "query_type" in record else None
        facts = {"relevance": known, "query_type": query_type}
        return {"answers": answers, "answerable": answerable, **facts}

    return location.labelled(account, labels, id=name, question=query, passages=texts)


def _passages(
    record: Mapping[str, Any], location: RecordLocation, account: Account
) -> tuple[tuple[str, ...], list[Any]]:
    passages = location.list(record, "passages")
    if not passages:
        raise location.error("there is no passage", "passages")
    texts = tuple(location.text(passage, "passage_text", blank=True) for passage in passages)
    if not all(text.strip() for text in texts):
        account.notes["queries with blank passages"] += 1
    return texts, [passage.get("is_selected", -1) for passage in passages]


def _answers(
    record: Mapping[str, Any], location: RecordLocation, account: Account
) -> tuple[dict[str, tuple[str, ...]], bool | None]:
    if "answers" not in record:
        return {}, None
    given = _texts(record, "answers", location)
    formed = _texts(record, "wellFormedAnswers", location) if "wellFormedAnswers" in record else []
    answers = {}
    for style, texts in zip(STYLES, (given, formed), strict=True):
        references = tuple(t for t in texts if t.strip() and t.strip() != NO_ANSWER)
        if references:
            answers[style] = references
        if any(not t.strip() for t in texts):
            account.notes[f"queries with blank {style} answers"] += 1
    if answers:
        return answers, True
    return {}, False if all(t.strip() == NO_ANSWER for t in given) else None


def _texts(record: Mapping[str, Any], field: str, location: RecordLocation) -> list[str]:
    value = record[field]
    if field == "wellFormedAnswers" and value == "[]":
        return []
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise location.error(f"must be a list of strings. Received: {field}={short(value)}", field)
    return value

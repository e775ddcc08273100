"""WikiQA: questions with the sentences of a page, some of which are answers."""

from collections.abc import Iterator
from itertools import groupby
from os import PathLike

from tfmrc.data.example import Example, Span
from tfmrc.data.formats.fields import RecordLocation, short
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError, RecordError, open_text

COLUMNS = (
    "QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label",
)  # fmt: skip


@register_format("wikiqa")
def read_wikiqa(
    path: str | PathLike, *, style: str = "sentence", on_error: OnError = "raise"
) -> ExampleStream:
    """Reads ``WikiQA-{train,dev,test}.tsv`` in SQuAD's form, as DAANET does.

    The sentences of a question's page, joined by spaces, are its only passage. Sentences with the
    label 1 are its references, with their ``spans``. A question without such a sentence is
    unanswerable. The rows of one question are held at a time.

    Args:
        path: str or path. The file, which may be gzipped.
        style: str. Answer style. Default: ``"sentence"``.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken question; ``"skip"`` counts
            the question and continues. Default: ``"raise"``.

    Returns:
        A stream of examples; ``group`` is the document's id.

    Raises:
        RecordError: While reading: a column is missing, a row has too few or too many values, a
            question or sentence is blank, a label is neither 0 nor 1.

    Example:

    >>> import pathlib, tempfile
    >>> rows = [COLUMNS, ("Q1", "Who flew?", "D1", "Owls", "D1-0", "An owl flew.", "1"),
    ...         ("Q1", "Who flew?", "D1", "Owls", "D1-1", "It was late.", "0")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "WikiQA-dev.tsv")
    ...     _ = path.write_text("".join("\\t".join(row) + "\\n" for row in rows))
    ...     [example] = read_wikiqa(path)
    >>> example.passages, example.answers
    (('An owl flew. It was late.',), {'sentence': ('An owl flew.',)})

    Reference: Yang et al. 2015; Xiao et al. 2018 (DAANET), Table 1.
    """

    def read(account: Account) -> Iterator[Example]:
        with open_text(path, newline="\n") as file:
            header = tuple(file.readline().rstrip("\r\n").split("\t"))
            if header != COLUMNS:
                raise RecordError(
                    f"must have the columns {COLUMNS}. Received: {short(header)}",
                    path=path,
                    record="line 1",
                )
            rows = ((n, line.rstrip("\r\n").split("\t")) for n, line in enumerate(file, 2))
            name = None
            for name, group in groupby(rows, key=lambda row: row[1][0]):
                numbered = list(group)
                with account.checked():
                    example = _example(name, numbered, style, path)
                    account.location = RecordLocation(path, f"line {numbered[0][0]}")
                    yield example
            if name is None:
                raise RecordError("contains no question", path=path, record="file")

    return ExampleStream(read, on_error)


def _example(
    name: str, rows: list[tuple[int, list[str]]], style: str, path: str | PathLike
) -> Example:
    spans, text, question, document = [], "", "", ""
    for number, values in rows:
        location = RecordLocation(path, f"line {number}")
        if len(values) != len(COLUMNS):
            raise location.error(f"must have {len(COLUMNS)} values. Received: {short(values)}")
        row = dict(zip(COLUMNS, values, strict=True))
        question = location.text(row, "Question")
        document = location.text(row, "DocumentID")
        sentence = location.text(row, "Sentence").strip()
        if row["Label"] not in ("0", "1"):
            raise location.error(f"must be 0 or 1. Received: Label={row['Label']!r}", "Label")
        text += " " * bool(text)
        if row["Label"] == "1":
            spans.append(Span(0, len(text), len(text) + len(sentence)))
        text += sentence
    return location.example(
        id=name,
        question=question,
        passages=(text,),
        answers={style: tuple(text[s.start : s.end] for s in spans)} if spans else {},
        answerable=bool(spans),
        relevance=(bool(spans),),
        spans=tuple(spans),
        group=document,
    )

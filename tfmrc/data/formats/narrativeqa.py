"""NarrativeQA, summary setting: questions with two answers each, and summaries as passages."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from os import PathLike
from pathlib import Path

from tfmrc.data.example import Example
from tfmrc.data.formats.csv_rows import csv_rows
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream, OnError, RecordError, open_text
from tfmrc.data.transforms.nearest import nearest_passages
from tfmrc.data.transforms.windows import covered, windows

SUMMARIES = ("summaries.csv", "third_party/wikipedia/summaries.csv", "summaries.csv.gz")


def summaries_of(path: Path) -> Path:
    """Returns the file of the summaries of `qaps.csv`: the first that exists."""
    files = [path.parent / name for name in SUMMARIES]
    return next((file for file in files if file.is_file()), files[0])


@register_format("narrativeqa", files={"summaries": summaries_of})
def read_narrativeqa(
    qaps: str | PathLike,
    summaries: str | PathLike,
    *,
    split: str | None = None,
    style: str = "nqa",
    num_passages: int = 10,
    passage_words: int = 130,
    nearest: bool = False,
    tokenized: bool = False,
    on_error: OnError = "raise",
) -> ExampleStream:
    """Reads NarrativeQA's questions with their summaries, divided into overlapping passages.

    Each summary is divided by ``windows``, with overlap. The account notes summaries that are too
    long for ``num_passages`` passages. The summaries are held in memory.

    Args:
        qaps: str or path. ``qaps.csv``, which may be gzipped.
        summaries: str or path. ``third_party/wikipedia/summaries.csv``, which may be gzipped.
        split: str. ``"train"``, ``"valid"`` or ``"test"`` (the column ``set``). Default: None, all
            splits.
        style: str. Answer style. Default: ``"nqa"``.
        num_passages: int. Largest number of passages. Default: 10.
        passage_words: int. Largest number of words and punctuation marks per passage.
            Default: 130.
        nearest: bool. Whether to divide the summary into as few passages as possible and select
            the ``num_passages`` with the most words in common with the question
            (``nearest_passages``), for models that are too slow for all of them. Not in the paper.
            Default: False.
        tokenized: bool. Whether to read the columns with the suffix ``_tokenized``. Default: False.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken row; ``"skip"`` counts the
            row and continues. Default: ``"raise"``.

    Returns:
        A stream of examples with both answers as references. ``group`` is the document's id;
        ``relevance`` is None.

    Raises:
        RecordError: While reading: a column is missing, a row has too few values, a question or
            both answers are blank, a document has no summary, the file is truncated or not CSV.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qaps, summaries = pathlib.Path(folder, "q.csv"), pathlib.Path(folder, "s.csv")
    ...     _ = qaps.write_text(
    ...         "document_id,set,question,answer1,answer2\\nd,train,Who flew?,An owl,the owl\\n"
    ...     )
    ...     _ = summaries.write_text('document_id,set,summary\\nd,train,"An owl flew, far."\\n')
    ...     [example] = read_narrativeqa(qaps, summaries)
    >>> example.passages, example.answers
    (('An owl flew, far.',), {'nqa': ('An owl', 'the owl')})

    Reference: Kočiský et al. 2018; masque, section 4.2, for the passages.
    """
    suffix = "_tokenized" if tokenized else ""
    columns = tuple(name + suffix for name in ("question", "answer1", "answer2"))

    def read(account: Account) -> Iterator[Example]:
        counts: Counter[str] = Counter()
        most, column = None if nearest else num_passages, "summary" + suffix
        with open_text(summaries, newline="") as file:
            rows = csv_rows(file, summaries, ("document_id", column), account)
            texts = {row["document_id"]: row for _, row in rows}

        @cache
        def passages_of(document: str) -> tuple[str, ...]:
            where = RecordLocation(summaries, f"document {document!r}")
            text = where.text(texts[document], column)
            bounds = windows(text, passage_words, most, overlap=not nearest)
            if len(bounds) == most and covered(text, bounds) < 1:
                what = f"summaries too long for {most} passages of {passage_words} words"
                account.notes[what] += 1
            return tuple(text[start:end] for start, end in bounds)

        with open_text(qaps, newline="") as file:
            for location, row in csv_rows(file, qaps, ("document_id", "set", *columns), account):
                if split is not None and row["set"] != split:
                    account.notes["questions of other splits"] += 1
                    continue
                document = row["document_id"]
                counts[document] += 1
                with account.checked():
                    if document not in texts:
                        raise location.error(
                            f"has no summary in {summaries}. Received: {document!r}", "document_id"
                        )
                    passages = passages_of(document)
                    if nearest:
                        question = location.text(row, columns[0])
                        chosen = nearest_passages(question, passages, num_passages)
                        passages = tuple(passages[number] for number in chosen)
                    yield _example(
                        f"{document}-{counts[document]}", row, columns, style, passages, location
                    )
        if not counts and not account.skipped:
            raise RecordError("contains no question of this split", path=qaps, record="file")

    return ExampleStream(read, on_error)


def _example(
    name: str,
    row: dict[str, str],
    columns: tuple[str, ...],
    style: str,
    passages: tuple[str, ...],
    location: RecordLocation,
) -> Example:
    question, *answers = columns
    selected = tuple(row[answer] for answer in answers if row[answer].strip())
    if not selected:
        raise location.error("all answers are blank", answers[0])
    return location.example(
        id=name,
        question=location.text(row, question),
        passages=passages,
        answers={style: selected},
        answerable=True,
        group=row["document_id"],
    )

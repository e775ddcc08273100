"""The one reading of a user's table: the same options and the same account of rows everywhere."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, TypedDict, Unpack

from tfmrc.data import Account, Example, ExampleStream, RecordError, read_file
from tfmrc.data.formats.detect import file_format
from tfmrc.data.formats.registry import find_format
from tfmrc.data.formats.rows import BlankAnswers
from tfmrc.data.formats.tables import field_columns
from tfmrc.data.stream import Labels, OnError
from tfmrc.experiments.examples.rows import row_digest
from tfmrc.experiments.settings import Experiment


class Reading(TypedDict, total=False):
    """The options of reading a table, the same in every command; see `read_questions`."""

    columns: Mapping[str, Any] | None
    blank_answers: BlankAnswers | None
    on_error: OnError | None


Record = Example | RecordError


@dataclass(frozen=True)
class Rows:
    """The rows of a user's files, which every pass reads again.

    Iteration yields the examples and, where broken rows are skipped, their errors in their place.

    Attributes:
        stream: `ExampleStream`. The rows of all files.
        account: `Account`. The account of the latest pass.
        trained: set of str. Digests of rows that are left out, see `trained_rows`.
    """

    stream: ExampleStream
    account: Account
    trained: Collection[str]

    def __iter__(self) -> Iterator[Record]:
        for record in self.stream.records(self.account):
            if self.trained and isinstance(record, Example) and row_digest(record) in self.trained:
                self.account.used -= 1
                self.account.left_out["a row of the training"] += 1
            else:
                yield record

    @property
    def examples(self) -> Iterator[Example]:
        """The examples, without the errors of broken rows."""
        return (record for record in self if isinstance(record, Example))

    def cells_of(self, record: Record) -> Mapping[str, Any]:
        """Returns the cells of the latest row by column; none if the file is not a table."""
        known = record if isinstance(record, RecordError) else self.account.location
        return getattr(known, "cells", {})

    def mapped(self, function: Callable[[Example], Record]) -> Iterator[Record]:
        """Yields the results of a function of examples; an error counts as that of a broken row."""
        for record in self:
            found = function(record) if isinstance(record, Example) else record
            if found is record or isinstance(found, Example):
                yield found
                continue
            found.cells = self.cells_of(record)
            self.account.used -= 1
            self.account.error(found)
            yield from self.account.new_errors()


def read_questions(
    files: str | Path | Sequence[str | Path],
    *,
    labels: Labels = "all",
    usual: Mapping[str, Any] | None = None,
    trained: Collection[str] = (),
    columns: Mapping[str, Any] | None = None,
    blank_answers: BlankAnswers | None = None,
    on_error: OnError | None = None,
) -> tuple[Rows, Account]:
    """Returns the rows of a user's files, and the account of them, which each pass renews.

    Args:
        files: str, path or list of them. Files of any format of `tfmrc.data.read_file`.
        labels: str. What must be right beside question and passages: `"all"` (training),
            `"texts"` (scores) or `"none"` (prediction). Default: `"all"`.
        usual: dict or None. The options that the run's own table was read with, `table_options` of
            a `Loaded`. Its columns are used as far as a table has them. Default: None.
        trained: set of str. Digests of the rows of a training (`trained_rows`), which are left out
            and counted, wherever they stand in the files. Default: none.
        columns: dict or None. The columns of a table with other names, which it must have, as in
            `{"question": "Frage", "passages": "Text"}`. Default: None.
        blank_answers: str or None. Whether a blank answer is `"unknown"` (its row is left out
            where answers are needed), or means that there is `"none"`. Default: as `usual` says,
            else unknown; none in a table that `tfmrc predict` wrote.
        on_error: str or None. `"skip"` yields the error of a broken row in its place, `"raise"`
            raises it. Default: `"raise"`.

    Raises:
        FileNotFoundError: If a file does not exist.
        ValueError: If the format is unknown; while reading, if two rows have the same id, a row is
            broken, or a column is missing.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "q.csv"
    >>> _ = path.write_text("question,passage,answer\\nWho flew?,An owl flew.,owl\\nWho?,A cat.,")
    >>> rows, account = read_questions(path)
    >>> [example.question for example in rows]
    ['Who flew?']
    >>> print(account)
    2 questions read, 1 used; 1 skipped: blank answer (see --blank-answers)
    """
    usual, on_error = usual or {}, on_error or "raise"
    several = [files] if isinstance(files, str | Path) else files
    streams = [
        read_file(
            file,
            columns=columns or usual.get("columns"),
            columns_optional=not columns,
            blank_answers=blank_answers or usual.get("blank_answers"),
        )
        for file in several
    ]

    def read(account: Account) -> Iterator[Example]:
        for stream in streams:
            yield from stream.read(account)

    account = Account(on_error, labels, only_labelled=labels != "none")
    return Rows(ExampleStream(read, on_error), account, trained), account


def without_passages(path: str | Path, columns: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns columns of a table of questions in which the question is the passage, too.

    Args:
        path: str or path. The file; one of another form has passages.
        columns: dict from field to column, which the table may lack.
    """
    if file_format(path) != "table":
        return {}
    known = field_columns(path, columns, True, needed=("question",))
    return known | {"passages": known["question"]}


def taken_options(kind: str, options: Reading) -> dict[str, Any]:
    """Returns those of the given options that the reader of a format takes."""
    parameters = signature(find_format(kind).reader).parameters
    return {name: value for name, value in options.items() if value and name in parameters}


def with_table_options(experiment: Experiment, **options: Unpack[Reading]) -> Experiment:
    """Returns the experiment with these options in place of those of its sources.

    Args:
        experiment: `Experiment`. The experiment.
        **options: See `Reading`. None keeps what a source says, and so does a source whose format
            has no such option.

    Raises:
        ValueError: If no source has such an option.
    """
    given = {name: value for name, value in options.items() if value}
    sources, left = [], set(given)
    for source in experiment.sources:
        taken = taken_options(source.format, options)
        sources.append(replace(source, options={**source.options, **taken}) if taken else source)
        left -= taken.keys()
    if left:
        name = min(left)
        raise ValueError(
            f"No source of the recipe has this option: {', '.join(s.format for s in sources)}. "
            f"Received: --{name.replace('_', '-')} {given[name]}"
        )
    return replace(experiment, sources=tuple(sources)) if given else experiment

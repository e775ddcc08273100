"""Example streams, accounts of their records and file handles, shared by all readers."""

import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from tfmrc.data.example import Example
from tfmrc.utils.files import replacing, user_path
from tfmrc.utils.progress import WatchedFile

if TYPE_CHECKING:
    from tfmrc.data.formats.fields import RecordLocation

OnError = Literal["raise", "skip"]
Labels = Literal["all", "texts", "none"]

BLANK = "blank answer (see --blank-answers)"
MAX_KEPT_ERRORS = 20
"""The number of errors that an account stores; all errors are counted."""


class RecordError(ValueError):
    """An error in a record of a file; names the file, the record and the field.

    Args:
        message: str. The problem, the expected value and the received value.
        path: str or path. The file.
        record: str. The line or the id of the record.
        field: str. The field that is wrong. Default: None, the whole record.
        id: str. The id of the record. Default: None, the file and the record.

    Attributes:
        cells: dict from column to value, of a row of a table. Default: {}.

    Example:

    >>> raise RecordError("missing", path="a.json", record="id 7", field="question")
    Traceback (most recent call last):
    ...
    tfmrc.data.stream.RecordError: a.json: id 7: question: missing
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | PathLike,
        record: str,
        field: str | None = None,
        id: str | None = None,
    ) -> None:
        self.message = message
        self.path = fspath(path)
        self.record = record
        self.field = field
        self.id = f"{Path(path).name}:{record}" if id is None else id
        self.cells: Mapping[str, Any] = {}
        super().__init__(": ".join(p for p in (self.path, record, field, message) if p))

    def __reduce__(self) -> tuple[Any, ...]:
        named: Any = {"path": self.path, "record": self.record, "field": self.field, "id": self.id}
        return partial(RecordError, self.message, **named), ()


class Account:
    """What became of the records of one pass: read, used, skipped and left out, and why.

    `str(account)` is a line such as "34 questions read, 28 used; 5 skipped: blank answer (see
    --blank-answers); 1 broken", and one for each of the first five errors.

    Args:
        on_error: str. ``"raise"`` or ``"skip"``. Default: ``"raise"``.
        labels: str. See `ExampleStream`. Default: ``"all"``.
        only_labelled: bool. Whether examples are left out of which no answer is known.
            Default: False.

    Attributes:
        used: int. Number of examples.
        skipped: int. Number of broken records.
        left_out: Counter. Number of other records that are not used, by reason.
        notes: Counter. Number of records that the reader's rules left out or repaired, by reason.
            These are not errors: a question outside the subset, for example.
        errors: list of `RecordError`. The first `MAX_KEPT_ERRORS` errors.
        location: `tfmrc.data.formats.fields.RecordLocation` of the latest example. A reader sets
            it before it yields an example whose id must be unique; None if ids are not checked.
    """

    def __init__(
        self, on_error: OnError = "raise", labels: Labels = "all", *, only_labelled: bool = False
    ) -> None:
        self.on_error = on_error
        self.labels = labels
        self.only_labelled = only_labelled
        self.clear()

    def clear(self) -> None:
        """Begins a new pass."""
        self.used = 0
        self.skipped = 0
        self.left_out: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.errors: list[RecordError] = []
        self.location: RecordLocation | None = None
        self._new: list[RecordError] = []

    @property
    def read(self) -> int:
        """Number of records: used, broken or left out."""
        return self.used + self.skipped + self.left_out.total()

    def error(self, error: RecordError) -> None:
        """Raises the error, or counts its record as skipped."""
        if self.on_error == "raise":
            error.add_note("`--on-error skip` (on_error='skip') leaves such records out.")
            raise error
        self._new.append(error)
        self.skipped += 1
        if len(self.errors) < MAX_KEPT_ERRORS:
            self.errors.append(error)

    @contextmanager
    def checked(self) -> Iterator[None]:
        """Notes an error that a record raises in the block."""
        try:
            yield
        except RecordError as error:
            self.error(error)

    def new_errors(self) -> Iterator[RecordError]:
        """Yields the errors since the last call."""
        errors, self._new = self._new, []
        yield from errors

    def take(self, other: "Account") -> None:
        """Adds the counts and errors of another account, that of an underlying stream."""
        self.skipped += other.skipped
        self.left_out.update(other.left_out)
        self.notes.update(other.notes)
        self.errors = (self.errors + other.errors)[:MAX_KEPT_ERRORS]

    def __str__(self) -> str:
        parts = [f"{self.read:,} questions read, {self.used:,} used"]
        parts += [f"{count:,} skipped: {why}" for why, count in self.left_out.items() if count]
        parts += [f"{self.skipped:,} broken"] * bool(self.skipped)
        parts += [f"{count:,} {what}" for what, count in sorted(self.notes.items())]
        counts = "; ".join(parts)
        return "\n  ".join([counts, *map(str, self.errors[:5])])

    def print(self, where: str) -> None:
        """Prints the account of a file to standard error."""
        print(f"{where}: {self}", file=sys.stderr, flush=True)


class ExampleStream:
    """An iterable of examples that reads its file again on every pass.

    No examples are held in memory. A record with a blank question is broken.

    Args:
        read: callable. Takes an `Account`, opens the file, yields its examples and reports broken
            records.
        on_error: str. ``"raise"`` raises a ``RecordError`` at a broken record; ``"skip"`` counts
            the record and continues. An id that occurs twice in a file is an error of the second
            record. A truncated file raises in both cases. Default: ``"raise"``.

    Attributes:
        account: `Account`. Counts and errors of the latest pass.
        labels: str. What must be right beside question and passages: ``"all"``, ``"texts"``
            (answers without their positions, for scores) or ``"none"`` (for predictions).
            Default: ``"all"``.

    Raises:
        ValueError: ``on_error`` is neither ``"raise"`` nor ``"skip"``.
    """

    def __init__(
        self, read: Callable[[Account], Iterable[Example]], on_error: OnError = "raise"
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error is "raise" or "skip". Received: on_error={on_error!r}')
        self.read = read
        self.on_error = on_error
        self.labels: Labels = "all"
        self.account = Account(on_error)

    @property
    def skipped(self) -> int:
        """Number of broken records that the latest pass skipped."""
        return self.account.skipped

    def __iter__(self) -> Iterator[Example]:
        return (record for record in self.records() if isinstance(record, Example))

    def records(self, account: Account | None = None) -> Iterator[Example | RecordError]:
        """Yields the examples, and the errors of skipped records in their place.

        Args:
            account: `Account` or None. Receives the counts. Default: None, a new one.
        """
        self.account = account = account or Account(self.on_error, self.labels)
        account.clear()
        ids: set[int] = set()  # hashes, which take less memory than texts
        for example in self.read(account):
            with account.checked():
                if account.location is not None:
                    _check(example, account.location, account.labels, ids)
                yield from account.new_errors()
                if account.only_labelled and not example.is_labelled:
                    account.left_out[BLANK] += 1
                else:
                    account.used += 1
                    yield example
        yield from account.new_errors()


def _check(example: Example, location: "RecordLocation", labels: Labels, ids: set[int]) -> None:
    """Raises a `RecordError` for an example that is broken in any form."""
    key = hash(example.id)
    if key in ids:
        location.id = location.place
        raise location.error(f"occurs twice. Received: {example.id!r}", "id")
    ids.add(key)
    if not example.question.strip():
        raise location.error(f"must not be blank. Received: {example.question!r}", "question")
    if labels == "none" and not any(passage.strip() for passage in example.passages):
        raise location.error(
            f"at least one must have text. Received: {example.passages!r}", "passages"
        )


@contextmanager
def open_binary(path: str | PathLike) -> Iterator[IO[bytes]]:
    """Opens a file for reading bytes; gzip is decompressed, a byte order mark is skipped.

    Args:
        path: str or path. The file.

    Raises:
        RecordError: Raised inside the block if a compressed file is damaged or truncated.
    """
    with io.BufferedReader(WatchedFile(user_path(path)), 1 << 16) as raw:
        start = raw.peek(2)[:2]
        file: Any = gzip.GzipFile(fileobj=raw) if start == b"\x1f\x8b" else raw
        try:
            buffered = file if file is raw else io.BufferedReader(file, 1 << 16)
            if buffered.peek(3)[:3] == b"\xef\xbb\xbf":
                buffered.read(3)
            yield buffered
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise RecordError(
                f"the compressed file is damaged or cut short ({error})",
                path=path,
                record="compressed data",
            ) from error


@contextmanager
def open_text(path: str | PathLike, newline: str | None = None) -> Iterator[IO[str]]:
    """Opens a UTF-8 file for reading text; gzip is decompressed, a byte order mark is skipped.

    Args:
        path: str or path. The file.
        newline: str or None. As in `open`. Default: None.

    Raises:
        RecordError: Raised inside the block if the file is damaged, truncated or not UTF-8.
    """
    with open_binary(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline=newline)
        try:
            yield text
        except UnicodeDecodeError as error:
            raise RecordError(
                f"not UTF-8 ({error.reason}); save it as UTF-8 (in a spreadsheet: CSV UTF-8)",
                path=path,
                record="text",
            ) from error


@contextmanager
def open_to_write(path: str | PathLike) -> Iterator[IO[str]]:
    """Opens a file for writing UTF-8 text.

    A name that ends in ``.gz`` gives a compressed file without a time stamp. The text goes to a
    temporary file in the same folder, which replaces the target when the block ends without an
    error.
    """
    target = user_path(path)
    special = target.exists() and not target.is_file()  # a device or a pipe
    target = target if special else target.resolve()
    with nullcontext(target) if special else replacing(target) as written:
        with open(written, "wb") as raw:
            file: Any = raw
            if target.name.endswith(".gz"):
                file = gzip.GzipFile("", "wb", 9, raw, mtime=0)
            with file, io.TextIOWrapper(file, encoding="utf-8", newline="\n") as text:
                yield text

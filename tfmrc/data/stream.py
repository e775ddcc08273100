"""What all readers share: streams that can be read again, and one policy for broken records."""

import gzip
import io
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, Literal, Protocol

from tfmrc.data.example import Example
from tfmrc.files import replacing

OnError = Literal["raise", "skip"]

MAX_KEPT_ERRORS = 20
"""How many of the skipped records' errors a report keeps; it counts all of them."""


class RecordError(ValueError):
    """A record of a file is broken: names the file, the record and the field.

    Args:
        message: what is wrong, what was expected, what was received.
        path: the file.
        record: the line or the id of the record.
        field: the field, if one is to blame.

    Example:

    >>> raise RecordError("missing", path="a.json", record="id 7", field="question")
    Traceback (most recent call last):
    ...
    tfmrc.data.stream.RecordError: a.json: id 7: question: missing
    """

    def __init__(
        self, message: str, *, path: str | PathLike, record: str, field: str | None = None
    ) -> None:
        self.message = message
        self.path = fspath(path)
        self.record = record
        self.field = field
        super().__init__(": ".join(p for p in (self.path, record, field, message) if p))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.message, self.path, self.record, self.field)


def _rebuild(message: str, path: str, record: str, field: str | None) -> RecordError:
    return RecordError(message, path=path, record=record, field=field)


class Location(Protocol):
    """A record's location in a file; `tfmrc.data.formats.fields.Place` is one."""

    path: str | PathLike
    record: str


class Report:
    """What a pass over a file skipped, and why.

    ``report.errors`` holds the first errors, ``report.notes`` counts what was left out by the
    reader's own rules (not an error: a question outside the chosen subset, an empty passage).

    Args:
        on_error: ``"raise"`` or ``"skip"``.

    Attributes:
        location: Location of the latest example, set by a reader before it yields one whose id
            must not occur twice; None where ids are not checked.
    """

    def __init__(self, on_error: OnError = "raise") -> None:
        self.on_error = on_error
        self.read = 0
        self.skipped = 0
        self.fields: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()
        self.errors: list[RecordError] = []
        self.location: Location | None = None

    def error(self, error: RecordError) -> None:
        """Raise the error, or count its record as skipped."""
        if self.on_error == "raise":
            raise error
        self.skipped += 1
        self.fields[error.field or "record"] += 1
        if len(self.errors) < MAX_KEPT_ERRORS:
            self.errors.append(error)

    def note(self, what: str) -> None:
        """Count something that was left out on purpose."""
        self.notes[what] += 1

    def take(self, other: "Report") -> None:
        """Add what another report skipped and noted: that of the stream this one reads from."""
        self.skipped += other.skipped
        self.fields.update(other.fields)
        self.notes.update(other.notes)
        self.errors = (self.errors + other.errors)[:MAX_KEPT_ERRORS]

    def __str__(self) -> str:
        counts = f"{self.read:,} examples read, {self.skipped:,} broken records skipped"
        notes = [f"{count:,} {what}" for what, count in sorted(self.notes.items())]
        return "\n".join([", ".join([counts, *notes]), *(f"  {e}" for e in self.errors)])


class ExampleStream:
    """Examples from a file, read anew at every pass; nothing is held.

    Args:
        read: opens the file and gives its examples; reports broken records.
        on_error: ``"raise"`` a ``RecordError`` at a broken record, or ``"skip"`` and count it.
            An id that occurs twice in a file is an error of the second record. A file that ends
            too early raises in both cases: what follows is lost.

    Attributes:
        report: what the latest pass read and skipped.

    Raises:
        ValueError: if ``on_error`` is neither.
    """

    def __init__(
        self, read: Callable[[Report], Iterable[Example]], on_error: OnError = "raise"
    ) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error is "raise" or "skip". Received: on_error={on_error!r}')
        self._read = read
        self._on_error = on_error
        self.report = Report(on_error)

    @property
    def skipped(self) -> int:
        """Broken records that the latest pass skipped."""
        return self.report.skipped

    def __iter__(self) -> Iterator[Example]:
        self.report = report = Report(self._on_error)
        with _Ids() as ids:
            for example in self._read(report):
                place = report.location
                first = None if place is None else ids.first(example.id, place.record)
                if place is not None and first is not None:
                    message = f"occurs twice; it is also that of {first}. Received: {example.id!r}"
                    report.error(
                        RecordError(message, path=place.path, record=place.record, field="id")
                    )
                    continue
                report.read += 1
                yield example


class _Ids:
    """The ids of a pass and their records, in a temporary database, so that memory is bounded."""

    def __init__(self) -> None:
        self._database: sqlite3.Connection | None = None

    def __enter__(self) -> "_Ids":
        return self

    def __exit__(self, *error: object) -> None:
        if self._database is not None:
            self._database.close()

    def first(self, name: str, record: str) -> str | None:
        """Returns the record that an id first occurred in; None if this is the first one."""
        if self._database is None:
            # A pass may be continued in another thread, by tf.data for instance.
            self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = OFF")
            self._database.execute("CREATE TABLE ids (id PRIMARY KEY, record) WITHOUT ROWID")
            self._database.execute("BEGIN")
        insert = "INSERT OR IGNORE INTO ids VALUES (?, ?)"
        if self._database.execute(insert, (name, record)).rowcount:
            return None
        [(first,)] = self._database.execute("SELECT record FROM ids WHERE id = ?", (name,))
        return first


@contextmanager
def open_binary(path: str | PathLike, *, skip_mark: bool = True) -> Iterator[IO[bytes]]:
    """Open a file to read bytes, decompressed if it is gzip.

    Args:
        path: the file.
        skip_mark: leave out the byte order mark of UTF-8 at its start.

    Raises:
        RecordError: inside the block, if a compressed file is damaged or cut.
    """
    with open(path, "rb") as raw:
        start = raw.read(2)
        raw.seek(0)
        file: Any = gzip.GzipFile(fileobj=raw) if start == b"\x1f\x8b" else raw
        try:
            buffered = io.BufferedReader(file, 1 << 16)
            if skip_mark and buffered.peek(3)[:3] == b"\xef\xbb\xbf":
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
    """Open a file to read UTF-8 text, decompressed if it is gzip, without a byte order mark.

    Raises:
        RecordError: inside the block, if the file is damaged, cut or no UTF-8.
    """
    with open_binary(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline=newline)
        try:
            yield text
        except UnicodeDecodeError as error:
            raise RecordError(
                f"the text is no UTF-8 ({error.reason})", path=path, record="text"
            ) from error


@contextmanager
def open_to_write(path: str | PathLike) -> Iterator[IO[str]]:
    """Opens a file to write UTF-8 text, compressed (without a time stamp) if named ``.gz``.

    The text is written beside the file, which is replaced when the block ends without an error.
    """
    target = Path(path)
    special = target.exists() and not target.is_file()  # a device or a pipe
    target = target if special else target.resolve()
    with nullcontext(target) if special else replacing(target) as written:
        with open(written, "wb") as raw:
            if target.name.endswith(".gz"):
                with gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed:
                    with io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text:
                        yield text
            else:
                with io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
                    yield text

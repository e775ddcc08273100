"""A folder of documents as an index: what has changed is read, what is gone is removed."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from tfmrc.documents.document import Document
from tfmrc.documents.formats.readers import READERS, read_document
from tfmrc.documents.original import stamp
from tfmrc.documents.passages import PASSAGE_LENGTH, split_document
from tfmrc.documents.store import open_store
from tfmrc.documents.vectors import encode
from tfmrc.utils.files import user_path
from tfmrc.utils.progress import counted

READING = 2  # Changes with what is read from a file, which is then read again.
LARGEST = 100_000_000  # bytes of a file


@dataclass
class IndexReport:
    """What a call of `index` did.

    Attributes:
        documents: int. Number of documents in the index.
        read: int. Number of documents that were new or changed.
        removed: int. Number of documents that are gone from the folder.
        left_out: dict. For each file that could not be read, the reason.
        others: dict. Number of files of forms that have no reader, by ending.
    """

    documents: int = 0
    read: int = 0
    removed: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """The numbers, and a line for each file that was left out.

        Example:

        >>> print(IndexReport(2, 1, left_out={"scan.pdf": "has no text"}))
        2 documents. New or changed: 1; unchanged: 1; removed: 0.
        Left out: scan.pdf: has no text
        """
        lines = [
            f"{self.documents:,} documents. New or changed: {self.read:,}; unchanged: "
            f"{self.documents - self.read:,}; removed: {self.removed:,}."
        ]
        if self.others:
            kinds = (f"{count:,} {kind}" for kind, count in self.others.most_common())
            lines.append(f"Not read, because of their form: {', '.join(kinds)}.")
        lines += [f"Left out: {name}: {why}" for name, why in self.left_out.items()]
        return "\n".join(lines)


def index(
    folder: str | PathLike[str],
    to: str | PathLike[str],
    *,
    passage_length: int = PASSAGE_LENGTH,
    dense: bool = False,
) -> IndexReport:
    """Makes an index of a folder of documents, or brings one up to date.

    Files whose size and time are as before are not read again. Each file is stored as a whole, so
    that nothing is lost if the program is killed. Links are not followed, and files and folders
    whose names begin with a full stop are not read.

    Args:
        folder: str or path. The folder, with those below it.
        to: str or path. The index, as of `open_store`.
        passage_length: int. Largest number of subwords of a passage. Default: 150.
        dense: bool. Whether passages get vectors of MiniLM, by which they are found without a word
            of the question. An index with vectors gets those of new passages in any case.
            Default: False.

    Returns:
        An `IndexReport`.

    Raises:
        NotADirectoryError: If the folder is none.
        ValueError: If there is no file to read, while the index has documents; or as `open_store`.

    Example:

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "owls.md").write_text("# Owls\\n\\nAn owl flew.")
    >>> print(index(folder, folder / "owls.index"))
    1 documents. New or changed: 1; unchanged: 0; removed: 0.
    """
    root = user_path(folder)
    if not root.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder.")
    report = IndexReport()
    files = dict(_files(root, report, Path(user_path(to)).absolute()))
    with closing(open_store(to, folder=root.resolve())) as store:
        known = store.versions()
        dense = dense or store.dense
        if known and not files:
            raise ValueError(
                f"{folder} has no file that can be read; {to} keeps its {len(known):,} documents. "
                "Delete it if they are gone for good."
            )
        gone = known.keys() - files.keys()
        report.removed = len(gone)
        for name in counted(sorted(files), f"reading {folder}", "files"):
            try:
                version = f"{READING}-{passage_length}{'-dense' * dense}-{stamp(files[name])}"
                if version == known.get(name):
                    continue
                document = _read(files[name])
            except Exception as error:  # whatever is wrong with a file, the others are read
                report.left_out[name] = str(error) or repr(error)
                gone |= known.keys() & {name}
                continue
            passages = list(split_document(document, name, passage_length))
            texts = [" ".join((*passage.heading, passage.text)) for passage in passages]
            vectors = encode(texts) if dense else None
            store.put(name, version, document.text, passages, vectors)
            report.read += 1
        for name in gone:
            store.remove(name)
        report.documents = len(store.versions())
    return report


def _files(root: Path, report: IndexReport, own: Path) -> Iterator[tuple[str, Path]]:
    """Yields the name and path of each file that has a reader, except the index's own."""

    def name_of(path: Path) -> str:
        name = path.relative_to(root).as_posix()
        return name.encode("utf-8", "backslashreplace").decode()  # bytes of another encoding

    def unreadable(error: OSError) -> None:
        report.left_out[name_of(Path(error.filename))] = str(error)

    for folder, folders, names in os.walk(root, onerror=unreadable):
        visible = [name for name in (*folders, *names) if not name.startswith(".")]
        folders[:] = [n for n in folders if n in visible and Path(folder, n).absolute() != own]
        for path in (Path(folder, name) for name in visible):
            if path.is_symlink():
                report.left_out[name_of(path)] = "is a link, which is not followed"
            elif path.name in folders or path.absolute() == own:
                continue
            elif path.suffix.lower() in READERS:
                yield name_of(path), path
            else:
                report.others[path.suffix.lower() or "without an ending"] += 1


def _read(path: Path) -> Document:
    if not path.is_file():
        raise ValueError("is not a file")  # but a pipe or a device
    if (size := path.stat().st_size) > LARGEST:
        raise ValueError(f"has {size:,} bytes, and at most {LARGEST:,} are read: divide it")
    return read_document(path.read_bytes(), path.name)

"""Files that are written beside their target and renamed, so that they are never half written."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing", "write_text"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a temporary path that replaces `path` when the block ends without an error.

    The temporary path is `.NAME.part` beside the target. The block writes a file or a folder
    there. If it raises, the temporary path is removed and the target stays as it was.

    Args:
        path: str or path. The target, a file or a folder. Its parent folder must exist.

    Example:

    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "notes.txt"
    >>> with replacing(target) as part:
    ...     _ = part.write_text("an owl")
    >>> target.read_text(), part.exists()
    ('an owl', False)
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    _remove(part)
    try:
        yield part
        if part.is_dir():
            _remove(target)
        os.replace(part, target)
    except BaseException:
        _remove(part)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes UTF-8 text to a file as a whole; missing parent folders are created.

    Args:
        path: str or path. The file.
        text: str. Its content.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)

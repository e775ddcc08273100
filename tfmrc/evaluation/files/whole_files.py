"""Files that are written as a whole; the room has its own, since it imports nothing of tfmrc."""

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes UTF-8 text beside a file, `.NAME.part`, and renames it: no one reads half of it.

    Args:
        path: path. The file; its folder exists.
        text: str. Its content.

    Example:

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "report.md"
    >>> write_whole(path, "# A mill")
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('# A mill', 1)
    """
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise

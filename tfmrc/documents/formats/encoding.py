"""The text of a file of bytes, whatever its encoding."""

import codecs

from tfmrc.utils.optional import optional_import

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE = 200_000  # bytes by which an encoding is recognised


def decode(content: bytes, declared: str | None = None) -> str:
    r"""Returns the text of bytes, with `\n` at the end of lines.

    Args:
        content: bytes. UTF-8, or with the mark of an encoding, or in the declared one, or in one
            that charset-normalizer recognises.
        declared: str or None. The encoding that the file names. Default: None.

    Raises:
        ValueError: If no encoding fits, as for binary data.
        ImportError: If charset-normalizer is needed and missing.

    Example:

    >>> decode(b"an owl\r\n"), decode("é".encode("latin-1"), "latin-1")
    ('an owl\n', 'é')
    """
    marked = [name for mark, name in _MARKS.items() if content.startswith(mark)]
    for encoding in (*marked[:1], "utf-8", declared):
        try:
            text = content.decode(encoding or "utf-8")
        except (UnicodeError, LookupError):
            continue
        if "\0" not in text:
            return text.replace("\r\n", "\n").replace("\r", "\n")
    with optional_import("tfmrc[documents]"):
        from charset_normalizer import from_bytes
    best = from_bytes(content[:_SAMPLE]).best()
    try:
        text = "\0" if best is None else content.decode(best.encoding)
    except UnicodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError("is not text in an encoding that can be recognised; save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")

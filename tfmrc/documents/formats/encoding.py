"""The text of a file of bytes, whatever its encoding."""

from tfmrc.utils.optional import optional_import

_SAMPLE = 200_000  # bytes by which an encoding is recognised


def decode(content: bytes) -> str:
    r"""Returns the text of bytes, with `\n` at the end of lines.

    Args:
        content: bytes. UTF-8, or in an encoding that charset-normalizer recognises: by its mark, by
            a declaration as in HTML, or by its letters.

    Raises:
        ValueError: If no encoding fits, as for binary data.
        ImportError: If charset-normalizer is needed and missing.

    Example:

    >>> decode(b"an owl\r\n")
    'an owl\n'
    """
    text = _decoded(content, "utf-8-sig")
    if "\0" in text:
        with optional_import("tfmrc[documents]"):
            from charset_normalizer import from_bytes
        best = from_bytes(content[:_SAMPLE]).best()
        text = "\0" if best is None else _decoded(content, best.encoding)
    if "\0" in text:
        raise ValueError("is not text in an encoding that can be recognised; save it as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(content: bytes, encoding: str) -> str:
    """Returns the text; a null character if it has another encoding."""
    try:
        return content.decode(encoding)
    except UnicodeError:
        return "\0"

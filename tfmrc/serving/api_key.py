"""The key of a server, as headers of HTTP and metadata of gRPC can carry it."""

import re

__all__ = ["check_api_key"]

#: Other characters have no agreed encoding in a header, and its outer spaces are dropped.
KEY = re.compile(r"[!-~]([ -~]*[!-~])?")


def check_api_key(api_key: str, name: str = "`api_key`") -> str:
    """Returns a key if requests can carry it. The message does not contain the key.

    Args:
        api_key: str. The key.
        name: str. Where it comes from, for the message. Default: "`api_key`".

    Raises:
        ValueError: If it is empty, has other characters than printable ASCII, or spaces at its
            ends.

    Example:

    >>> from tfmrc.serving.api_key import check_api_key
    >>> check_api_key("open sesame")
    'open sesame'
    """
    if not isinstance(api_key, str) or not KEY.fullmatch(api_key):
        kind = f"{len(api_key)} characters" if isinstance(api_key, str) else type(api_key).__name__
        raise ValueError(
            f"{name} must be printable ASCII characters (letters, digits, signs, spaces between "
            f"them). Received: {kind}, not shown here"
        )
    return api_key

"""Optional packages."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def optional_import(packages: str) -> Iterator[None]:
    """Context that adds the install command to an ImportError.

    Args:
        packages: str. What `pip install` takes, such as `"tfmrc[serve]"`.

    Raises:
        ImportError: If a package is missing.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{error}. Install it with `pip install {packages}`.") from error

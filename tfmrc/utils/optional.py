"""Packages that not every installation has."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["optional_import"]


@contextmanager
def optional_import(packages: str) -> Iterator[None]:
    """Names what to install if an import inside the block fails.

    Args:
        packages: str. What `pip install` takes, such as `"tfmrc[serve]"`.

    Raises:
        ImportError: A package is missing.
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{error}. Install it with `pip install {packages}`.") from error

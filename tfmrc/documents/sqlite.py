"""Python's `sqlite3` with the library of the system, whatever was imported before.

TensorFlow makes the symbols of its own SQLite, which has no full-text search, visible to all that
is loaded after it.
"""

import os
import sys

__all__ = ["sqlite3"]

if hasattr(os, "RTLD_DEEPBIND"):  # of Linux; elsewhere a library finds its own symbols anyway
    _flags = sys.getdlopenflags()
    sys.setdlopenflags(_flags | os.RTLD_DEEPBIND)
    try:
        import sqlite3
    finally:
        sys.setdlopenflags(_flags)
else:
    import sqlite3

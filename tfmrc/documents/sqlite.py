"""Python's `sqlite3` with the library of the system, whatever was imported before.

TensorFlow makes the symbols of its own SQLite, which has no full-text search, visible to all that
is loaded after it.
"""

import os
import sys

_flags = sys.getdlopenflags()
sys.setdlopenflags(_flags | getattr(os, "RTLD_DEEPBIND", 0))  # of Linux, and not needed elsewhere
try:
    import sqlite3 as sqlite3
finally:
    sys.setdlopenflags(_flags)

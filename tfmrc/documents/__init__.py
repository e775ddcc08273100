"""Documents: files to passages, an index that finds them, answers that cite their place."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

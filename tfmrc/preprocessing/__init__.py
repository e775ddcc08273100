"""Preprocessors, one per paper, which convert strings to model inputs by graph operations."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Serving: SavedModels on strings, a server and its clients, files for TensorFlow Serving."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

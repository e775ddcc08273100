"""Predictors: a model and its preprocessor as one object, strings in, answers or questions out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

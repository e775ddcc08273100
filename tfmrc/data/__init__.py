"""Examples, readers of official files, splits, the shipped data and tf.data pipelines.

Names are imported lazily, so reading files does not load TensorFlow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

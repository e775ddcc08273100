"""Pretrained word vectors and encoders.

Names are imported lazily, so importing this package loads neither TensorFlow nor KerasHub.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""tfmrc: machine reading comprehension with Keras 3.

Subpackages are imported on first use, so `import tfmrc` is fast and `tfmrc.models` does not load
TensorFlow if Keras runs on another backend.

Example:

>>> import tfmrc
>>> "models" in dir(tfmrc) and "Predictor" in dir(tfmrc)
True
"""

import lazy_loader

from tfmrc.utils.keras_registry import register_on_demand

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__.append("__version__")
register_on_demand()

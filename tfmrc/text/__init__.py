"""Text processing by graph operations: tokenizer, vocabulary, subwords, ids and strings.

Names are imported lazily, so importing this package does not load TensorFlow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

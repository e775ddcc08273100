"""Experiments: from a YAML file to trained, scored and exported models, one function per step.

Nothing heavy is imported before a step runs: reading a YAML file or printing help is instant.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

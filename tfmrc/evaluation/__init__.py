"""Evaluation: from strings to scores, figures and reports.

The package loads no TensorFlow, so prediction files can be scored anywhere (`tfmrc score`).

Example:

>>> from tfmrc import evaluation
>>> scores = evaluation.score_answers({"q": "on the hill"}, {"q": ["on the hill"]}, rules="plain")
>>> scores["rouge_l"].value
1.0
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Evaluation: strings in, numbers and pictures out.

The room stands alone: it imports nothing else of tfmrc and no TensorFlow, so prediction files can
be scored anywhere (`python -m tfmrc.evaluation --help`).

Example:

>>> from tfmrc import evaluation
>>> scores = evaluation.score_answers({"q": "on the hill"}, {"q": ["on the hill"]}, rules="plain")
>>> scores["rouge_l"].value
1.0
"""

from tfmrc.evaluation.answerability import (
    PrecisionRecallCurve,
    precision_recall_curve,
    score_answerability,
)
from tfmrc.evaluation.answers import score_answers
from tfmrc.evaluation.baselines import first_sentence, most_similar_sentence, sentences
from tfmrc.evaluation.ranking import score_ranking
from tfmrc.evaluation.resampling import Interval, PairedTest, bootstrap, paired_bootstrap
from tfmrc.evaluation.rules import NO_ANSWER, RULES, Rules, get_rules
from tfmrc.evaluation.score import Score, Scores, Statistics
from tfmrc.evaluation.squad import normalize_squad, score_adversarial_squad, score_squad
from tfmrc.evaluation.tokenizers import Tokenizer, get_tokenizer

__all__ = [
    "NO_ANSWER",
    "RULES",
    "Interval",
    "PairedTest",
    "PrecisionRecallCurve",
    "Rules",
    "Score",
    "Scores",
    "Statistics",
    "Tokenizer",
    "bootstrap",
    "first_sentence",
    "get_rules",
    "get_tokenizer",
    "most_similar_sentence",
    "normalize_squad",
    "paired_bootstrap",
    "precision_recall_curve",
    "score_adversarial_squad",
    "score_answerability",
    "score_answers",
    "score_ranking",
    "score_squad",
    "sentences",
]

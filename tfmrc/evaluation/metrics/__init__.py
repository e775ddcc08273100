"""Metrics: official scores of answers, spans, rankings and decisions."""

from tfmrc.evaluation.metrics.adversarial import score_adversarial_squad
from tfmrc.evaluation.metrics.answerability import (
    PrecisionRecallCurve,
    precision_recall_curve,
    score_answerability,
)
from tfmrc.evaluation.metrics.answers import score_answers
from tfmrc.evaluation.metrics.baselines import first_sentence, most_similar_sentence, sentences
from tfmrc.evaluation.metrics.groups import (
    AnswerLength,
    answer_lengths,
    question_word,
    score_by_group,
)
from tfmrc.evaluation.metrics.oracle import score_oracle
from tfmrc.evaluation.metrics.ranking import score_ranking
from tfmrc.evaluation.metrics.repetition import score_repetition
from tfmrc.evaluation.metrics.resampling import Interval, PairedTest, bootstrap, paired_bootstrap
from tfmrc.evaluation.metrics.rules import NO_ANSWER, RULES, Rules, get_rules
from tfmrc.evaluation.metrics.score import Score, Scores, Statistics
from tfmrc.evaluation.metrics.squad import normalize_squad, score_squad
from tfmrc.evaluation.metrics.tokenizers import Tokenizer, get_tokenizer

__all__ = [
    "AnswerLength",
    "Interval",
    "NO_ANSWER",
    "PairedTest",
    "PrecisionRecallCurve",
    "RULES",
    "Rules",
    "Score",
    "Scores",
    "Statistics",
    "Tokenizer",
    "answer_lengths",
    "bootstrap",
    "first_sentence",
    "get_rules",
    "get_tokenizer",
    "most_similar_sentence",
    "normalize_squad",
    "paired_bootstrap",
    "precision_recall_curve",
    "question_word",
    "score_adversarial_squad",
    "score_answerability",
    "score_answers",
    "score_by_group",
    "score_oracle",
    "score_ranking",
    "score_repetition",
    "score_squad",
    "sentences",
]

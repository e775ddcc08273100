"""Evaluation: strings in, numbers and pictures out.

The room stands alone: it imports nothing else of tfmrc and no TensorFlow, so prediction files can
be scored anywhere (`python -m tfmrc.evaluation --help`).

Example:

>>> from tfmrc import evaluation
>>> scores = evaluation.score_answers({"q": "on the hill"}, {"q": ["on the hill"]}, rules="plain")
>>> scores["rouge_l"].value
1.0
"""

from tfmrc.evaluation.adversarial import score_adversarial_squad
from tfmrc.evaluation.answerability import (
    PrecisionRecallCurve,
    precision_recall_curve,
    score_answerability,
)
from tfmrc.evaluation.answers import score_answers
from tfmrc.evaluation.attribution import attribution_of
from tfmrc.evaluation.attribution_figure import plot_attribution
from tfmrc.evaluation.attribution_page import attribution_html
from tfmrc.evaluation.baselines import first_sentence, most_similar_sentence, sentences
from tfmrc.evaluation.drawing import save_figure
from tfmrc.evaluation.duplication import score_duplication
from tfmrc.evaluation.figures import (
    plot_answer_lengths,
    plot_learning_curves,
    plot_precision_recall,
    plot_runs,
    plot_scores,
)
from tfmrc.evaluation.groups import AnswerLength, answer_lengths, question_word, score_by_group
from tfmrc.evaluation.heat_map import plot_heat_map
from tfmrc.evaluation.mean_of_runs import mean_of_runs
from tfmrc.evaluation.metrics_files import OverSeeds, over_seeds, read_metrics
from tfmrc.evaluation.official import read_answers, write_official
from tfmrc.evaluation.oracle import score_oracle
from tfmrc.evaluation.predicting import Predictor, write_predictions
from tfmrc.evaluation.predictions import Prediction, PredictionWriter, read_predictions
from tfmrc.evaluation.ranking import score_ranking
from tfmrc.evaluation.references import Reference, read_references
from tfmrc.evaluation.report import Report
from tfmrc.evaluation.reproduction import RowState, find_runs, states
from tfmrc.evaluation.reproduction_rows import Part, Row, read_rows
from tfmrc.evaluation.resampling import Interval, PairedTest, bootstrap, paired_bootstrap
from tfmrc.evaluation.rules import NO_ANSWER, RULES, Rules, get_rules
from tfmrc.evaluation.samples import sample_table
from tfmrc.evaluation.score import Score, Scores, Statistics
from tfmrc.evaluation.squad import normalize_squad, score_squad
from tfmrc.evaluation.tokenizers import Tokenizer, get_tokenizer

__all__ = [
    "AnswerLength",
    "Interval",
    "NO_ANSWER",
    "OverSeeds",
    "PairedTest",
    "Part",
    "PrecisionRecallCurve",
    "Prediction",
    "PredictionWriter",
    "Predictor",
    "RULES",
    "Reference",
    "Report",
    "Row",
    "RowState",
    "Rules",
    "Score",
    "Scores",
    "Statistics",
    "Tokenizer",
    "answer_lengths",
    "attribution_html",
    "attribution_of",
    "bootstrap",
    "find_runs",
    "first_sentence",
    "get_rules",
    "get_tokenizer",
    "mean_of_runs",
    "most_similar_sentence",
    "normalize_squad",
    "over_seeds",
    "paired_bootstrap",
    "plot_answer_lengths",
    "plot_attribution",
    "plot_heat_map",
    "plot_learning_curves",
    "plot_precision_recall",
    "plot_runs",
    "plot_scores",
    "precision_recall_curve",
    "question_word",
    "read_answers",
    "read_metrics",
    "read_predictions",
    "read_references",
    "read_rows",
    "sample_table",
    "save_figure",
    "score_adversarial_squad",
    "score_answerability",
    "score_answers",
    "score_by_group",
    "score_duplication",
    "score_oracle",
    "score_ranking",
    "score_squad",
    "sentences",
    "states",
    "write_official",
    "write_predictions",
]

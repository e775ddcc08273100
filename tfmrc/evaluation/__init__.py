"""Evaluation: from strings to scores, figures and reports.

The package imports no TensorFlow and nothing else of tfmrc, so prediction files can be scored
anywhere (`python -m tfmrc.evaluation --help`).

Example:

>>> from tfmrc import evaluation
>>> scores = evaluation.score_answers({"q": "on the hill"}, {"q": ["on the hill"]}, rules="plain")
>>> scores["rouge_l"].value
1.0
"""

from tfmrc.evaluation.files.metrics_files import OverSeeds, over_seeds, read_metrics
from tfmrc.evaluation.files.official import read_answers, write_official
from tfmrc.evaluation.files.predicting import PredictionSource, write_predictions
from tfmrc.evaluation.files.predictions import Prediction, PredictionWriter, read_predictions
from tfmrc.evaluation.files.references import Reference, read_references
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
from tfmrc.evaluation.plots.attribution import attribution_of
from tfmrc.evaluation.plots.attribution_figure import plot_attribution
from tfmrc.evaluation.plots.attribution_page import attribution_html
from tfmrc.evaluation.plots.figures import (
    plot_answer_lengths,
    plot_learning_curves,
    plot_precision_recall,
    plot_runs,
    plot_scores,
)
from tfmrc.evaluation.plots.heat_map import plot_heat_map
from tfmrc.evaluation.plots.style import save_figure
from tfmrc.evaluation.reports.mean_of_runs import mean_of_runs
from tfmrc.evaluation.reports.report import Report
from tfmrc.evaluation.reports.samples import sample_table

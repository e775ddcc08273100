from .files.predictions import (
    Prediction as Prediction,
    PredictionWriter as PredictionWriter,
    read_predictions as read_predictions,
)
from .files.references import Reference as Reference, read_references as read_references
from .metrics.adversarial import score_adversarial_squad as score_adversarial_squad
from .metrics.answerability import (
    PrecisionRecallCurve as PrecisionRecallCurve,
    precision_recall_curve as precision_recall_curve,
    score_answerability as score_answerability,
)
from .metrics.answers import score_answers as score_answers
from .metrics.baselines import (
    first_sentence as first_sentence,
    most_similar_sentence as most_similar_sentence,
)
from .metrics.calibration import CalibrationReport as CalibrationReport
from .metrics.evidence import score_evidence as score_evidence
from .metrics.groups import (
    AnswerLength as AnswerLength,
    answer_lengths as answer_lengths,
    question_word as question_word,
    score_by_group as score_by_group,
)
from .metrics.oracle import score_oracle as score_oracle
from .metrics.ranking import score_ranking as score_ranking
from .metrics.registry import (
    Metric as Metric,
    Submission as Submission,
    register_metric as register_metric,
    registered_metrics as registered_metrics,
    score as score,
)
from .metrics.repetition import score_repetition as score_repetition
from .metrics.resampling import (
    Interval as Interval,
    PairedTest as PairedTest,
    bootstrap as bootstrap,
    paired_bootstrap as paired_bootstrap,
)
from .metrics.rules import (
    NO_ANSWER as NO_ANSWER,
    RULES as RULES,
    Rules as Rules,
    get_rules as get_rules,
)
from .metrics.score import (
    Score as Score,
    Scores as Scores,
    Statistics as Statistics,
    mean_score as mean_score,
)
from .metrics.squad import normalize_squad as normalize_squad, score_squad as score_squad
from .metrics.tokenizers import ScoringTokenizer as ScoringTokenizer, get_tokenizer as get_tokenizer
from .plots.attribution import attribution_html as attribution_html
from .plots.calibration import plot_calibration as plot_calibration
from .plots.figures import (
    plot_answer_lengths as plot_answer_lengths,
    plot_learning_curves as plot_learning_curves,
    plot_precision_recall as plot_precision_recall,
    plot_runs as plot_runs,
    plot_scores as plot_scores,
)
from .plots.heat_map import plot_heat_map as plot_heat_map
from .plots.style import save_figure as save_figure
from .reports.mean_of_runs import mean_of_runs as mean_of_runs
from .reports.report import Report as Report, read_metrics as read_metrics
from .reports.samples import sample_table as sample_table, worst_answers as worst_answers
from .reports.summary import summary as summary

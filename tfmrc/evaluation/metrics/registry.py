"""The registry of metrics: what `tfmrc evaluate`, `tfmrc score` and `tfmrc compare` compute.

Each module of this folder registers its metrics, and a user's own module does so as well.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from statistics import median
from typing import Any, Literal

from tfmrc.evaluation.files.predictions import Prediction
from tfmrc.evaluation.files.references import Reference
from tfmrc.evaluation.metrics.pairing import Missing
from tfmrc.evaluation.metrics.rules import NO_ANSWER, check_rules
from tfmrc.evaluation.metrics.score import Scores
from tfmrc.evaluation.metrics.tokenizers import has_characters
from tfmrc.utils.arguments import suggestion

SHORT = 5  # answers with a median length of at most 5 words are also scored by SQuAD's rules


@dataclass(frozen=True)
class Submission:
    """The predictions of one system for one task, with their references.

    Attributes:
        predictions: dict. `Prediction` by id.
        references: dict. `Reference` by id.
        rules: str. A name of `RULES`, or `"squad"` (exact match and F1 only), or `"adversarial"`
            (the worst variant of a question). Default: "plain".
        target: str. What was predicted, `"answer"` or `"question"`. Default: "answer".
        missing: str. Treatment of an id without a prediction, see `score_answers`.
            Default: "error".
        meteor: bool or None. Whether METEOR is computed; None: the rules decide. Default: None.
        tokenizer: str or None. Replaces the tokenizer of the rules. Default: None.
        squad: bool or None. Whether exact match and F1 are computed; None: for short answers.
            Default: None.
        threshold: float. Smallest probability at which a question counts as answered.
            Default: 0.5.
    """

    predictions: Mapping[str, Prediction]
    references: Mapping[str, Reference]
    rules: str = "plain"
    target: Literal["answer", "question"] = "answer"
    missing: Missing = "error"
    meteor: bool | None = None
    tokenizer: str | None = None
    squad: bool | None = None
    threshold: float = 0.5

    def __post_init__(self) -> None:
        check_rules(self.rules)

    @property
    def answers(self) -> dict[str, tuple[str, ...]]:
        """The reference texts by id, of the ids that have one."""
        return {key: r.answers for key, r in self.references.items() if r.answers}

    @property
    def texts(self) -> dict[str, str]:
        """The predicted texts by id, without those of ids that have no reference text."""
        empty = {key for key, reference in self.references.items() if not reference.answers}
        return {key: p.answer for key, p in self.predictions.items() if key not in empty}

    @property
    def answerable(self) -> dict[str, bool]:
        """Whether each question has an answer, if this is known and some have none."""
        labels = {k: r.answerable for k, r in self.references.items() if r.answerable is not None}
        mixed = any(labels.values()) and not all(labels.values())
        return labels if mixed and self.target == "answer" else {}

    @cached_property
    def by_character(self) -> bool:
        """Whether the reference texts are of scripts without spaces, or of Korean."""
        return has_characters(text for texts in self.answers.values() for text in texts)

    @property
    def normalization(self) -> Literal["official", "unicode"]:
        """The normal form for exact match and F1: for letters one by one that of Unicode."""
        return "unicode" if self.by_character or self.rules.endswith("unicode") else "official"

    @property
    def by_squad(self) -> bool:
        """Whether answers are scored by exact match and F1."""
        if self.target == "question" or self.rules == "adversarial":
            return False
        if self.squad is not None or self.rules == "squad":
            return self.squad is not False
        lengths = [len(answers[0].split()) for answers in self.answers.values()]
        return bool(lengths) and median(lengths) <= SHORT

    def scores(self, name: str, ids: Iterable[str]) -> dict[str, Any]:
        """Returns a score of the predictions, such as `"relevance"`, by id; {} if one lacks it."""
        found = {
            key: self.predictions[key].scores.get(name) for key in ids if key in self.predictions
        }
        return {} if None in found.values() else found


def abstains(prediction: Prediction) -> bool:
    """Returns True if a prediction is empty, "No Answer Present." or not confident."""
    is_confident = prediction.scores.get("is_confident", True)
    return not is_confident or prediction.answer.strip() in ("", NO_ANSWER)


@dataclass(frozen=True)
class Metric:
    """A registered metric; see `register_metric`."""

    name: str
    compute: Callable[[Submission], Scores | Iterable[Scores]]
    applies: Callable[[Submission], Any]
    order: int = 100
    of_model: bool = False
    baselines: Mapping[str, Callable[[Submission], Submission]] = field(default_factory=dict)

    def __call__(self, submission: Submission) -> list[Scores]:
        found = self.compute(submission)
        return [found] if isinstance(found, Scores) else list(found)


_METRICS: dict[str, Metric] = {}


def register_metric(
    name: str,
    applies: Callable[[Submission], Any] = lambda submission: submission.answers,
    **options: Any,
) -> Callable[[Callable[[Submission], Any]], Callable[[Submission], Any]]:
    """Registers the decorated function as a metric.

    Every registered metric that applies is part of the reports of `tfmrc evaluate`, and of
    `tfmrc score` and `tfmrc compare`. The function takes a `Submission` and returns its `Scores`,
    or several.

    Args:
        name: str. The name in `--metrics`.
        applies: callable. Whether the metric applies to a submission. Default: if there is a
            reference text.
        order: int. Metrics of a lower number come first. Default: 100.
        of_model: bool. Whether the metric says something about the model and not about a task: of
            several tasks only the last one that answers is scored. Default: False.
        baselines: dict. Functions that return the submission of a baseline, by its name.
            Default: {}.

    Example:

    >>> from tfmrc.evaluation.metrics.score import mean_score
    >>> @register_metric("length")
    ... def length(submission):
    ...     words = {key: len(text.split()) for key, text in submission.texts.items()}
    ...     row = mean_score("words", "Words", words, scorer="own", tokenisation="white space")
    ...     return Scores("length", (row,))
    >>> submission = Submission({"q": Prediction("q", "an owl")}, {"q": Reference("q", ("owl",))})
    >>> [scores["words"].value for scores in score(submission, ["length"])]
    [2.0]
    >>> del _METRICS["length"]
    """

    def register(compute: Callable[[Submission], Any]) -> Callable[[Submission], Any]:
        _METRICS[name] = Metric(name, compute, applies, **options)
        return compute

    return register


def registered_metrics() -> dict[str, Metric]:
    """Returns all metrics by name: those of the modules beside this one, and users' own."""
    for module in iter_modules([str(Path(__file__).parent)]):
        import_module(f"{__package__}.{module.name}")
    return dict(sorted(_METRICS.items(), key=lambda item: item[1].order))


def score(submission: Submission, names: Collection[str] | None = None) -> list[Scores]:
    """Scores a submission by all metrics that apply.

    Args:
        submission: `Submission`. Predictions and references.
        names: list of str or None. The metrics to compute, whether or not they apply.
            Default: None.

    Raises:
        ValueError: If there is no such metric.

    Example:

    >>> submission = Submission({"q": Prediction("q", "owl")}, {"q": Reference("q", ("owl",))})
    >>> [scores.rules for scores in score(submission)][:2]
    ['plain (tfmrc english 1, lower-cased)', 'SQuAD v1.1']
    """
    known = registered_metrics()
    for name in names or ():
        if name not in known:
            raise ValueError(f"There is no metric {name!r}{suggestion(name, known)}")
    chosen = [m for m in known.values() if (m.name in names if names else m.applies(submission))]
    return [scores for metric in chosen for scores in metric(submission)]

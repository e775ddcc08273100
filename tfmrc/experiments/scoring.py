"""Predictions and scores of a predictor on the test examples of a source."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Reference, Scores, Submission
from tfmrc.evaluation.files.references import question_references
from tfmrc.experiments.answering import answer_all
from tfmrc.experiments.examples.spans import with_spans
from tfmrc.experiments.examples.splits import as_sequence, splits
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import Experiment, Source

BASELINES = {
    "first sentence": lambda given, passages: evaluation.first_sentence(passages),
    "most similar sentence": evaluation.most_similar_sentence,
}


@dataclass(frozen=True)
class EvaluationSet:
    """The test examples of a source.

    Attributes:
        number: int. Index of the source.
        source: `Source`. The source.
        examples: list of `Example`. The examples that are reported on.
        all: list of `Example`. All examples of the test file, which determine the references of
            questions.
        settings: dict. The settings that determine the examples. Default: {}.
    """

    number: int
    source: Source
    examples: list[Example]
    all: list[Example]
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        """Name of the folder of the source's report."""
        stem = Path(str(self.source.test or self.source.train)).name.split(".")[0]
        return f"{self.number + 1}-{stem}-{'-'.join(self.source.styles)}"


@dataclass(frozen=True)
class TaskPredictions:
    """The predictions of one task on the test examples of a source.

    Attributes:
        style: str or None. Style of the reference answers; None for all.
        prefix: str. Prefix of the names of the scores.
        examples: list of `Example`. The examples.
        submission: `Submission`. Predictions and references by id.
    """

    style: str | None
    prefix: str
    examples: Sequence[Example]
    submission: Submission

    @property
    def scores(self) -> list[Scores]:
        """The scores of the task by all metrics that apply."""
        found = [m for m in evaluation.registered_metrics().values() if not m.of_model]
        given = self.submission
        return [s.prefixed(self.prefix) for m in found if m.applies(given) for s in m(given)]

    @property
    def model_scores(self) -> list[tuple[str, Scores]]:
        """The scores of the model's ranker and classifier, "", and those of their baselines."""
        results, given = [], self.submission
        for metric in evaluation.registered_metrics().values():
            if metric.of_model and metric.applies(given):
                results += [("", scores) for scores in metric(given)]
                for name, baseline in metric.baselines.items():
                    results += [(name, scores) for scores in metric(baseline(given))]
        return results

    def of_texts(self, texts: Mapping[str, str]) -> "TaskPredictions":
        """Returns other predictions for those of the examples that have a reference."""
        known = self.submission.answers
        given = replace(
            self.submission,
            predictions={key: Prediction(key, text) for key, text in texts.items() if key in known},
            references={key: self.submission.references[key] for key in texts if key in known},
        )
        return replace(self, submission=given)

    def baselines(self) -> dict[str, dict[str, str]]:
        """Returns the texts of two baselines without a model, by name and id.

        Baselines of questions need answers to compare sentences with.
        """
        given = {}
        for example in self.examples:
            if self.submission.target == "answer":
                given[example.id] = example.question
            elif example.answers:
                given[example.id] = next(iter(example.answers.values()))[0]
        return {
            name: {
                example.id: write(given[example.id], example.passages)
                for example in self.examples
                if example.id in given
            }
            for name, write in BASELINES.items()
            if given
        }


@dataclass
class SourceResults:
    """Scores and predictions of one run on one source.

    Attributes:
        systems: dict. Scores by system. Default: {}.
        tasks: dict. Predictions by system, one entry per task. Default: {}.
    """

    systems: dict[str, list[Scores]] = field(default_factory=dict)
    tasks: dict[str, list[TaskPredictions]] = field(default_factory=dict)

    @property
    def main(self) -> list[TaskPredictions]:
        """The predictions with the main options."""
        return next(iter(self.tasks.values()), [])


def evaluation_sets(
    experiment: Experiment, data: Path, root: Path, known: Iterable[EvaluationSet] = ()
) -> list[EvaluationSet]:
    """Returns the test examples of an experiment's sources.

    Args:
        experiment: `Experiment`. The experiment.
        data: Path. The data folder.
        root: Path. The folder of the experiment, with the file of spans.
        known: list of `EvaluationSet`. Those of another run, which are reused if all settings of
            data and report are the same. Default: none.
    """
    plan = Plan(experiment, root, data=data)
    settings = {
        **experiment.affecting("data", "report"),
        "only_asks": plan.classes.only_asks,
    }
    known = list(known)
    if known and known[0].settings == settings:
        return known
    return [
        EvaluationSet(number, part.source, list(part.tested), list(part.test), settings)
        for number, part in enumerate(splits(plan))
        if part.test is not None
    ]


def score_source(
    experiment: Experiment,
    predictor: Any,
    digest: str,
    test: EvaluationSet,
    target: Path,
    system: str,
) -> SourceResults:
    """Predicts and scores the examples of a source with every set of options.

    Args:
        experiment: `Experiment`. The experiment.
        predictor: The predictor.
        digest: str. Digest of the predictor, by which predictions of an earlier call are known.
        test: `EvaluationSet`. The examples.
        target: Path. The folder of the predictions.
        system: str. Name of the system; other options add theirs.
    """
    results = SourceResults()
    for suffix in ("", *experiment.evaluation.also):
        name = f"{system}_{suffix}" if suffix else system
        tasks = [
            predictions
            for task in predictor.tasks
            if (predictions := _predict(experiment, predictor, digest, test, target, task, suffix))
        ]
        if tasks:
            results.tasks[name] = tasks
        if tasks and has_decoder(predictor):
            results.systems[name] = [scores for task in tasks for scores in task.scores]
        if tasks and not suffix and tasks[-1].submission.target == "answer":
            for other, scores in tasks[-1].model_scores:
                results.systems.setdefault(other or name, []).append(scores)
    return results


def has_decoder(predictor: Any) -> bool:
    """Returns True if a predictor's model writes text; one without a decoder does not."""
    return bool(getattr(predictor.model, "has_decoder", True))


def _predict(
    experiment: Experiment,
    predictor: Any,
    digest: str,
    test: EvaluationSet,
    target: Path,
    task: Any,
    suffix: str,
) -> TaskPredictions | None:
    """Predicts the examples of a task; returns None if the source has none for it."""
    settings, source = experiment.evaluation, test.source
    if task.target == "answer" and source.sequence is None:
        if task.style is not None and task.style not in source.styles:
            return None
    goal, style = source.sequence or task.target, None if source.sequence else task.style
    examples = shown = _examples_of(test, predictor, task)
    if source.sequence is not None:
        shown = [as_sequence(example, source.sequence) for example in examples if example.answers]
    if not shown:
        return None
    predictions = answer_all(
        predictor,
        shown,
        target / f"predictions-{'-'.join(filter(None, (task.name, suffix)))}.jsonl",
        task=task.name,
        options={**settings.options, **settings.also.get(suffix, {})},
        batch_size=settings.batch_size,
        model=digest,
    )
    targets = {other.target for other in predictor.tasks}
    only_target = source.sequence is not None or len(targets) == 1
    prefix = prefix_of(experiment, source, goal, style, only_target=only_target)
    given = submission_of(test, goal, style, examples, predictions, settings.meteor)
    return TaskPredictions(style, prefix, examples, given)


def _examples_of(test: EvaluationSet, predictor: Any, task: Any) -> list[Example]:
    """Returns the test examples of a task.

    A model that can also answer is asked about the answers that are known, with `spans: exact`
    about those that a passage contains, in that passage.
    """
    source = test.source
    if task.target != "question" or source.sequence is not None or predictor.only_asks:
        return test.examples
    answered = [example for example in test.examples if example.answers]
    return list(with_spans(answered, source)) if source.spans == "exact" else answered


def submission_of(
    test: EvaluationSet,
    target: str,
    style: str | None,
    examples: Sequence[Example],
    predictions: Mapping[str, Prediction],
    meteor: bool,
) -> Submission:
    """Returns the predictions of a task with their references.

    Args:
        test: `EvaluationSet`. The test examples of the source.
        target: str. `"answer"` or `"question"`.
        style: str or None. Style of the reference answers; None for all.
        examples: list of `Example`. The examples of the task.
        predictions: dict. Predictions by id.
        meteor: bool. Whether METEOR is computed.
    """
    source = test.source
    if target == "question":
        questions = question_references(test.all)
        asked = [example.id for example in examples if example.id in questions]
        references = {key: Reference(key, tuple(questions[key])) for key in asked}
    else:
        references = {example.id: Reference.of(example, style) for example in examples}
    squad = source.squad_scores
    if squad is None and source.format in ("small_squad", "squad", "squad_passages"):
        squad = True
    return Submission(
        predictions,
        references,
        source.rules,
        "question" if target == "question" else "answer",
        meteor=meteor,
        squad=squad,
    )


def prefix_of(
    experiment: Experiment,
    source: Source,
    target: str,
    style: str | None,
    *,
    only_target: bool = True,
) -> str:
    """Returns the prefix of a task's scores, which keeps the scores of several tasks apart.

    It is that of the settings, or the target of a model that answers and asks, or the style if
    there are several.

    Args:
        experiment: `Experiment`. The experiment, whose settings may name prefixes by target.
        source: `Source`. The source.
        target: str. `"answer"` or `"question"`.
        style: str or None. Style of the answers.
        only_target: bool. Whether all tasks of the model have this target. Default: True.
    """
    prefix = experiment.evaluation.prefixes.get(target)
    if prefix is not None:
        return prefix
    if not only_target:
        return target
    by_style = len(source.styles) > 1 or source.format == "msmarco"
    return (style or "") if by_style and target == "answer" else ""

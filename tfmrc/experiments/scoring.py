"""From questions to scores: the predictions of a model on test examples, and what they are worth.

`predict_set` writes the predictions of a model into files, `score_set` reads and scores them. A
run, a grid's table, an ensemble and the questions of a file all go this way.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Reference, Scores, Submission, read_predictions
from tfmrc.evaluation.files.references import question_references
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.answering import write_answers
from tfmrc.experiments.examples.rows import row_digest, seen_rows
from tfmrc.experiments.examples.sources import Splits, as_sequence, splits
from tfmrc.experiments.examples.spans import MAX_LENGTH, with_spans
from tfmrc.experiments.loaded import Loaded
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import Evaluation, Experiment, Source

if TYPE_CHECKING:
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.task import Task

BASELINES = {
    "first sentence": lambda given, passages: evaluation.first_sentence(passages),
    "most similar sentence": evaluation.most_similar_sentence,
}
SQUAD_FORMATS = ("small_squad", "squad", "squad_passages")


@dataclass(frozen=True)
class EvaluationSet:
    """The test examples of a source.

    Attributes:
        name: str. Name of the experiment or of the model.
        number: int. Index of the source.
        source: `Source`. The source.
        examples: list of `Example`. The examples that are reported on.
        all: list of `Example`. All examples of the test file, which determine the references of
            questions.
        split: str. Description of the examples for reports.
        settings: dict. What determines the examples. Default: {}.
        longest: int. Largest number of words of a span. Default: 60.
    """

    name: str
    number: int
    source: Source
    examples: list[Example]
    all: list[Example]
    split: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    longest: int = MAX_LENGTH

    def folder_in(self, run: Path) -> Path:
        """Returns the folder of the source's report in a run's folder."""
        stem = Path(str(self.source.test or self.source.train)).name.split(".")[0]
        name = f"{self.number + 1}-{stem}-{'-'.join(self.source.styles)}"
        return run / folders.EVALUATION / name

    @property
    def dataset(self) -> str:
        """Name of the data in reports."""
        return self.source.title or self.source.format


@dataclass(frozen=True)
class PredictionFile:
    """A file with the predictions of one task, as `metrics.json` describes it.

    Attributes:
        file: str. The file, relative to the folder of the report.
        system: str. Name of the system in the report.
        options: dict. Options of the predictor.
        target: str. What is predicted: `"answer"` or `"question"`.
        style: str or None. Style of the reference answers; None for all.
        prefix: str. Prefix of the names of the scores.
        is_text: bool. Whether the model writes text; one without a decoder ranks and classifies.
        about_answers: bool. Whether the questions are asked about the answers that are known.
    """

    file: str
    system: str
    options: Mapping[str, Any]
    target: str
    style: str | None
    prefix: str
    is_text: bool
    about_answers: bool

    def examples(self, test: EvaluationSet) -> list[Example]:
        """Returns the examples that were predicted.

        A model that can also answer is asked about the answers that are known, with
        `spans: exact` about those that a passage contains, in that passage.
        """
        if not self.about_answers:
            return test.examples
        answered = [example for example in test.examples if example.answers]
        return list(with_spans(answered, test.source)) if test.source.spans == "exact" else answered

    def shown(self, test: EvaluationSet) -> list[Example]:
        """Returns the examples as the model sees them."""
        examples, target = self.examples(test), test.source.sequence
        if target is None:
            return examples
        return [as_sequence(example, target) for example in examples if example.answers]


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
        """Returns other predictions for those of the examples whose right answer is known."""
        known = {
            key: reference
            for key, reference in self.submission.references.items()
            if key in texts and (reference.answers or reference.answerable is False)
        }
        predictions = {key: Prediction(key, texts[key]) for key in known}
        given = replace(self.submission, predictions=predictions, references=known)
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
    """Scores and predictions on one source.

    Attributes:
        test: `EvaluationSet`. The test examples.
        systems: dict. Scores by system. Default: {}.
        tasks: dict. Predictions by system, one entry per task. Default: {}.
        files: list of `PredictionFile`. Where the predictions are. Default: [].
    """

    test: EvaluationSet
    systems: dict[str, list[Scores]] = field(default_factory=dict)
    tasks: dict[str, list[TaskPredictions]] = field(default_factory=dict)
    files: list[PredictionFile] = field(default_factory=list)

    @property
    def main(self) -> list[TaskPredictions]:
        """The predictions with the main options."""
        return next(iter(self.tasks.values()), [])


# === Questions ===


def evaluation_sets(plan: Plan, known: Sequence[EvaluationSet] = ()) -> list[EvaluationSet]:
    """Returns the test examples of a run's sources.

    Args:
        plan: `Plan`. The run.
        known: list of `EvaluationSet`. Those of another run, which are reused if all settings of
            data and report are the same. Default: none.
    """
    settings = {**plan.experiment.affecting("data", "report"), "only_asks": plan.classes.only_asks}
    if known and known[0].settings == settings:
        return list(known)
    sets, experiment, seen = [], plan.experiment, seen_rows(plan)
    longest = experiment.preprocessor.get("answer_length", MAX_LENGTH)
    for number, part in enumerate(splits(plan)):
        if part.test is not None:
            examples, every = _unseen(part, seen), list(part.test)
            split = split_of(experiment, part.source, len(examples))
            given = (number, part.source, examples, every, split, settings, longest)
            sets.append(EvaluationSet(experiment.name, *given))
    if not sets:
        raise ValueError(
            "No source of the run has test questions. Score the run on a file of questions: "
            f"`tfmrc evaluate {plan.folder} --input FILE`. "
            "Received: sources.0.test=null, split.test_share=0"
        )
    return sets


def _unseen(part: Splits, seen: frozenset[str]) -> list[Example]:
    """Returns the test examples of a source without those that a run has seen; says how many."""
    tested = list(part.tested)
    rows = [row for file in part.files for row in file.rows] if seen else []
    ids = {row.id for row in rows if row_digest(row) in seen}
    examples = [example for example in tested if example.id not in ids]
    if len(examples) < len(tested):
        print(
            f"{part.source.test or part.source.train} has changed since the training: "
            f"{len(tested) - len(examples):,} of {len(tested):,} test questions were trained or "
            "validated on, and are left out.",
            file=sys.stderr,
        )
    return examples


def split_of(experiment: Experiment, source: Source, size: int) -> str:
    """Describes the part of the data that is reported on."""
    options = "".join(f", {name} {value}" for name, value in source.test_options.items())
    share = "" if source.test_share >= 1 else f", {source.test_share:.0%} of the groups"
    by = {"sentence": ", half of its sentences"}.get(experiment.split.by, "")
    if experiment.split.ids is not None:
        by = f", ids of {Path(experiment.split.ids).name}"
    limit = experiment.evaluation.limit
    drawn = "" if limit is None or size < limit or experiment.split.ids else ", drawn by id"
    answerable = " with an answer" if source.answerable_only else ""
    file = source.test or f"{experiment.split.test_share:.0%} of {source.train}"
    return f"{file}{options}{share}{by}, {size:,} questions{answerable}{drawn}"


# === Predictions ===


def score_model(
    model: Loaded, test: EvaluationSet, folder: Path, system: str, settings: Evaluation
) -> SourceResults:
    """Predicts test examples and scores the predictions; see `predict_set` and `score_set`."""
    files = predict_set(model, test, folder, system, settings)
    return score_set(files, test, folder, meteor=settings.meteor)


def predict_set(
    model: Loaded, test: EvaluationSet, folder: Path, system: str, evaluation: Evaluation
) -> list[PredictionFile]:
    """Predicts test examples into files, by every task of a model and with all sets of options.

    Args:
        model: `Loaded`. The model.
        test: `EvaluationSet`. The examples.
        folder: Path. The folder of the report; predictions in it that are not stale are kept.
        system: str. Name of the system; further sets of options add theirs.
        evaluation: `Evaluation`. Options and their sets, batch size and prefixes.

    Returns:
        The files, ordered by options, then by task.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for suffix, options in option_sets(evaluation).items():
        for task in model.predictor.tasks:
            facts = _task_facts(model.predictor, test.source, task, evaluation.prefixes)
            if facts is None:
                continue
            name = f"predictions-{'-'.join(filter(None, (task.name, suffix)))}.jsonl"
            file = PredictionFile(name, "_".join(filter(None, (system, suffix))), options, **facts)
            examples = file.shown(test)
            if not examples:
                continue
            write_answers(
                model.predictor,
                examples.__iter__,
                folder / name,
                task=task.name,
                options=options,
                batch_size=evaluation.batch_size,
                model=model.digest,
                window=None,
            )
            files.append(file)
    return files


def option_sets(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """Returns the options of the predictor, "", and the further sets by their names."""
    also = {name: {**evaluation.options, **more} for name, more in evaluation.also.items()}
    return {"": evaluation.options, **also}


def _task_facts(
    predictor: "Predictor[Any]", source: Source, task: "Task", prefixes: Mapping[str, str]
) -> dict[str, Any] | None:
    """Returns what a file says of its task; None if the source has no answers in its style."""
    target, style, is_sequence = source.sequence or task.target, task.style, bool(source.sequence)
    if is_sequence:
        style = None
    elif target == "answer" and style not in (None, *source.styles):
        return None
    only_target = is_sequence or len({other.target for other in predictor.tasks}) == 1
    return {
        "target": target,
        "style": style,
        "prefix": prefix_of(prefixes, source, target, style, only_target=only_target),
        "is_text": bool(getattr(predictor.model, "has_decoder", True)),
        "about_answers": target == "question" and not is_sequence and not predictor.only_asks,
    }


def prefix_of(
    prefixes: Mapping[str, str],
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
        prefixes: dict. The prefixes of the settings by target.
        source: `Source`. The source.
        target: str. `"answer"` or `"question"`.
        style: str or None. Style of the answers.
        only_target: bool. Whether all tasks of the model have this target. Default: True.
    """
    if target in prefixes:
        return prefixes[target]
    if not only_target:
        return target
    by_style = len(source.styles) > 1 or source.format == "msmarco"
    return (style or "") if by_style and target == "answer" else ""


# === Scores ===


def score_set(
    files: Iterable[PredictionFile], test: EvaluationSet, folder: Path, *, meteor: bool
) -> SourceResults:
    """Scores the predictions of files.

    Args:
        files: list of `PredictionFile`. The files, as `predict_set` returns them. The ranker and
            classifier of the first system are scored, too.
        test: `EvaluationSet`. The examples.
        folder: Path. The folder of the report.
        meteor: bool. Whether METEOR is computed.
    """
    files = list(files)
    results = SourceResults(test, files=files)
    for number, (system, of_system) in enumerate(groupby(files, attrgetter("system"))):
        given = list(of_system)
        tasks = results.tasks[system] = [
            task_predictions(file, test, read_predictions(folder / file.file), meteor)
            for file in given
        ]
        if given[0].is_text:
            results.systems[system] = [scores for task in tasks for scores in task.scores]
        if number == 0 and tasks[-1].submission.target == "answer":
            for other, scores in tasks[-1].model_scores:
                results.systems.setdefault(other or system, []).append(scores)
    return results


def task_predictions(
    file: PredictionFile, test: EvaluationSet, known: Mapping[str, Prediction], meteor: bool
) -> TaskPredictions:
    """Returns the predictions of a task with their references.

    Args:
        file: `PredictionFile`. The task.
        test: `EvaluationSet`. The test examples.
        known: dict. Predictions by id.
        meteor: bool. Whether METEOR is computed.
    """
    examples, source = file.examples(test), test.source
    if file.target == "question":
        questions = question_references(test.all)
        asked = [example.id for example in examples if example.id in questions]
        references = {key: Reference(key, tuple(questions[key])) for key in asked}
    else:
        references = {example.id: Reference.of(example, file.style) for example in examples}
    by_squad = True if source.format in SQUAD_FORMATS else None
    submission = Submission(
        {example.id: known[example.id] for example in file.shown(test)},
        references,
        source.rules,
        "question" if file.target == "question" else "answer",
        meteor=meteor,
        squad=by_squad if source.squad_scores is None else source.squad_scores,
    )
    return TaskPredictions(file.style, file.prefix, examples, submission)

"""Reports of runs: scores beside those of baselines and of the papers, with their details."""

import hashlib
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tfmrc.data import Example
from tfmrc.evaluation import Report, Scores, score_repetition, worst_answers
from tfmrc.evaluation.reports.summary import FIRST
from tfmrc.experiments.environment import summary
from tfmrc.experiments.examples.spans import MAX_LENGTH, nearest_texts
from tfmrc.experiments.recipes import recipes_folder
from tfmrc.experiments.scoring import BASELINES, EvaluationSet, TaskPredictions
from tfmrc.experiments.settings import Experiment, Source

UPPER_BOUND = "the nearest span (upper bound)"


def model_details(digest: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Returns the details of a report by which `export` knows the scores of its model."""
    return {
        "Search": ", ".join(f"{name} {value}" for name, value in options.items()),
        "Model": digest and f"sha256 {digest[:16]}",
    }


def details_of(
    experiment: Experiment,
    facts: Sequence[Mapping[str, Any]],
    questions: Sequence[Example] = (),
    model: str = "",
) -> dict[str, str]:
    """Returns the details of a report: training, options, and digests of model and questions.

    Args:
        experiment: `Experiment`. The experiment.
        facts: list. The contents of the runs' `training.json`.
        questions: list of `Example`. The examples of the report. Default: none.
        model: str. Digest of the model, if the report has one. Default: "".
    """
    content = hashlib.sha256()
    for example in questions:
        content.update(example.to_json().encode("utf-8", "surrogatepass"))
    known = {
        **_training_of(experiment, facts),
        **model_details(model, experiment.evaluation.options),
        "Questions": f"sha256 {content.hexdigest()[:16]}" if questions else "",
    }
    return {name: value for name, value in known.items() if value}


def _training_of(experiment: Experiment, facts: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    if not facts:
        return {}
    runs = f"{len(facts)} runs of " if len(facts) > 1 else ""
    return {
        "Training": f"{runs}{_range([f['steps'] for f in facts], ',')} steps of "
        f"{experiment.training.batch_size} in "
        f"{_range([f['seconds'] / 60 for f in facts], '.1f')} minutes on "
        f"{_range([f['examples'] for f in facts], ',')} examples, ended by: "
        + ", ".join(sorted({f["ended_by"] for f in facts})),
        "Weights": _by_variant(facts, "weights"),
        "Best evaluation": _by_variant(facts, "best_eval") if len(facts) == 1 else "",
        "Seeds": ", ".join(map(str, sorted({f["seed"] for f in facts}))) if runs else "",
        "Settings": ", ".join(
            f"{name} {value}"
            for part in (experiment.model, experiment.preprocessor, experiment.training.optimizer)
            for name, value in part.items()
        ),
        "Encoder": ", ".join(f"{name} {value}" for name, value in experiment.encoder.items()),
        "Word vectors": _vectors(experiment, facts[0]),
        "Contextual embedding": experiment.contextual.describe(),
        "Training answers without a usable span": _without_a_span(facts[0].get("alignment")),
        "Machine": "; ".join(sorted({summary(f["machine"]) for f in facts})),
        "Versions": ", ".join(f"{k} {v}" for k, v in facts[0]["machine"]["versions"].items()),
    }


def _range(values: Sequence[float], form: str) -> str:
    return " to ".join(dict.fromkeys(format(value, form) for value in (min(values), max(values))))


def _by_variant(facts: Sequence[Mapping[str, Any]], name: str) -> str:
    values = {fact.get("variant", ""): fact.get(name) for fact in facts}
    shown = {k: format(v, ",") if isinstance(v, int) else str(v) for k, v in values.items()}
    if len(set(shown.values())) == 1:
        return next(iter(shown.values()))
    return ", ".join(f"{variant} {value}".strip() for variant, value in shown.items())


def _vectors(experiment: Experiment, facts: Mapping[str, Any]) -> str:
    share, vectors = facts.get("words_with_a_vector"), experiment.vocabulary.vectors
    if vectors is None or share is None:
        return ""
    return f"{Path(vectors).name}, for {share:.1%} of the words"


def _without_a_span(counts: Mapping[str, int] | None) -> str:
    if counts is None:
        return ""
    return f"{counts['without_a_span']:,} of {sum(counts.values()):,} (left out)"


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


def paper_figures(systems: Iterable[str], data: str) -> dict[str, dict[str, float]]:
    """Returns the papers' figures by system, from `recipes/reproduction/tables.yaml`.

    Args:
        systems: iterable of str. Names of systems.
        data: str. Name of the data and the split; only tables about this data are used. If several
            have figures of one system and score, the first is used.
    """
    figures: dict[str, dict[str, float]] = {}
    for name in systems:
        for table in _tables():
            if not any(data.lower().startswith(known.lower()) for known in table.get("data", ())):
                continue
            for part in table["parts"]:
                is_meant = name in (part.get("run"), *part.get("also", ()))
                if is_meant and part.get("reports", "") in data:
                    figures[name] = {**part.get("paper", {}), **figures.get(name, {})}
    return {name: scores for name, scores in figures.items() if scores}


@cache
def _tables() -> list[Any]:
    folder = recipes_folder()
    path = None if folder is None else folder / "reproduction" / "tables.yaml"
    if path is None or not path.is_file():
        return []
    return list(yaml.safe_load(path.read_text(encoding="utf-8")))


# === Reports ===


def system_name(experiment: Experiment, variant: str, suffix: str = "") -> str:
    """Returns the name of a run's system in reports and in `tables.yaml`."""
    return "_".join(part for part in (experiment.name, variant, suffix) if part)


def report_of(
    experiment: Experiment,
    test: EvaluationSet,
    facts: Sequence[Mapping[str, Any]],
    systems: Mapping[str, Sequence[Scores]],
    seed: int | None,
    title: str = "",
    model: str = "",
) -> Report:
    """Creates a report with the paper's figures; `model` is the digest of the model."""
    dataset = test.source.title or test.source.format
    split = split_of(experiment, test.source, len(test.examples))
    report = Report(
        title or experiment.title or experiment.name,
        dataset=dataset,
        split=split,
        seed=seed,
        details=details_of(experiment, facts, test.examples, model),
        paper={**paper_figures(systems, f"{dataset}, {split}"), **test.source.paper},
    )
    for name, several in systems.items():
        for scores in several:
            report.add(name, scores, samples=experiment.evaluation.samples)
    return report


def add_baselines(
    report: Report, experiment: Experiment, test: EvaluationSet, tasks: Iterable[TaskPredictions]
) -> None:
    """Adds baselines without a model, repetition in human questions and the bound of spans."""
    for task in {(task.submission.target, task.prefix): task for task in tasks}.values():
        if not task.submission.answers:
            continue
        texts = task.baselines()
        if test.source.spans == "best" and task.submission.target == "answer":
            longest = experiment.preprocessor.get("answer_length", MAX_LENGTH)
            texts[UPPER_BOUND] = nearest_texts(test.examples, test.source.styles[0], longest)
        for name, by_id in texts.items():
            for scores in task.of_texts(by_id).scores:
                report.add(name, scores)
        if task.submission.target == "question":
            repeated = score_repetition({e.id: e.question for e in task.examples})
            human, samples = system_name(experiment, "", "human"), experiment.evaluation.samples
            report.add(human, repeated.prefixed(task.prefix), samples=samples)


def worst_of(report: Report, system: str, tasks: Sequence[TaskPredictions]) -> str:
    """Returns the answers of a system with the lowest scores as Markdown; "" without any."""
    rows = report.systems.get(system, {}).items()
    found = (row for first in FIRST for name, row in rows if name.endswith(first))
    score = next((row for row in found if row.per_example), None)
    if score is None or not tasks:
        return ""
    task = next(t for t in tasks if score.name.startswith(t.prefix))
    examples = {example.id: example for example in task.examples}
    return worst_answers(
        {key: value for key, value in (score.per_example or {}).items() if key in examples},
        task.submission.texts,
        task.submission.answers,
        {key: example.question for key, example in examples.items()},
        {key: " / ".join(example.passages) for key, example in examples.items()},
    )


def compare_with_baselines(
    report: Report, systems: Iterable[str], scored: Iterable[str], predicted: Container[str]
) -> None:
    """Tests the scores of systems against those of each baseline.

    Args:
        report: `Report`. The report.
        systems: list of str. The systems to compare.
        scored: list of str. Systems with scores; those that predicted nothing are baselines too.
        predicted: list of str. The systems that predicted something.
    """
    others = [*BASELINES, *(name for name in scored if name not in predicted)]
    for system in systems:
        for other in others:
            if system in report.systems and other in report.systems:
                report.compare(system, other)

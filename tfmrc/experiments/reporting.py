"""Reports of runs: scores beside those of baselines and of the papers, with their details."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tfmrc.data import Example
from tfmrc.evaluation import Report, Scores, score_repetition, worst_answers
from tfmrc.evaluation.reports.summary import FIRST
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.environment import summary
from tfmrc.experiments.examples.spans import nearest_texts
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.recipes import recipes_folder
from tfmrc.experiments.scoring import BASELINES, EvaluationSet, TaskPredictions
from tfmrc.experiments.settings import Experiment

UPPER_BOUND = "the nearest span (upper bound)"


def model_details(digest: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Returns the details of a report by which `export` knows the scores of its model."""
    search = ", ".join(f"{name} {value}" for name, value in options.items())
    details = {"Search": search, "Model": digest and f"sha256 {digest[:16]}"}
    return {name: value for name, value in details.items() if value}


def questions_digest(questions: Iterable[Example]) -> str:
    """Returns the digest of the examples of a report."""
    content = hashlib.sha256()
    for example in questions:
        content.update(example.to_json().encode("utf-8", "surrogatepass"))
    return f"sha256 {content.hexdigest()[:16]}"


def facts_of(run: Plan) -> dict[str, Any]:
    """Returns what `train` wrote about a run."""
    return dict(folders.read_json(run.folder / folders.TRAINING, "train"))


def training_details(experiment: Experiment, trained: Sequence[Plan]) -> dict[str, str]:
    """Returns the details of a report that say how its runs were trained."""
    facts = list(map(facts_of, trained))
    runs = f"{len(facts)} runs of " if len(facts) > 1 else ""
    details = {
        "Training": f"{runs}{_range([f['steps'] for f in facts], ',')} steps of "
        f"{experiment.training.batch_size} in "
        f"{_range([f['seconds'] / 60 for f in facts], '.1f')} minutes on "
        f"{_range([f['examples'] for f in facts], ',')} examples, ended by: "
        + ", ".join(sorted({f["ended_by"] for f in facts})),
        "Weights": _by_variant(facts, "weights"),
        "Best epoch": _by_variant(facts, "best_eval") if len(facts) == 1 else "",
        "Seeds": ", ".join(map(str, sorted({f["seed"] for f in facts}))) if runs else "",
        "Settings": ", ".join(
            f"{name} {value}"
            for part in (experiment.model, experiment.preprocessor, experiment.training.optimizer)
            for name, value in part.items()
        ),
        "Encoder": ", ".join(f"{name} {value}" for name, value in experiment.encoder.items()),
        "Word vectors": _vectors(experiment, facts[0]),
        "Contextual embedding": experiment.contextual.describe(),
        "Training examples without a usable span": _without_a_span(facts[0]),
        "Machine": "; ".join(sorted({summary(f["machine"]) for f in facts})),
        "Versions": ", ".join(f"{k} {v}" for k, v in facts[0]["machine"]["versions"].items()),
    }
    return {name: value for name, value in details.items() if value}


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


def _without_a_span(facts: Mapping[str, Any]) -> str:
    count = facts.get("without_a_span")
    return "" if count is None else f"{count:,} of {facts['examples']:,} (left out)"


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


def system_name(*parts: str) -> str:
    """Returns the name of a system in reports and in `tables.yaml`: run, variant, options."""
    return "_".join(filter(None, parts))


def new_report(
    test: EvaluationSet,
    systems: Mapping[str, Sequence[Scores]],
    title: str,
    details: Mapping[str, str],
    *,
    seed: int | None = None,
    samples: int = 0,
) -> Report:
    """Returns a report of systems on a source, with the papers' figures.

    Args:
        test: `EvaluationSet`. The test examples.
        systems: dict. Scores by system.
        title: str. The heading.
        details: dict. Details of training and model.
        seed: int or None. Seed of the training. Default: None.
        samples: int. Resamples of the bootstrap intervals. Default: 0, no intervals.
    """
    report = Report(
        title,
        dataset=test.dataset,
        split=test.split,
        seed=seed,
        details={**details, "Questions": questions_digest(test.examples)},
        paper={**paper_figures(systems, f"{test.dataset}, {test.split}"), **test.source.paper},
    )
    for name, several in systems.items():
        for scores in several:
            report.add(name, scores, samples=samples)
    return report


def add_baselines(
    report: Report, test: EvaluationSet, tasks: Iterable[TaskPredictions], samples: int = 0
) -> None:
    """Adds baselines without a model, repetition in human questions and the bound of spans.

    Args:
        report: `Report`. The report.
        test: `EvaluationSet`. The test examples.
        tasks: list of `TaskPredictions`. Predictions; one of each target and prefix is used.
        samples: int. Resamples of the bootstrap intervals. Default: 0, no intervals.
    """
    for task in {(task.submission.target, task.prefix): task for task in tasks}.values():
        if not task.submission.answers:
            continue
        texts = task.baselines()
        if test.source.spans == "best" and task.submission.target == "answer":
            style = test.source.styles[0]
            texts[UPPER_BOUND] = nearest_texts(test.examples, style, test.longest)
        for name, by_id in texts.items():
            for scores in task.of_texts(by_id).scores:
                report.add(name, scores)
        if task.submission.target == "question":
            repeated = score_repetition({e.id: e.question for e in task.examples})
            human = system_name(test.name, "human")
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
    texts = {
        key: p.answer if p.scores.get("is_confident", True) else f"{p.answer} (not confident)"
        for key, p in task.submission.predictions.items()
    }
    return worst_answers(
        {key: value for key, value in (score.per_example or {}).items() if key in examples},
        texts,
        {key: reference.answers for key, reference in task.submission.references.items()},
        {key: example.question for key, example in examples.items()},
        {key: " / ".join(example.passages) for key, example in examples.items()},
    )


def compare(report: Report, systems: Iterable[str], others: Iterable[str]) -> None:
    """Tests the scores of systems against those of baselines, and of `others` in the report."""
    for system in systems:
        for other in (*BASELINES, *others):
            if system in report.systems and other in report.systems:
                report.compare(system, other)

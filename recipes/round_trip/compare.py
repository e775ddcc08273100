"""Comparison of SAN trained with and without the generated questions."""

import json
from pathlib import Path
from typing import Any

from recipes.round_trip.questions import COUNTS, KEPT
from recipes.round_trip.settings import Settings
from tfmrc import evaluation, experiments
from tfmrc.data.transforms.splits import group_number
from tfmrc.evaluation.files.references import answer_references
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.loaded import open_model
from tfmrc.experiments.plan import Plan, members
from tfmrc.experiments.run_folder import read_json, write_json
from tfmrc.experiments.settings import Experiment, changed

SAMPLES = 1000  # of the bootstrap
# More questions mean more steps in the same number of passes, so the generated questions are also
# compared within the same number of steps.
SYSTEMS = {
    "without": "without",
    "with": "with",
    "as_many_steps": "with, in as many steps as without",
}


def union(settings: Settings, san: Experiment, folder: Path, run: Path) -> Experiment:
    """Writes `union.json`, the training file and the generated questions.

    The validation questions stay the same: generated questions about validation articles are left
    out.

    Returns:
        SAN's experiment on this file.

    Raises:
        ValueError: If there are no questions yet.
    """
    source, split = san.sources[0], san.split
    train = json.loads((folder / str(source.train)).read_text(encoding="utf-8"))
    generated = [
        article
        for article in read_json(run / KEPT, "make")["data"]
        if group_number(article["title"], split.seed) >= split.validation_share
    ]
    path = (run / "union.json").resolve()
    write_json(path, {**train, "data": [*train["data"], *generated]})
    return changed(san, {"name": settings.name, "sources.0.train": str(path)})


def as_many_steps(san: Experiment, facts: dict[str, Any]) -> Experiment:
    """Returns the experiment with as many steps as the run without generated questions took.

    Args:
        san: The experiment with generated questions.
        facts: dict. Facts of the run without them (`training.json`).
    """
    steps = max(1, facts["steps"] // san.training.epochs)
    return changed(san, {"training.eval_every_steps": steps})


def compare(settings: Settings, folder: Path, run: Path) -> str:
    """Trains the runs that are not trained, answers SAN's test questions, and writes the report.

    Args:
        settings: Settings of the comparison.
        folder: Path. The data folder.
        run: Path. Folder of the round trip. Its `comparison` gets `metrics.json` and `report.md`.

    Returns:
        The report.
    """
    san = experiments.read_settings(experiments.find_recipe(settings.san))
    run_folders = {
        "without": Path(settings.without),
        "with": run / "san",
        "as_many_steps": run / "san_as_many_steps",
    }
    with_ours = union(settings, san, folder, run)
    [part] = splits(Plan(san, run, data=folder))
    examples = list(part.tested)
    references = answer_references(examples, None)
    report = evaluation.Report(
        "SAN with and without questions of a round trip",
        dataset="SQuAD",
        split=f"{part.source.test}, {len(examples):,} questions",
        details=_counts(run),
    )
    scores: dict[tuple[str, int], evaluation.Scores] = {}
    for seed in settings.seeds:
        configs = {"without": san, "with": with_ours}
        for name, words in SYSTEMS.items():
            member = _trained(settings, configs[name], folder, run_folders[name], seed)
            answers = _answers(member, examples, run / "comparison" / f"{name}-{seed}.json")
            scores[name, seed] = evaluation.score_squad(answers, references)
            system = f"{settings.name}, {words}, seed {seed}"
            report.add(system, scores[name, seed], samples=SAMPLES)
            facts = read_json(member.folder / "training.json", "train")
            if name == "without":
                configs["as_many_steps"] = as_many_steps(with_ours, facts)
            trained = f"{facts['steps']:,} steps on {facts['examples']:,} questions"
            report.details = {**report.details, f"Seed {seed}, {words}": trained}
    means = {
        name: evaluation.mean_of_runs([scores[name, seed] for seed in settings.seeds])
        for name in SYSTEMS
    }
    if settings.seeds[1:]:
        for name, words in SYSTEMS.items():
            report.add(f"{settings.name}, {words}, mean of {len(settings.seeds)}", means[name])
    report.details = {**report.details, **_differences(means)}
    report.write(run / "comparison")
    return report.markdown()


def _trained(
    settings: Settings, experiment: Experiment, folder: Path, runs: Path, seed: int
) -> Plan:
    """Returns a trained run of a folder; trains it if necessary."""
    [member] = members(experiment, runs, [settings.variant], [seed])
    if not member.is_trained:
        experiments.train(experiment, folder, runs, variants=[settings.variant], seeds=[seed])
    return member


def _answers(member: Plan, examples: Any, path: Path) -> dict[str, str]:
    if not path.is_file():
        predictor = open_model(member.folder, settings=member.experiment).predictor
        options = member.experiment.evaluation
        answers = predictor.predict(examples, batch_size=options.batch_size)
        both = zip(examples, answers, strict=True)
        write_json(path, {example.id: answer.text for example, answer in both})
    return dict(read_json(path, "compare"))


def _counts(run: Path) -> dict[str, str]:
    counts = read_json(run / COUNTS, "make")
    return {
        "Round trip": f"{counts['questions']:,} questions about {counts['passages']:,} passages; "
        f"the answers found agree by {100 * counts['exact_match']:.2f} (exact match) and "
        f"{100 * counts['f1']:.2f} (F1); {counts['kept']:,} kept, with {counts['agreement']} of "
        f"{counts['threshold']:g} or more"
    }


def _differences(means: dict[str, evaluation.Scores]) -> dict[str, str]:
    """Runs paired tests of the questions' means over the seeds."""
    tests = {}
    for name in ("exact_match", "f1"):
        without = means["without"][name]
        for kind in ("with", "as_many_steps"):
            test = evaluation.paired_bootstrap(without, means[kind][name], samples=SAMPLES)
            tests[f"{without.label}, ({SYSTEMS[kind]}) - without"] = str(test)
    return tests

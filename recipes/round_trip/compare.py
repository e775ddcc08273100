"""SAN trained with our questions beside its own, and without."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from recipes.round_trip.questions import COUNTS, KEPT
from recipes.round_trip.settings import Settings
from recipes.san_squad import main as san_squad
from recipes.san_squad.settings import SPLIT_SEED, test_examples
from recipes.san_squad.settings import Settings as SanSettings
from tfmrc import Predictor, evaluation
from tfmrc.data.transforms.splits import group_number
from tfmrc.experiments.run_folder import write_json

SAMPLES = 1000  # of the bootstrap
# More questions are more steps in as many epochs, so our questions are tried within the same number
# of steps, too.
SYSTEMS = {
    "without": "without",
    "with": "with",
    "as_many_steps": "with, in as many steps as without",
}


def union(settings: Settings, folder: Path, run: Path) -> Path:
    """Writes `union.json`, the training file and our questions, and `san.yaml`, which names it.

    What SAN validates with stays what it was: our questions about articles that it validates with
    are left out.

    Returns:
        The configuration.

    Raises:
        ValueError: there are no questions yet.
    """
    chosen = yaml.safe_load(Path(settings.san).read_text(encoding="utf-8"))
    share = chosen["training"]["validation_share"]
    train = json.loads((folder / chosen["train"]).read_text(encoding="utf-8"))
    ours = [
        article
        for article in _json(run / KEPT)["data"]
        if group_number(article["title"], SPLIT_SEED) >= share
    ]
    write_json(run / "union.json", {**train, "data": [*train["data"], *ours]})
    path = run / "san.yaml"
    chosen |= {"name": settings.name, "train": str((run / "union.json").resolve())}
    path.write_text(yaml.safe_dump(chosen, sort_keys=False), encoding="utf-8")
    return path


def as_many_steps(config: Path, facts: dict[str, Any]) -> Path:
    """Writes a configuration beside, whose runs take as many steps as the run without did.

    Args:
        config: of the run with our questions.
        facts: of the run without them (`training.json`).
    """
    chosen = yaml.safe_load(config.read_text(encoding="utf-8"))
    chosen["training"]["steps_per_epoch"] = max(1, facts["steps"] // chosen["training"]["epochs"])
    path = config.with_name("as_many_steps.yaml")
    path.write_text(yaml.safe_dump(chosen, sort_keys=False), encoding="utf-8")
    return path


def compare(settings: Settings, folder: Path, run: Path) -> str:
    """Trains what is not trained, answers SAN's test questions, and writes the report.

    Args:
        settings: of the comparison.
        folder: the data folder.
        run: of the round trip. Its `comparison` gets `metrics.json` and `report.md`.

    Returns:
        The report.
    """
    places = {
        "without": Path(settings.without),
        "with": run / "san",
        "as_many_steps": run / "san_as_many_steps",
    }
    with_ours = union(settings, folder, run)
    san = SanSettings.load(Path(settings.san))
    examples = test_examples(san, folder)
    references = {example.id: list(example.answers["span"]) for example in examples}
    report = evaluation.Report(
        "SAN with and without questions of a round trip",
        dataset="SQuAD",
        split=f"{san.test}, {len(examples):,} questions",
        details=_counts(run),
    )
    found: dict[tuple[str, int], evaluation.Scores] = {}
    for seed in settings.seeds:
        configs = {"without": Path(settings.san), "with": with_ours}
        for name, words in SYSTEMS.items():
            place = _trained(settings, configs[name], folder, places[name], seed)
            answers = _answers(place, examples, run / "comparison" / f"{name}-{seed}.json")
            found[name, seed] = evaluation.score_squad(answers, references)
            report.add(f"{settings.name}, {words}, seed {seed}", found[name, seed], samples=SAMPLES)
            facts = _json(place / "training.json")
            if name == "without":
                configs["as_many_steps"] = as_many_steps(with_ours, facts)
            trained = f"{facts['steps']:,} steps on {facts['examples']:,} questions"
            report.details = {**report.details, f"Seed {seed}, {words}": trained}
    if settings.seeds[1:]:
        for name, words in SYSTEMS.items():
            several = [found[name, seed] for seed in settings.seeds]
            mean = evaluation.mean_of_runs(several)
            report.add(f"{settings.name}, {words}, mean of {len(several)}", mean)
    report.details = {**report.details, **_differences(settings, found)}
    report.write(run / "comparison")
    return report.markdown()


def _trained(settings: Settings, config: Path, folder: Path, runs: Path, seed: int) -> Path:
    place = runs / f"{settings.answer}-{seed}"
    if not (place / "training.json").is_file():
        given = {"config": config, "data": folder, "runs": runs, "answer": settings.answer}
        words = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        if san_squad.main(["train", *words, "--seed", str(seed)]):
            raise ValueError(f"SAN was not trained. Received: run={place}")
    return place


def _answers(place: Path, examples: Any, path: Path) -> dict[str, str]:
    if not path.is_file():
        predictor = Predictor.load(place / "predictor")
        answers = zip(examples, predictor.predict(examples), strict=True)
        write_json(path, {example.id: found.text for example, found in answers})
    return dict(_json(path))


def _json(path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"{path} is not there: an earlier command makes it.")
    return json.loads(path.read_text(encoding="utf-8"))


def _counts(run: Path) -> dict[str, str]:
    counts = _json(run / COUNTS)
    return {
        "Round trip": f"{counts['questions']:,} questions about {counts['passages']:,} passages; "
        f"the predictor's answers agree by {100 * counts['exact_match']:.2f} (exact match) and "
        f"{100 * counts['f1']:.2f} (F1); {counts['kept']:,} kept, with {counts['agreement']} of "
        f"{counts['threshold']:g} or more",
    }


def _differences(
    settings: Settings, found: dict[tuple[str, int], evaluation.Scores]
) -> dict[str, str]:
    """Paired tests of the questions' means over the seeds."""
    said = {}
    for name in ("exact_match", "f1"):
        rows = {kind: [found[kind, seed][name] for seed in settings.seeds] for kind in SYSTEMS}
        for kind in ("with", "as_many_steps"):
            test = evaluation.paired_bootstrap(
                _mean(rows["without"]), _mean(rows[kind]), samples=SAMPLES
            )
            said[f"{rows[kind][0].label}, ({SYSTEMS[kind]}) - without"] = str(test)
    return said


def _mean(rows: list[evaluation.Score]) -> evaluation.Score:
    """The score whose examples have the mean of several runs."""
    first = rows[0]
    if first.statistics is None:
        raise ValueError(f"Nothing to test. Received: {first}")
    order = first.statistics.ids
    values = [row.statistics.subset(order).values for row in rows if row.statistics is not None]
    return replace(first, statistics=replace(first.statistics, values=sum(values) / len(values)))

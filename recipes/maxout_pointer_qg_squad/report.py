"""The recipe's reports: of one variant, of all together (Table 1), and of repeated words."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from recipes.maxout_pointer_qg_squad import scoring
from recipes.maxout_pointer_qg_squad.run import DONE
from recipes.maxout_pointer_qg_squad.settings import Settings
from recipes.maxout_pointer_qg_squad.splits import Parts
from tfmrc import evaluation
from tfmrc.evaluation import Report, Row, read_rows
from tfmrc.experiments.run_folder import read_json

ROWS = Path(__file__).parents[1] / "reproduction.yaml"
SAMPLES = 1000  # of the bootstrap


def system(settings: Settings, variant: str, context: str, beams: int) -> str:
    """A variant's name in the reports, by which `reproduction.yaml` knows it."""
    search = "" if beams > 1 else "_greedy"
    return f"{settings.name}_{variant}_{context}{search}"


def write_one(
    settings: Settings, variant: str, context: str, parts: Parts, folder: Path
) -> list[Path]:
    """`metrics.json` and `report.md` of one variant, from the questions in its folder."""
    names = {beams: system(settings, variant, context, beams) for beams in settings.searches}
    report = _report(settings, f"{variant}, {context}", parts, list(names.values()))
    report.details = _details(settings, folder)
    for beams, name in names.items():
        for scores in scoring.scored(folder, beams):
            report.add(name, scores, samples=SAMPLES)
    return report.write(folder)


def write_all(settings: Settings, folder: Path, parts: Parts) -> str:
    """What the variants that have asked give together.

    Args:
        settings: of the recipe.
        folder: of all runs. Gets `report.md`, and a folder `duplication` with the word duplication
            rates of all variants and of people (Figure 4): report, `metrics.json` and picture.
        parts: the examples.

    Returns:
        The report.
    """
    found = {
        (variant, context, beams): folder / f"{variant}-{context}"
        for context in settings.contexts
        for variant in settings.variants
        for beams in settings.searches
        if scoring.metrics_file(folder / f"{variant}-{context}", beams).is_file()
    }
    names = {key: system(settings, *key) for key in found}
    human = f"{settings.name}_human"
    report = _report(settings, settings.name, parts, list(names.values()))
    report.details = {"Budget of a variant": _budget(settings)}
    rates = _report(settings, f"{settings.name}: words said again", parts, [human])
    bars: dict[str, dict[str, Any]] = {}
    for (variant, context, beams), place in found.items():
        answers, duplication = scoring.scored(place, beams)
        name = names[variant, context, beams]
        report.add(name, answers)
        report.add(name, duplication)
        rates.add(name, duplication, samples=SAMPLES)
        if beams == settings.num_beams:
            interval = evaluation.bootstrap(duplication["duplication_rate"], samples=SAMPLES)
            bars.setdefault(context, {})[variant] = interval
    own = evaluation.score_repetition({example.id: example.question for example in parts.test})
    rates.add(human, own, samples=SAMPLES)
    rates.write(folder / "duplication")
    for series in bars.values():  # people ask the same whatever a model reads
        series["people"] = evaluation.bootstrap(own["duplication_rate"], samples=SAMPLES)
    if bars:
        picture = folder / "duplication" / "duplication"
        evaluation.plot_scores(bars, picture, label="word duplication rate (%)")
    text = report.markdown()
    (folder / "report.md").write_text(text, encoding="utf-8")
    return text


def _report(settings: Settings, title: str, parts: Parts, names: Sequence[str]) -> Report:
    """A report with the paper's figures, as `reproduction.yaml` has them, for systems by name."""
    several = any(len(parts.references[example.id]) > 1 for example in parts.test)
    against = "all questions about its text" if several else "its own question alone"
    drawn = "" if settings.limit is None else ", drawn by id"
    split = settings.split if settings.ids is None else "given ids"
    return Report(
        title,
        dataset=settings.dataset,
        split=f"{split}, {settings.test}, {len(parts.test):,} questions{drawn}, each scored "
        f"against {against}",
        seed=settings.seed,
        paper={name: figures for name in names if (figures := _paper(name))},
    )


@cache
def _rows() -> list[Row]:
    return read_rows(ROWS)


def _paper(name: str) -> dict[str, float]:
    """The paper's figures of a system, from all tables that it stands in."""
    parts = (part for row in _rows() for part in row.parts if name in (part.run, *part.also))
    return {score: figure for part in parts for score, figure in part.paper.items()}


def _details(settings: Settings, folder: Path) -> dict[str, Any]:
    facts = read_json(folder / DONE, "train")
    trained = f"{facts['steps']:,} steps of {settings.batch_size}"
    details = {
        "Weights": f"{facts['weights']:,}",
        "Training": f"{trained} in {facts['seconds'] / 60:.1f} minutes",
        "Budget": _budget(settings),
        "Epoch kept": facts["kept_epoch"],
        "Search": f"beam of {settings.num_beams}; or greedy",
    }
    if "words_with_a_vector" in facts:
        file, share = Path(settings.vectors or "").name, facts["words_with_a_vector"]
        details["Word vectors"] = f"{file}, for {share:.1%} of the words"
    return details | ({"Machine": facts["machine"]} if "machine" in facts else {})


def _budget(settings: Settings) -> str:
    minutes = "" if settings.max_minutes is None else f" and {settings.max_minutes:g} minutes"
    return f"at most {settings.epochs} epochs{minutes}"

"""The recipe's tables: systems and seeds beside the paper's figures, samples of both tasks."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recipes.daanet_squad import systems
from recipes.daanet_squad.paper import TITLES, paper_figures
from recipes.daanet_squad.predict import predict
from recipes.daanet_squad.settings import Settings
from recipes.daanet_squad.train import DONE
from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Reference, Report, Scores
from tfmrc.experiments.run_folder import read_json
from tfmrc.models.daanet_task import GIVEN

PREFIXES = {"answer": "qa", "ask": "qg"}
NUM_SAMPLES = 10
BASELINES: dict[str, Callable[[str, Example], str]] = {
    "first sentence": lambda task, example: evaluation.first_sentence(example.passages),
    "most similar sentence": lambda task, example: evaluation.most_similar_sentence(
        systems.text_of(GIVEN[task], example), example.passages
    ),
}


def write(settings: Settings, folder: Path, examples: Sequence[Example]) -> str:
    """Answers and asks with every trained run of a folder, scores all, and writes the tables.

    `metrics.json` and `report.md` hold mean and deviation over the seeds of each system, and two
    baselines without a model; `samples.md` what the systems of the first seed wrote; two pictures
    the learning curves of the tasks.

    Args:
        settings: name the data and the search.
        folder: of all runs.
        examples: what is reported on.

    Returns:
        The report.
    """
    facts: dict[str, dict[int, dict[str, Any]]] = {}
    found: dict[str, dict[str, list[Scores]]] = {}
    samples: dict[str, dict[str, dict[str, str]]] = {task: {} for task in PREFIXES}
    for name in systems.SYSTEMS:
        for seed, run in _trained(folder, name):
            facts.setdefault(name, {})[seed] = read_json(run / DONE, "train")
            for task, texts in predict(settings, name, examples, run).items():
                scores = _score(settings, task, texts, examples)
                found.setdefault(_row(name), {}).setdefault(task, []).append(scores)
                samples[task].setdefault(_row(name), texts)
    report = Report(
        settings.name,
        dataset=settings.dataset,
        split=_split(settings, len(examples)),
        seed=_single([seed for runs in facts.values() for seed in runs]),
        details=_details(settings, facts),
        paper={
            _system(settings, row): figures
            for row, figures in paper_figures(settings.dataset).items()
            if row in found
        },
    )
    for row, tasks in found.items():
        for task, runs in tasks.items():
            mean = evaluation.mean_of_runs(runs)
            report.add(_system(settings, row), mean, prefix=PREFIXES[task])
    for name, text in BASELINES.items():
        for task, prefix in PREFIXES.items():
            texts = {example.id: text(task, example) for example in examples}
            report.add(name, _score(settings, task, texts, examples), prefix=prefix)
    report.write(folder)
    for task in PREFIXES:
        _plot_curves(folder, task)
    _write_samples(folder, settings, samples, examples)
    return report.markdown()


def _trained(folder: Path, name: str) -> list[tuple[int, Path]]:
    """Seeds and folders of the trained runs of a system."""
    runs = [path.parent for path in folder.glob(f"{name}-*/{DONE}")]
    numbers = {run: run.name[len(name) + 1 :] for run in runs}
    return sorted((int(n), run) for run, n in numbers.items() if n.isdecimal())


def _row(name: str) -> str:
    """The row of a system: systems of one task make one together."""
    return name.removesuffix("_answer").removesuffix("_ask")


def _system(settings: Settings, row: str) -> str:
    """What the report calls a row: DAANET has the recipe's name, the others add theirs."""
    return settings.name if row == "daanet" else f"{settings.name}_{row}"


def _score(
    settings: Settings, task: str, texts: Mapping[str, str], examples: Sequence[Example]
) -> Scores:
    """BLEU, ROUGE-L and METEOR against all references; of answers also exact match and F1."""
    references = {e.id: _references(task, e) for e in examples}
    scores = evaluation.score_answers(texts, references, "plain", meteor=settings.meteor)
    if task == "ask":
        return scores
    official = evaluation.score_squad(texts, references)
    return Scores(scores.rules, (*scores.rows, *official.rows), scores.counts)


def _references(task: str, example: Example) -> list[str]:
    if task == "ask":
        return [example.question]
    return [text for several in example.answers.values() for text in several]


def _split(settings: Settings, size: int) -> str:
    drawn = "" if settings.test_limit is None or size < settings.test_limit else ", drawn by id"
    return f"{settings.test}, {size:,} answerable questions{drawn}"


def _single(values: Sequence[int]) -> int | None:
    return values[0] if len(set(values)) == 1 else None


def _details(settings: Settings, facts: dict[str, dict[int, dict[str, Any]]]) -> dict[str, str]:
    """How large the systems are and how they were trained, beside the figures."""
    every = [run for runs in facts.values() for run in runs.values()]
    if not every:
        return {}
    last = every[-1]
    weights = [f"{name} {next(iter(runs.values()))['weights']:,}" for name, runs in facts.items()]
    minutes = [
        f"{name} {sum(run['seconds'] for run in runs.values()) / len(runs) / 60:.1f}"
        for name, runs in facts.items()
    ]
    steps = sorted({run["steps"] for run in every})
    seeds = [f"{name} {', '.join(map(str, sorted(runs)))}" for name, runs in facts.items()]
    return {
        "Training": f"{' to '.join(f'{n:,}' for n in {steps[0]: 0, steps[-1]: 0})} steps of "
        f"{settings.batch_size}, {last['examples']:,} questions",
        "Seeds": "; ".join(seeds),
        "Minutes of a run": ", ".join(minutes),
        "Weights": ", ".join(weights),
        "Search": f"num_beams {settings.num_beams}",
        "Machine": last["machine"],
        "Versions": ", ".join(f"{name} {version}" for name, version in last["versions"].items()),
    }


def _plot_curves(folder: Path, task: str) -> None:
    """The validation loss of a task, of the network that has both and of those that have one."""
    column = f"val_{task}_loss"
    logs: dict[str, list[Path]] = {}
    for name in systems.SYSTEMS:
        several = [run / "log.csv" for _, run in _trained(folder, name)]
        # The baseline's loss is a mean over words, and has no column of this name.
        if several and column in several[0].read_text(encoding="utf-8").splitlines()[0].split(","):
            logs[TITLES[_row(name)]] = several
    if logs:
        evaluation.plot_runs(logs, folder / f"{task}_curves", metric=column, title=f"Loss: {task}")


def _write_samples(
    folder: Path,
    settings: Settings,
    found: Mapping[str, Mapping[str, Mapping[str, str]]],
    examples: Sequence[Example],
) -> None:
    """The paper's Table 4: for some passages what each system answers and asks."""
    drawn = random.Random(0).sample(list(examples), min(NUM_SAMPLES, len(examples)))
    texts: dict[str, Mapping[str, str]] = {}
    references: dict[str, dict[str, Reference]] = {}
    for task, kind in (("ask", "question"), ("answer", "answer")):
        for row, written in found[task].items():
            name = f"{kind}, {TITLES[row]}"
            texts[name] = written
            known = {e.id: tuple(dict.fromkeys(_references(task, e))) for e in drawn}
            references[name] = {key: Reference(key, several) for key, several in known.items()}
    if texts:
        page = evaluation.sample_table(
            texts,
            references,
            [e.id for e in drawn],
            title=f"{settings.name}: samples",
            column="text",
            passages={e.id: " ".join(e.passages) for e in drawn},
        )
        (folder / "samples.md").write_text(page, encoding="utf-8")

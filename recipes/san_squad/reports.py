"""The reports: answer modules, seeds, steps, ensemble, adversarial; figures beside the paper's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recipes.san_squad.runs import EVALUATION, NUM_BEST, Runs
from recipes.san_squad.settings import answerable, references
from recipes.san_squad.train import facts_of
from tfmrc import evaluation
from tfmrc.evaluation import Scores
from tfmrc.evaluation.reports import mean_of_runs

TITLES = {
    "one_step": "1 step",
    "last_step": "memory network, last step",
    "average": "memory network, average",
    "reasonet": "ReasoNet",
    "stochastic": "SAN",
}
BASELINES = {
    "first sentence": lambda example: evaluation.first_sentence(example.passages),
    "most similar sentence": lambda example: evaluation.most_similar_sentence(
        example.question, example.passages
    ),
}
ADVERSARIAL = {
    "sample1k-HCVerifyAll": "AddSent",
    "sample1k-HCVerifySample": "AddOneSent",
}  # the names of the official files


def modules(runs: Runs, seeds: Sequence[int]) -> list[Path]:
    """Every answer module: Table 1 with the learning curves (Figure 4), the K-best oracle (Figure
    3), and scores by question word (Figure 5); means over the seeds that are trained.

    Returns:
        The folders of the three reports.

    Raises:
        ValueError: no run is trained.
    """
    trained = {answer: found for answer in TITLES if (found := runs.trained(answer, seeds))}
    if not trained:
        raise ValueError(f"No run is trained. Received: runs={str(runs.folder)!r}")
    scores = {a: [runs.score(run) for run in found] for a, found in trained.items()}
    means = {
        kind: {a: mean_of_runs([run[kind] for run in several]) for a, several in scores.items()}
        for kind in ("official", "oracle", "words")
    }
    every = [run for found in trained.values() for run in found]
    written = []
    for kind, name, row in (
        ("official", "modules", "san-t1"),
        ("oracle", "oracle", "san-f3"),
        ("words", "question_words", "san-f5"),
    ):
        to = runs.folder / EVALUATION / name
        with runs.report(row, to, every) as report:
            for answer, found in means[kind].items():
                report.add(f"{runs.settings.name}_{answer}", found)
            if kind == "official":
                for system, answered in BASELINES.items():
                    texts = {example.id: answered(example) for example in runs.test}
                    report.add(system, evaluation.score_squad(texts, references(runs.test)))
        written.append(to)
    logs = {TITLES[a]: [run / "log.csv" for run in found] for a, found in trained.items()}
    evaluation.plot_runs(logs, written[0] / "learning_curves", title="Learning curves")
    for name, picture, label in (("f1", "oracle", "F1"), ("exact_match", "oracle_em", "EM")):
        of_best = {f"{name}@{k}": f"K = {k}" for k in range(1, NUM_BEST + 1)}
        _bars(means["oracle"], of_best, written[1] / picture, "K-best oracle", f"{label} (%)")
    of_words = {
        row.name: f"{row.name.removeprefix('f1_')} ({row.size})"
        for row in next(iter(means["words"].values())).rows
        if row.name.startswith("f1_")
    }
    _bars(means["words"], of_words, written[2] / "question_words", "By question word")
    return written


def seeds_of(runs: Runs, answer: str, seeds: Sequence[int]) -> Path:
    """Each seed of one module, their mean and deviation: Table 3."""
    trained = runs.trained(answer, seeds)
    to = runs.folder / EVALUATION / "seeds"
    scores = {run: runs.score(run)["official"] for run in trained}
    with runs.report("san-t3", to, trained) as report:
        mean = mean_of_runs(list(scores.values()))
        report.add(f"{runs.settings.name}_{len(trained)}_seeds", mean)
        for run, found in scores.items():
            report.add(run.name, found)
    return to


def trained_steps(runs: Runs, counts: Sequence[int], seed: int) -> Path:
    """SAN trained with each of several numbers of steps: Table 4."""
    places = {count: runs.train("stochastic", seed, count) for count in counts}
    to = runs.folder / EVALUATION / "trained_steps"
    with runs.report("san-t4", to, list(places.values()), seed=seed) as report:
        for count, run in places.items():
            report.add(f"{runs.settings.name}_trained_{count}", runs.score(run)["official"])
    return to


def tested_steps(runs: Runs, run: Path, counts: Sequence[int]) -> Path:
    """A trained run tested with other numbers of steps than it was trained with: Table 6."""
    predictor, known = runs.predictor(run), references(runs.test)
    to = runs.folder / EVALUATION / "tested_steps"
    facts = facts_of(run)
    with runs.report("san-t6", to, [run], seed=facts and facts["seed"]) as report:
        for count in counts:
            answers = predictor.predict(runs.test, num_steps=count)
            texts = {e.id: a.text for e, a in zip(runs.test, answers, strict=True)}
            report.add(f"{runs.settings.name}_tested_{count}", evaluation.score_squad(texts, known))
    return to


def ensemble(runs: Runs, answer: str, seeds: Sequence[int]) -> Path:
    """The seeds of one module as one predictor, whose distributions are the means of theirs: Table 2.

    Raises:
        ValueError: there are fewer than two seeds.
    """
    if len(seeds) < 2:
        raise ValueError(f"An ensemble has two runs or more. Received: seeds={list(seeds)}")
    members = [runs.train(answer, seed) for seed in seeds]
    to = runs.folder / EVALUATION / f"ensemble-{answer}-{'-'.join(map(str, seeds))}"
    answers = runs.answers(to, lambda: _together(runs, members))
    texts = {key: best[0][0] for key, best in answers.items()}
    with runs.report("san-t2", to, members) as report:
        name = runs.settings.name
        report.add(f"{name}_ensemble", evaluation.score_squad(texts, references(runs.test)))
        single = [runs.score(run)["official"] for run in members]
        report.add(f"{name}_single", mean_of_runs(single))
    return to


def adversarial(runs: Runs, run: Path, file: Path) -> Path:
    """A run on a file of Adversarial SQuAD, where every question counts as its worst variant.

    Beside it stands how the questions are answered that nobody has changed. Table 5.
    """
    title = ADVERSARIAL.get(file.stem, file.stem)
    examples = answerable(file)
    answers = runs.predictor(run).predict(examples)
    texts = {e.id: a.text for e, a in zip(examples, answers, strict=True)}
    known = references(examples)
    to = runs.folder / EVALUATION / f"adversarial-{title}"
    facts = facts_of(run)
    split = f"{file.name}, {len(examples):,} variants of questions"
    more = {"dataset": f"Adversarial SQuAD, {title}", "split": split}
    system = f"{runs.settings.name}_{title}"
    with runs.report("san-t5", to, [run], seed=facts and facts["seed"], **more) as report:
        report.add(system, evaluation.score_adversarial_squad(texts, known))
        unchanged = {key: answers for key, answers in known.items() if "-" not in key}
        if unchanged:
            kept = {key: texts[key] for key in unchanged}
            report.add(system, evaluation.score_squad(kept, unchanged), prefix="unchanged")
    return to


def _together(runs: Runs, members: Sequence[Path]) -> Any:
    from tfmrc.predictors import ensemble_predictor

    return ensemble_predictor([runs.predictor(run) for run in members])


def _bars(
    means: Mapping[str, Scores],
    names: Mapping[str, str],
    path: Path,
    title: str,
    label: str = "F1 (%)",
) -> list[Path]:
    series = {
        TITLES[answer]: {
            shown: float(scores[name]) for name, shown in names.items() if name in scores
        }
        for answer, scores in means.items()
    }
    return evaluation.plot_scores(series, path, title=title, label=label)

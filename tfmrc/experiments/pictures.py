"""Figures and samples of runs: curves, lengths, sources of words, attention, means of a grid."""

import csv
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Report, Score
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.scoring import EvaluationSet, SourceResults, TaskPredictions
from tfmrc.predictors import Predictor, Query
from tfmrc.utils.files import write_text

NUM_ATTRIBUTIONS = 3
"""Number of answers whose mixture weights are drawn."""

NUM_SAMPLES = 10
"""Number of examples that `samples.md` shows."""


def draw_run(
    run: Plan, predictor: Predictor[Any], results: SourceResults, target: Path, report: Report
) -> None:
    """Draws the figures of one run: curves, answerability, lengths, sources of words, attention.

    Args:
        run: `Plan`. The run.
        predictor: Its predictor.
        results: `SourceResults`. Its predictions.
        target: Path. The folder.
        report: `Report`. The report.
    """
    for picture in run.folder.glob("learning_curves.*"):  # drawn at the end of training
        shutil.copyfile(picture, target / picture.name)
    answers = [task for task in results.main if task.submission.target == "answer"]
    last = answers[-1].submission if answers else None
    chances = last and last.scores("answerable_probability", last.answerable)
    if last and chances:
        curve = evaluation.precision_recall_curve(chances, last.answerable)
        evaluation.plot_precision_recall(curve, target / "answer_possibility")
    if not all(file.is_text for file in results.files):
        return  # the model ranks and classifies, but writes no text
    examples, shown = results.test.examples, {_row_name(task): task for task in results.main}
    if last:
        draw_attributions(examples, last.predictions, target)
        lengths = [row for task in answers for row in lengths_of(task)]
        if lengths:
            rows = evaluation.answer_lengths(lengths)
            evaluation.plot_answer_lengths(rows, target / "answer_lengths")
    write_samples(examples, shown, target, run.seed, report.title)
    first = next((example for example in examples if example.answers), None)
    if "gated_self_attention" in getattr(predictor.model, "ATTENTION", ()) and first is not None:
        asked = Query.of(first, predictor.task())  # as it was asked about
        found = predictor.attention(
            question=first.question,
            passages=asked.passage,
            answer=asked.answer,
            answer_start=asked.answer_start,
        )
        if "gated_self_attention" in found:  # Figure 5 of Zhao et al. 2018
            found["gated_self_attention"].plot(target / "self_attention", f"Answer: {asked.answer}")


def _row_name(task: TaskPredictions, system: str = "") -> str:
    """Returns the name of a task in figures and samples, with that of one of several systems."""
    label = "question" if task.submission.target == "question" else task.style or "answer"
    return ", ".join(filter(None, ("" if system and label == "answer" else label, system)))


def lengths_of(task: TaskPredictions) -> list[tuple[str, str, str]]:
    """Returns style, query type (or question word) and text of answers and first references."""
    rows = []
    known, style = task.submission.answers, _row_name(task)
    for example in task.examples:
        if example.id in known:
            group = example.query_type or evaluation.question_word(example.question)
            rows.append((style, group, task.submission.predictions[example.id].answer))
            rows.append((f"{style}, reference", group, known[example.id][0]))
    return rows


def draw_attributions(
    examples: Sequence[Example], predictions: Mapping[str, Prediction], target: Path
) -> None:
    """Writes pages of the sources of the words of the first answers, if the predictor has them.

    Masque's Figure 1: `mixture_weights_N.html`.

    Args:
        examples: list of `Example`. The examples.
        predictions: dict. Predictions by id.
        target: Path. The folder.
    """
    drawn = [e for e in examples if e.answers and predictions[e.id].provenance]
    for number, example in enumerate(drawn[:NUM_ATTRIBUTIONS], 1):
        prediction = predictions[example.id]
        relevance = prediction.scores.get("relevance")
        page = evaluation.attribution_html(
            prediction.provenance,
            question=example.question,
            passages=example.passages[: len(relevance)] if relevance else example.passages,
            relevance=relevance[: len(example.passages)] if relevance else None,
            title=f"{example.id}: {prediction.answer}",
        )
        write_text(target / f"mixture_weights_{number}.html", page)


def write_samples(
    examples: Sequence[Example],
    tasks: Mapping[str, TaskPredictions],
    target: Path,
    seed: int,
    title: str,
) -> None:
    """Writes `samples.md`: texts of styles, tasks or systems for some examples, side by side.

    Args:
        examples: list of `Example`. The examples; the sample is drawn from those with references.
        tasks: dict. Predictions by name of the row.
        target: Path. The folder.
        seed: int. Seed of the sample.
        title: str. The heading.
    """
    given = {name: task.submission for name, task in tasks.items()}
    some = [e for e in examples if any(e.id in system.answers for system in given.values())]
    # Some tasks are not given every example.
    of_all = [e for e in some if all(e.id in system.predictions for system in given.values())]
    some = of_all or some
    drawn = random.Random(seed).sample(some, min(NUM_SAMPLES, len(some)))
    ids = [example.id for example in drawn]
    given = {name: each for name, each in given.items() if {*ids} <= each.predictions.keys()}
    if not given:
        return
    is_short = all(len(example.passages) == 1 for example in drawn)
    page = evaluation.sample_table(
        {name: {key: each.predictions[key].answer for key in ids} for name, each in given.items()},
        {name: {key: each.answers.get(key, ()) for key in ids} for name, each in given.items()},
        {example.id: example.question for example in drawn},
        title=title,
        column="text",
        passages={example.id: example.passages[0] for example in drawn} if is_short else None,
    )
    write_text(target / "samples.md", page)


# === A grid ===


def draw_table(
    runs: Sequence[Plan],
    tasks: Mapping[str, Sequence[TaskPredictions]],
    test: EvaluationSet,
    target: Path,
    report: Report,
) -> None:
    """Draws the figures of a grid, and writes samples side by side.

    Args:
        runs: list of `Plan`. The trained runs.
        tasks: dict. Predictions by system, one entry per task.
        test: `EvaluationSet`. The test examples.
        target: Path. The folder.
        report: `Report`. The report, which includes scores of human questions.
    """
    draw_curves(runs, target)
    name = test.name
    systems = {
        system.removeprefix(f"{name}_"): rows
        for system, rows in report.systems.items()
        if system == name or system.startswith(f"{name}_")
    }
    for picture, score, label in (("oracle", "f1", "F1"), ("oracle_em", "exact_match", "EM")):
        _draw_bars(systems, rf"{score}(@.*)", target / picture, "K-best oracle", f"{label} (%)")
    words = target / "question_words"
    _draw_bars(systems, r"f1_(.*)", words, "By question word", "F1 (%)")
    rates = {
        system: float(row)
        for system, rows in systems.items()
        for key, row in rows.items()
        if key.endswith("duplication_rate") and row.value is not None
    }
    if rates:  # Figure 4 of Zhao et al.
        label = "word duplication rate (%)"
        evaluation.plot_scores({"duplication": rates}, target / "duplication", label=label)
    shown = {
        _row_name(task, system.removeprefix(f"{name}_")): task
        for system, several in tasks.items()
        for task in several
    }
    write_samples(test.examples, shown, target, runs[0].seed, report.title)


def _draw_bars(
    systems: Mapping[str, Mapping[str, Score]], pattern: str, path: Path, title: str, label: str
) -> None:
    """Plots the scores whose names match as bars, by what the pattern's group has."""
    table: dict[str, dict[str, float]] = {}
    for system, rows in systems.items():
        for key, row in rows.items():
            match = re.fullmatch(pattern, key)
            if match and row.value is not None:
                name = match[1].replace("@", "K = ")
                table.setdefault(system, {})[name] = row.value
    if table:
        evaluation.plot_scores(table, path, title=title, label=label)


def draw_curves(runs: Sequence[Plan], target: Path) -> None:
    """Draws the variants' validation losses, means over the seeds, in total and of each part.

    Variants whose losses have different parts, so that their sums are not comparable, share the
    figures of the parts that they have in common.

    Args:
        runs: list of `Plan`. The trained runs.
        target: path. The folder.
    """
    logs: dict[str, list[Path]] = {}
    for member in runs:
        logs.setdefault(member.variant or member.experiment.name, []).append(
            member.folder / folders.LOG
        )
    columns = {variant: _columns(paths[0]) for variant, paths in logs.items()}
    every = list(dict.fromkeys(name for names in columns.values() for name in names))
    for column in every:
        if not column.startswith("val_") or not column.endswith("loss"):
            continue
        part = column.removeprefix("val_").removesuffix("loss").strip("_")
        if part.endswith("coverage"):
            continue
        selected = {variant: paths for variant, paths in logs.items() if column in columns[variant]}
        path = target / (f"{part}_curves" if part else "learning_curves")
        title = f"Loss: {part}" if part else "Learning curves"
        evaluation.plot_runs(selected, path, metric=column, title=title)


def _columns(log: Path) -> list[str]:
    with log.open(encoding="utf-8", newline="") as file:
        return list(next(csv.reader(file), []))

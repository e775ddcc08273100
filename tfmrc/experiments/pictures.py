"""Figures and samples of runs: curves, lengths, sources of words, attention, means of a grid."""

import csv
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Reference, Report, Scores
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.scoring import Written, answerability
from tfmrc.predictors import Query
from tfmrc.utils.files import write_text

NUM_ATTRIBUTIONS = 3
"""Number of answers whose mixture weights are drawn."""

NUM_SAMPLES = 10
"""Number of examples that `samples.md` shows."""


def draw_run(
    member: Plan,
    predictor: Any,
    examples: Sequence[Example],
    written: Sequence[Written],
    target: Path,
    title: str,
) -> None:
    """Draws the figures of one run: curves, answerability, lengths, sources of words, attention.

    Args:
        member: `Plan`. The run.
        predictor: Its predictor.
        examples: list of `Example`. The test examples.
        written: list of `Written`. Predictions of each task.
        target: Path. The folder.
        title: str. Heading of the samples.
    """
    for picture in member.folder.glob("learning_curves.*"):  # drawn at the end of training
        shutil.copyfile(picture, target / picture.name)
    answers = [each for each in written if each.target == "answer"]
    if answers:
        labels, chances = answerability(examples, answers[-1].predictions)
        if labels:
            curve = evaluation.precision_recall_curve(chances, labels)
            evaluation.plot_precision_recall(curve, target / "answer_possibility")
    if not getattr(predictor.model, "has_decoder", True):
        return  # the model ranks and classifies, but writes no text
    if answers:
        draw_attributions(examples, answers[-1].predictions, target)
        lengths = [row for each in answers for row in lengths_of(each)]
        if lengths:
            evaluation.plot_answer_lengths(
                evaluation.answer_lengths(lengths), target / "answer_lengths"
            )
    samples = {_sample_label("", each): each for each in written}
    write_samples(examples, samples, target, seed=member.seed, title=title)
    if has_self_attention(predictor.model):
        first = next((example for example in examples if example.answers), None)
        if first is not None:
            asked = Query.of(first, predictor.task())  # as it was asked about
            draw_self_attention(
                predictor,
                asked.passage,
                asked.answer,
                target / "self_attention",
                asked.answer_start,
            )


def _label(written: Written) -> str:
    if written.target == "question":
        return "question"
    return written.style or "answer"


def lengths_of(written: Written) -> list[tuple[str, str, str]]:
    """Returns style, query type (or question word) and text of answers and first references."""
    rows = []
    known, style = written.references, _label(written)
    for example in written.examples:
        if example.id in known:
            group = example.query_type or evaluation.question_word(example.question)
            rows.append((style, group, written.predictions[example.id].answer))
            rows.append((f"{style}, reference", group, known[example.id][0]))
    return rows


def draw_attributions(
    examples: Sequence[Example], predictions: Mapping[str, Prediction], target: Path
) -> None:
    """Draws the sources of the words of the first answers, if the predictor has them.

    Masque's Figure 1: `mixture_weights_N` as PNG, SVG and HTML.

    Args:
        examples: list of `Example`. The examples.
        predictions: dict. Predictions by id.
        target: Path. The folder.
    """
    drawn = [e for e in examples if e.answers and predictions[e.id].provenance]
    for number, example in enumerate(drawn[:NUM_ATTRIBUTIONS], 1):
        prediction = predictions[example.id]
        parts = evaluation.attribution_of(prediction.provenance)
        path = target / f"mixture_weights_{number}"
        evaluation.plot_attribution(
            parts["words"], parts["sources"], parts["weights"], path, title=example.question
        )
        relevance = prediction.scores.get("relevance")
        page = evaluation.attribution_html(
            **parts,
            question=example.question,
            passages=example.passages[: len(relevance)] if relevance else example.passages,
            relevance=relevance[: len(example.passages)] if relevance else None,
            title=f"{example.id}: {prediction.answer}",
        )
        write_text(path.with_suffix(".html"), page)


def write_samples(
    examples: Sequence[Example],
    written: Mapping[str, Written],
    target: Path,
    *,
    seed: int,
    title: str,
) -> None:
    """Writes `samples.md`: texts of styles, tasks or systems for some examples, side by side.

    Args:
        examples: list of `Example`. The examples; the sample is drawn from those with references.
        written: dict. Predictions by name of the row.
        target: Path. The folder.
        seed: int. Seed of the sample.
        title: str. The heading.
    """
    known = {name: each.references for name, each in written.items()}
    some = [e for e in examples if any(e.id in texts for texts in known.values())]
    # Some tasks are not given every example.
    of_all = [e for e in some if all(e.id in each.predictions for each in written.values())]
    some = of_all or some
    drawn = random.Random(seed).sample(some, min(NUM_SAMPLES, len(some)))
    shown = {
        name: each
        for name, each in written.items()
        if all(example.id in each.predictions for example in drawn)
    }
    if not shown:
        return
    references = {
        name: {
            e.id: Reference(e.id, tuple(dict.fromkeys(known[name].get(e.id, ()))), e.question)
            for e in drawn
        }
        for name in shown
    }
    page = evaluation.sample_table(
        {name: {e.id: each.texts[e.id] for e in drawn} for name, each in shown.items()},
        references,
        [e.id for e in drawn],
        title=title,
        column="text",
        passages={e.id: " ".join(e.passages) for e in drawn} if _is_short(drawn) else None,
    )
    write_text(target / "samples.md", page)


def _sample_label(system: str, written: Written) -> str:
    """Returns the name of a row of samples: the task, unless it is an answer, and the system."""
    label = _label(written)
    return ", ".join(
        part for part in (label if label != "answer" or not system else "", system) if part
    )


def _is_short(examples: Sequence[Example]) -> bool:
    """Returns True if every example has one passage, so that passages are shown."""
    return all(len(example.passages) == 1 for example in examples)


def has_self_attention(model: Any) -> bool:
    """Returns True if a model exposes the weights of its self-attention."""
    if not hasattr(model, "self_attention_weights"):
        return False
    return bool(model.get_config().get("self_attention", True))


def draw_self_attention(
    predictor: Any, passage: str, answer: str, path: Path, answer_start: int = -1
) -> list[Path]:
    """Draws the self-attention of a passage's words: Figure 5 of Zhao et al. 2018.

    Args:
        predictor: A `MaxoutPointerQGPredictor` whose model has self-attention.
        passage: str. The passage.
        answer: str. A part of it.
        path: Path. The figure's name without ending.
        answer_start: int. Offset of the answer's first character; -1 for its first occurrence.
            Default: -1.

    Returns:
        The files.
    """
    source = predictor.preprocessor.source([passage], [answer], [answer_start])
    weights = np.array(predictor.model.self_attention_weights(source))[0]
    words = [word.decode() for word in source["words"][0].numpy()]
    return evaluation.plot_heat_map(weights, words, path, title=f"Answer: {answer}")


# === A grid ===


def draw_table(
    experiment: Any,
    runs: Sequence[Plan],
    means: Mapping[str, Sequence[tuple[str, Scores]]],
    written: Mapping[str, Sequence[Written]],
    tested: Any,
    target: Path,
    report: Report,
) -> None:
    """Draws the figures of a grid, and writes samples side by side.

    Args:
        experiment: The experiment.
        runs: list of `Plan`. Its trained runs.
        means: dict. Means of the scores over the seeds, by system.
        written: dict. Predictions by system, one entry per task.
        tested: The test examples.
        target: Path. The folder.
        report: `Report`. The report, which includes scores of human questions.
    """
    draw_curves(runs, target)
    name = experiment.name
    series = {
        system.removeprefix(f"{name}_") or name: {
            row.name: row for _, scores in entries for row in scores.rows if row.value is not None
        }
        for system, entries in means.items()
        if system == name or system.startswith(f"{name}_")
    }
    for picture, score, label in (("oracle", "f1", "F1"), ("oracle_em", "exact_match", "EM")):
        _draw_bars(
            series,
            lambda key, score=score: (
                f"K = {key.rpartition('@')[2]}" if key.startswith(f"{score}@") else None
            ),
            target / picture,
            "K-best oracle",
            f"{label} (%)",
        )
    _draw_bars(
        series,
        lambda key: key.removeprefix("f1_") if key.startswith("f1_") else None,
        target / "question_words",
        "By question word",
        "F1 (%)",
    )
    _draw_repetition(series, report, name, target)
    shown = {
        _sample_label(system.removeprefix(f"{name}_"), each): each
        for system, entries in written.items()
        for each in entries
    }
    write_samples(tested.examples, shown, target, seed=runs[0].seed, title=report.title)


def _draw_bars(
    series: Mapping[str, Mapping[str, Any]], shown: Any, path: Path, title: str, label: str
) -> None:
    """Plots the scores that `shown` names as bars; writes nothing if there are none."""
    table = {
        system: {name: float(row) for key, row in rows.items() if (name := shown(key)) is not None}
        for system, rows in series.items()
    }
    table = {system: rows for system, rows in table.items() if rows}
    if table:
        evaluation.plot_scores(table, path, title=title, label=label)


def _draw_repetition(
    series: Mapping[str, Mapping[str, Any]], report: Report, name: str, target: Path
) -> None:
    """Plots word duplication rates of systems and human questions: Figure 4 of Zhao et al."""
    table: dict[str, dict[str, float]] = {"duplication": {}}
    for system, rows in series.items():
        for key, row in rows.items():
            if key.endswith("duplication_rate"):
                table["duplication"][system] = float(row)
    own = report.systems.get(f"{name}_human", {})
    for key, row in own.items():
        if key.endswith("duplication_rate") and row.value is not None:
            table["duplication"]["people"] = float(row)
    if table["duplication"]:
        label = "word duplication rate (%)"
        evaluation.plot_scores(table, target / "duplication", label=label)


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

"""Score a trained recipe on its test examples, beside two baselines and the paper's figures."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Report
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.answer import answer_all, options_of
from tfmrc.experiments.configuration import Recipe, Source
from tfmrc.experiments.environment import in_words
from tfmrc.experiments.plots import draw_attributions, lengths_of, write_samples
from tfmrc.experiments.sources import data_folder, limited, splits
from tfmrc.predictors import Predictor

BASELINES = {
    "first sentence": lambda example: evaluation.first_sentence(example.passages),
    "most similar sentence": lambda example: evaluation.most_similar_sentence(
        example.question, example.passages
    ),
}
THRESHOLD = 0.5  # the probability from which on a question counts as answerable


def evaluate(
    recipe: Recipe, data: str | Path | None = None, run: str | Path | None = None
) -> list[Path]:
    """Answer a recipe's test examples and score the answers.

    For each source with a test file, the run's folder gets `evaluation/SOURCE/` with `metrics.json`
    (each figure with its scorer, version, tokenisation, size, split and seed), `report.md` (the
    table, the paper's figures beside ours), `predictions.jsonl`, and pictures as PNG and SVG:
    learning curves, precision and recall of the answer possibility, answer lengths by query type or
    question word, and for a few answers the mixture weights of every word (also as an HTML page
    that shows where in the passages each word came from).

    Args:
        recipe: the recipe.
        data: the data folder; TFMRC_DATA unless given.
        run: the run's folder; `runs/NAME` unless given.

    Returns:
        The folders that were written.

    Raises:
        ValueError: the run is not trained, or the data is not there.
    """
    folder = places.run_folder(recipe, run)
    training = places.read_json(folder / places.TRAINING, "train")
    predictor: Predictor = Predictor.load(folder / places.PREDICTOR)
    written = []
    for number, part in enumerate(splits(recipe, data_folder(data))):
        if part.test is None:
            continue
        target = folder / places.EVALUATION / source_folder(number, part.source)
        examples = limited(part.test, recipe.evaluation.limit)
        _evaluate_source(recipe, part.source, examples, predictor, training, target)
        evaluation.plot_learning_curves(folder / "log.csv", target / "learning_curves")
        written.append(target)
    return written


def _evaluate_source(
    recipe: Recipe,
    source: Source,
    examples: Sequence[Example],
    predictor: Predictor,
    training: dict[str, Any],
    target: Path,
) -> None:
    target.mkdir(parents=True, exist_ok=True)
    report = Report(
        recipe.title or recipe.name,
        dataset=source.title or source.format,
        split=split_of(source, recipe, len(examples)),
        seed=recipe.seed,
        details=_details(recipe, training),
        paper=source.paper,
    )
    lengths: list[tuple[str, str, str]] = []
    by_style: dict[str, Mapping[str, Prediction]] = {}
    for style in source.styles:
        prefix = prefix_of(source, style)
        path = target / f"predictions-{style}-{_digest(recipe, training)}.jsonl"
        predictions = answer_all(predictor, examples, style, path, recipe.evaluation)
        if not predictor.model.has_decoder:
            continue  # it ranks and says what can be answered, but writes no text
        by_style[style] = predictions
        references = {
            example.id: list(example.answers[style])
            for example in examples
            if style in example.answers
        }
        systems = {recipe.name: {key: found.answer for key, found in predictions.items()}} | {
            name: {example.id: answer(example) for example in examples}
            for name, answer in BASELINES.items()
        }
        for name, answers in systems.items():
            kept = {key: answers[key] for key in references}
            scores = evaluation.score_answers(kept, references, source.rules, meteor=True)
            # every question here has an answer: a decision to answer cannot be wrong
            of_text = tuple(row for row in scores.rows if not row.name.startswith("answerable"))
            report.add(name, replace(scores, rows=of_text), prefix=prefix)
        if source.format == "squad":
            kept = {key: systems[recipe.name][key] for key in references}
            report.add(recipe.name, evaluation.score_squad(kept, references), prefix=prefix)
        lengths += lengths_of(examples, predictions, references, style)
    _add_parts(report, recipe.name, examples, predictions, target)
    if lengths:
        rows = evaluation.answer_lengths(lengths)
        evaluation.plot_answer_lengths(rows, target / "answer_lengths")
    draw_attributions(examples, predictions, target)
    if by_style:
        title = f"{report.title}: samples"
        write_samples(examples, by_style, target, seed=recipe.seed, title=title)
    report.write(target)
    print(report.markdown())


def _add_parts(
    report: Report,
    system: str,
    examples: Sequence[Example],
    predictions: Mapping[str, Prediction],
    target: Path,
) -> None:
    """Scores of ranker and classifier, where the model has them and the data says what is right."""
    found = {key: prediction.scores for key, prediction in predictions.items()}
    relevance = {e.id: e.relevance for e in examples if e.relevance is not None}
    if relevance and all("relevance" in found[key] for key in relevance):
        # passages beyond what the model reads rank last
        ranked = {
            key: _padded(found[key]["relevance"], len(labels)) for key, labels in relevance.items()
        }
        report.add(system, evaluation.score_ranking(ranked, relevance))
        given = {key: [0.0] * len(labels) for key, labels in relevance.items()}
        report.add("passages in the order given", evaluation.score_ranking(given, relevance))
    answerable = {e.id: e.answerable for e in examples if e.answerable is not None}
    known = any(answerable.values()) and not all(answerable.values())
    if known and all("answerable_probability" in found[key] for key in answerable):
        possibility = {key: float(found[key]["answerable_probability"]) for key in answerable}
        always = dict.fromkeys(answerable, 1.0)
        for name, chances in ((system, possibility), ("always answerable", always)):
            scores = evaluation.score_answerability(chances, answerable, threshold=THRESHOLD)
            report.add(name, scores)
        curve = evaluation.precision_recall_curve(possibility, answerable)
        evaluation.plot_precision_recall(curve, target / "answer_possibility")


def _padded(scores: Sequence[float], length: int) -> list[float]:
    return [*scores, *[-1.0] * (length - len(scores))]


def source_folder(number: int, source: Source) -> str:
    """The name of the folder in which a source is reported.

    Args:
        number: its place among the recipe's sources, from 0.
        source: the source.
    """
    return f"{number + 1}-{source.format}-{'-'.join(source.styles)}"


def prefix_of(source: Source, style: str) -> str:
    """What stands before the names of a style's scores: the style, where there can be several."""
    return style if len(source.styles) > 1 or source.format == "msmarco" else ""


def split_of(source: Source, recipe: Recipe, size: int) -> str:
    """Which part of the data is reported on, in words."""
    options = "".join(f", {name} {value}" for name, value in source.test_options.items())
    share = "" if source.test_share >= 1 else f", {source.test_share:.0%} of the groups"
    limit = recipe.evaluation.limit
    drawn = "" if limit is None or size < limit else ", drawn by id"
    return f"{source.test}{options}{share}, {size:,} questions{drawn}"


def _details(recipe: Recipe, training: dict[str, Any]) -> dict[str, Any]:
    search = options_of(recipe.evaluation)
    return {
        "Training": f"{training['steps']:,} steps of {recipe.training.batch_size} in "
        f"{training['seconds'] / 60:.1f} minutes, ended by: {training['ended_by']}",
        "Weights": f"{training['weights']:,}",
        "Machine": in_words(training["machine"]),
        "Search": ", ".join(f"{name} {value}" for name, value in search.items()),
        "Versions": ", ".join(f"{k} {v}" for k, v in training["machine"]["versions"].items()),
    }


def _digest(recipe: Recipe, training: dict[str, Any]) -> str:
    """Answers are taken up again only if training and search are the same."""
    facts = [training, options_of(recipe.evaluation)]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:8]

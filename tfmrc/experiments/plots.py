"""What a run's answers look like: samples, lengths, and where their words came from."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Reference

NUM_ATTRIBUTIONS = 3
"""For so many answers the mixture weights are drawn."""

NUM_SAMPLES = 10
"""So many questions are shown with the answers of all styles."""


def lengths_of(
    examples: Sequence[Example],
    predictions: Mapping[str, Prediction],
    references: Mapping[str, Sequence[str]],
    style: str,
) -> list[tuple[str, str, str]]:
    """Style, query type (or question word) and text of the answers and the first references."""
    rows = []
    for example in examples:
        if example.id in references:
            group = example.query_type or evaluation.question_word(example.question)
            rows.append((style, group, predictions[example.id].answer))
            rows.append((f"{style}, reference", group, references[example.id][0]))
    return rows


def draw_attributions(
    examples: Sequence[Example], predictions: Mapping[str, Prediction], target: Path
) -> None:
    """Masque's Figure 1 for the first answers: `mixture_weights_N` as PNG, SVG and HTML.

    Args:
        examples: what was answered.
        predictions: by id, with provenance where the model says it.
        target: the folder.
    """
    chosen = [e for e in examples if e.answers and predictions[e.id].provenance]
    for number, example in enumerate(chosen[:NUM_ATTRIBUTIONS], 1):
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
        path.with_suffix(".html").write_text(page, encoding="utf-8")


def write_samples(
    examples: Sequence[Example],
    predictions: Mapping[str, Mapping[str, Prediction]],
    target: Path,
    *,
    seed: int,
    title: str,
) -> None:
    """Masque's Tables 6 and 7: `samples.md` with the answers of all styles side by side.

    Args:
        examples: what was answered; those that have references are drawn from.
        predictions: by style and id.
        target: the folder.
        seed: of the drawing.
        title: the page's heading.
    """
    some = [e for e in examples if any(style in e.answers for style in predictions)]
    drawn = random.Random(seed).sample(some, min(NUM_SAMPLES, len(some)))
    answers = {
        style: {e.id: found[e.id].answer for e in drawn} for style, found in predictions.items()
    }
    references = {
        style: {e.id: Reference(e.id, tuple(e.answers.get(style, ())), e.question) for e in drawn}
        for style in predictions
    }
    page = evaluation.sample_table(answers, references, [e.id for e in drawn], title=title)
    (target / "samples.md").write_text(page, encoding="utf-8")

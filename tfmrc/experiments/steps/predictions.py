"""Held-out examples with what a trained model predicts for them."""

from collections.abc import Iterable, Mapping
from typing import Any

from tfmrc.data import Example, TrainingExample
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.experiments.answering import Asked
from tfmrc.predictors.base import Predictor
from tfmrc.utils.pipes import print_text

NUM_EXAMPLES = 3


def print_predictions(
    predictor: Predictor[Any], records: Iterable[TrainingExample], options: Mapping[str, Any]
) -> None:
    """Prints expected and predicted texts of three examples, drawn by their ids.

    They show nonsense whatever the loss is. A model without a decoder writes no text.

    Args:
        predictor: The trained predictor.
        records: iterable of `TrainingExample`. Held-out examples.
        options: dict. Options of the predictor.
    """
    if not predictor.tasks or not getattr(predictor.model, "has_decoder", True):
        return
    tasks = {task.style: task for task in reversed(predictor.tasks)}
    print_text(f"{NUM_EXAMPLES} held-out examples:")
    for record in draw_by_id({each.example.id: each for each in records}.items(), NUM_EXAMPLES):
        task = tasks.get(record.style, predictor.tasks[0])
        example = Asked.of(predictor, task.name)(record.example)
        if not isinstance(example, Example):
            continue
        (result,) = predictor.predict([example], task=task, **options)
        texts = {"question": example.question, "expected": record.answer}
        if task.target == "question":
            texts = {"answer": record.answer, "expected": example.question}
        for name, text in (texts | {"predicted": result.headline}).items():
            print_text(f"  {name:<10}{' '.join(text.split()) or '(none)'}")

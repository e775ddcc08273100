"""Answer examples with a trained predictor, into a file that a stopped run goes on with."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Any

from tfmrc.data import Example
from tfmrc.evaluation import Prediction, read_predictions, write_predictions
from tfmrc.experiments.configuration import Evaluation
from tfmrc.predictors import Answer, Predictor


def options_of(chosen: Evaluation) -> dict[str, Any]:
    """A recipe's settings as the predictor's options of the search."""
    return {
        "num_beams": chosen.num_beams,
        "length_penalty": chosen.length_penalty,
        "max_length": chosen.max_length,
    }


def prediction_of(example_id: str, answer: Answer, style: str) -> Prediction:
    """An answer as a line of a prediction file."""
    scores = {
        "score": answer.score,
        "answerable_probability": answer.answerable_probability,
        "relevance": None if answer.relevance is None else list(answer.relevance),
        "truncated": answer.truncated,
    }
    words = tuple(
        {
            "text": word.text,
            "source": word.source,
            "passage": word.passage,
            "start": word.start,
            "end": word.end,
            "mixture": list(word.mixture),
        }
        for word in answer.words
    )
    kept = {name: value for name, value in scores.items() if value is not None}
    return Prediction(example_id, answer.text, style, kept, words)


@dataclass(frozen=True)
class StyledReader:
    """A predictor that answers in one style, as `tfmrc.evaluation.PredictionSource` wants it.

    Args:
        predictor: answers.
        style: of the answers.
        chosen: size of the batches and options of the search.
    """

    predictor: Predictor
    style: str
    chosen: Evaluation

    def predict(self, examples: Iterable[Example], /) -> Iterator[Prediction]:
        """One prediction an example, in their order."""
        named, asked = tee(examples)
        answers = self.predictor.predict(
            asked,
            task=self.style,
            batch_size=self.chosen.batch_size,
            **options_of(self.chosen),
        )
        for answer in answers:
            yield prediction_of(next(named).id, answer, self.style)


def answer_all(
    predictor: Predictor,
    examples: Sequence[Example],
    style: str,
    path: Path,
    chosen: Evaluation,
) -> dict[str, Prediction]:
    """Answer examples in a style; those that the file already answers are not asked again.

    Args:
        predictor: answers.
        examples: what to answer; their ids differ.
        style: of the answers.
        path: file of JSON lines, written as the answers come.
        chosen: size of the batches and options of the search.

    Returns:
        The predictions by id, in the order of the examples.
    """
    asked = _shown(examples, style)
    write_predictions(StyledReader(predictor, style, chosen), asked, path, style=style)
    known = read_predictions(path, style=style)
    return {example.id: known[example.id] for example in examples}


def _shown(examples: Sequence[Example], style: str) -> Iterator[Example]:
    """The examples, with progress on the terminal: a bar there, a line now and then in a log."""
    from rich.progress import track

    total = len(examples)
    label = f"answering {total:,} questions ({style})"
    if sys.stdout.isatty():
        yield from track(examples, label, total=total)
        return
    print(label, flush=True)
    every = max(1, total // 10)
    for number, example in enumerate(examples, 1):
        if number % every == 0:
            print(f"  {number:,}", flush=True)
        yield example

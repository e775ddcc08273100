"""How a model is plugged in: it predicts a stream of examples, and the answers go into a file."""

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from tfmrc.evaluation.files.predictions import Prediction, PredictionWriter


class Predictor(Protocol):
    """What the evaluation asks of a model, whatever it is."""

    def predict(self, examples: Iterable[Any], /) -> Iterator[Prediction]:
        """One prediction an example, in their order; the examples may be a stream."""


def write_predictions(
    predictor: Predictor, examples: Iterable[Any], path: str | Path, *, style: str = ""
) -> int:
    """Predict a stream of examples into a file of JSON lines, and go on where it stopped.

    Examples that the file already answers in this style are not asked again. Nothing is held but
    what the predictor holds, and the ids.

    Args:
        predictor: the model, or what stands before it.
        examples: objects with an `id`, as `tfmrc.data.Example`.
        path: the file.
        style: that of the predictions.

    Returns:
        How many predictions were written by this call.

    Raises:
        ValueError: the predictor gave another id, another style, or fewer or more predictions than
            it was asked for.

    Example:

    >>> import tempfile, types
    >>> class Echo:
    ...     def predict(self, examples):
    ...         return (Prediction(example.id, example.id.upper()) for example in examples)
    >>> examples = [types.SimpleNamespace(id=name) for name in "ab"]
    >>> path = tempfile.mkdtemp() + "/predictions.jsonl"
    >>> write_predictions(Echo(), examples, path), write_predictions(Echo(), examples, path)
    (2, 0)
    """
    asked: deque[str] = deque()
    written = 0
    with PredictionWriter(path, resume=True) as writer:

        def left() -> Iterator[Any]:
            for example in examples:
                if (example.id, style) not in writer.done:
                    asked.append(example.id)
                    yield example

        for prediction in predictor.predict(left()):
            wanted = asked.popleft() if asked else None
            if (prediction.id, prediction.style) != (wanted, style):
                raise ValueError(
                    f"a predictor answers in the order asked; wanted: id={wanted!r}, "
                    f"style={style!r}. Received: id={prediction.id!r}, style={prediction.style!r}"
                )
            writer.write(prediction)
            written += 1
    if asked:
        raise ValueError(f"{len(asked)} examples were not answered. Received: {asked[0]!r} first")
    return written

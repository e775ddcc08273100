"""Predicting a stream of examples into a file."""

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from tfmrc.evaluation.files.predictions import Prediction, PredictionWriter


class PredictionSource(Protocol):
    """The interface of a model that `write_predictions` runs."""

    def predict(self, examples: Iterable[Any], /) -> Iterator[Prediction]:
        """Yields one prediction per example, in order; the examples may be a stream."""


def write_predictions(
    source: PredictionSource, examples: Iterable[Any], path: str | Path, *, style: str = ""
) -> int:
    """Predicts a stream of examples into a file of JSON lines, and resumes an interrupted file.

    Examples that the file already answers in this style are skipped. Only the ids are held in
    memory.

    Args:
        source: `PredictionSource`. The model, or a wrapper around it.
        examples: iterable. Objects with an `id`, such as `tfmrc.data.Example`.
        path: str or path. The file.
        style: str. The style of the predictions. Default: "".

    Returns:
        The number of predictions that this call wrote.

    Raises:
        ValueError: If a prediction has another id or style than its example, or there are fewer or
            more predictions than examples.

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
    pending: deque[str] = deque()
    written = 0
    with PredictionWriter(path, resume=True) as writer:

        def remaining() -> Iterator[Any]:
            for example in examples:
                if (example.id, style) not in writer.done:
                    pending.append(example.id)
                    yield example

        for prediction in source.predict(remaining()):
            expected = pending.popleft() if pending else None
            if (prediction.id, prediction.style) != (expected, style):
                raise ValueError(
                    f"Predictions must be in the order of the examples. Expected: id={expected!r}, "
                    f"style={style!r}. Received: id={prediction.id!r}, style={prediction.style!r}"
                )
            writer.write(prediction)
            written += 1
    if pending:
        raise ValueError(
            f"{len(pending)} examples have no prediction. Received: {pending[0]!r} first"
        )
    return written

"""Computes simultaneous requests: small ones in batches, large ones alone."""

import math
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedSignature
from tfmrc.serving.cost import CostEstimator
from tfmrc.serving.lane import Answer, Arrays, Lane, Request
from tfmrc.serving.limits import Limits
from tfmrc.serving.metrics import Metrics

#: Outputs with a column per word or candidate, by the output that gives the count of each row.
RAGGED = {
    "num_words": (
        "words sources source_texts word_passages word_starts word_ends mixture".split(),
        lambda counts: counts,
    ),
    "answer_starts": (
        "answers answer_starts questions probabilities log_probabilities finished "
        "truncated".split(),
        lambda starts: (starts >= 0).sum(axis=1),
    ),
}


class Batcher:
    """Computes the requests of one model: small ones in batches, large ones alone.

    Small requests for the same signature that wait while another batch is computed are
    concatenated, computed and split. Ragged rows of strings are padded with empty strings, which
    mean a missing passage. Each request gets the answer that it would get alone: outputs with a
    column per word or candidate are cut to the longest of the request's own rows. If the graph
    refuses a batch, its halves are computed, so that an invalid request does not affect the others.

    Large requests (see `Cost.is_small`) are computed one after another in a second thread, so that
    no small one waits for them; cancelling the answer ends the call. The second thread also
    computes requests for signatures that cannot be batched (see `is_batchable`), and requests for a
    SavedModel without a model card, because the effect of padding on it is unknown.

    Args:
        signatures: dict. For each name a `tfmrc.predictors.exported.signature.SavedSignature`.
        limits: `Limits` or None. Limits of a request, a batch and the queues. Default: None.
        card: dict or None. The model card. Default: None.
        name: str. The model's name, for metrics. Default: "".
        metrics: `Metrics` or None. Metrics of the server. Default: None.
    """

    def __init__(
        self,
        signatures: Mapping[str, SavedSignature],
        limits: Limits | None = None,
        *,
        card: Mapping[str, Any] | None = None,
        name: str = "",
        metrics: Metrics | None = None,
    ):
        self._limits = limits or Limits()
        self._signatures = dict(signatures)
        self._batchable = {
            key: bool(card) and is_batchable(signature) for key, signature in signatures.items()
        }
        self._estimate = CostEstimator(card or {})
        metrics = metrics or Metrics()
        self._small = Lane((name, "small"), self._compute, self._limits, metrics)
        self._large = Lane((name, "large"), self._compute, self._limits, metrics)

    def request(self, signature: str, arrays: Arrays) -> Request:
        """Returns a request with its cost.

        Args:
            signature: str. Name of the signature.
            arrays: dict. The arrays of its inputs.

        Raises:
            RequestError: If it costs too much (status 413).
        """
        cost = self._estimate(arrays)
        if cost.words > self._limits.words:
            message = (
                f"The model would read and write about {cost.words:,} words for this request; the "
                f"limit is {self._limits.words:,}."
            )
            raise RequestError(message, 413, reason="cost")
        sizes = {len(array) if array.ndim else 0 for array in arrays.values()}
        rows = max(sizes, default=0)
        key = None
        # Inputs with different numbers of rows are refused by the graph.
        if self._batchable[signature] and len(sizes) == 1 and 0 < rows and cost.is_small:
            # Only strings are padded: rows of numbers must have equal shapes.
            shapes = (() if a.dtype == object else a.shape[1:] for a in arrays.values())
            key = (signature, *shapes)
        return Request(signature, arrays, rows, cost, key)

    def submit(self, request: Request, seconds: float = math.inf) -> Answer:
        """Enqueues a request.

        Args:
            request: `Request`. From `request`.
            seconds: float. The deadline. Default: infinity.

        Returns:
            A future of the output arrays. A request that is cancelled before its batch begins is
            not computed.

        Raises:
            RequestError: If the queue is full, or the batcher is closed (status 503).
        """
        is_small = request.key is not None and request.cost.windows <= self._limits.batch_rows
        (self._small if is_small else self._large).submit(request, seconds)
        return request.answer

    def close(self) -> None:
        """Lets the threads compute the waiting requests and end; returns immediately."""
        self._small.close()
        self._large.close()

    def _compute(self, batch: Sequence[Request]) -> None:
        """Computes a batch and sets the answers."""
        signature = self._signatures[batch[0].signature]
        begin = time.perf_counter()
        try:
            if len(batch) == 1:
                with batch[0].answer.cancellation.active():
                    outputs = signature.run(batch[0].arrays)
            else:
                names = batch[0].arrays
                outputs = signature.run(
                    {n: _concatenated([r.arrays[n] for r in batch]) for n in names}
                )
            parts = _parts(outputs, batch) if self._batchable[batch[0].signature] else [outputs]
        except Exception as error:
            if len(batch) == 1:
                batch[0].answer.set_exception(error)
                return
            half = len(batch) // 2
            self._compute(batch[:half])
            self._compute(batch[half:])
            return
        for request, part in zip(batch, parts, strict=True):
            request.computed = time.perf_counter() - begin
            request.answer.set_result(part)


def is_batchable(signature: SavedSignature) -> bool:
    """Returns True if requests for a signature can be concatenated and the outputs split.

    All inputs must be vectors or matrices of any number of rows. All outputs must have any number
    of rows and otherwise fixed sizes, except for the columns of words and candidates.

    Args:
        signature: `tfmrc.predictors.exported.signature.SavedSignature`.
    """
    counted = [outputs for name, (outputs, _) in RAGGED.items() if name in signature.outputs]
    ragged = set(chain.from_iterable(counted))
    specs = [*signature.inputs.values(), *signature.outputs.values()]
    return (
        all(spec.shape.rank and spec.shape[0] is None for spec in specs)
        and all(spec.shape.rank <= 2 for spec in signature.inputs.values())
        and not any(
            None in tuple(spec.shape)[2 if name in ragged else 1 :]
            for name, spec in signature.outputs.items()
        )
    )


def _concatenated(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Returns the rows of arrays as one array; rows of strings are padded with empty strings."""
    if arrays[0].dtype == object and arrays[0].ndim == 2:
        width = max(array.shape[1] for array in arrays)
        padded = np.full((sum(map(len, arrays)), width), b"", dtype=object)
        row = 0
        for array in arrays:
            padded[row : row + len(array), : array.shape[1]] = array
            row += len(array)
        return padded
    return np.concatenate(arrays)


def _parts(outputs: Arrays, batch: Sequence[Request]) -> list[Arrays]:
    """Returns the outputs of each request of a batch, as if it were computed alone."""
    parts, row = [], 0
    for request in batch:
        part = {name: values[row : row + request.rows] for name, values in outputs.items()}
        row += request.rows
        for name, (ragged, count) in RAGGED.items():
            if name in part:
                most = int(count(part[name]).max(initial=0))
                part |= {key: part[key][:, :most] for key in ragged if key in part}
        parts.append(part)
    return parts

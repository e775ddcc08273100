"""Computes simultaneous requests: small ones together, each other one alone."""

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.serving.cost import CostEstimator
from tfmrc.serving.lane import Answer, Arrays, Lane, Request
from tfmrc.serving.limits import Limits
from tfmrc.serving.metrics import Metrics

__all__ = ["Batcher"]

#: Outputs with a column for each word or candidate, by the output that tells the count per row.
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
    """Computes the requests of one model: small ones together, each other one alone.

    Small requests for the same signature that wait while another batch is computed are
    concatenated, computed, and cut apart. Ragged rows of strings are padded with empty strings,
    which mean a missing passage. The answer to a request is that of the request alone: outputs with
    a column per word or candidate are cut to the longest of the request's own rows. If the graph
    refuses a batch, its halves are computed, so that a request with an error has no effect on the
    others.

    The other requests (`Cost.is_small`) are computed one after another in a second thread, so that
    no small one waits for them; cancelling an answer ends its call. So are those for a signature
    that cannot be batched (see `is_batchable`), and those of a SavedModel without a card, of which
    it is not known what padding changes.

    Args:
        signatures: dict. For each name a `tfmrc.predictors.exported.signature.SavedSignature`.
        limits: `Limits` or None. Limits of a request, a batch and the queues. Default: None.
        card: dict or None. The model card. Default: None.
        name: str. The model's name, for metrics. Default: "".
        metrics: `Metrics` or None. Metrics of the server. Default: None.
    """

    def __init__(
        self,
        signatures: Mapping[str, Any],
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
        self._alone = Lane((name, "alone"), self._compute, self._limits, metrics)

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
            raise RequestError(
                f"The model would read and write about {cost.words:,} words for this request. "
                f"Received: more than {self._limits.words:,} words",
                413,
                reason="cost",
            )
        sizes = {len(array) if array.ndim else 0 for array in arrays.values()}
        rows = max(sizes, default=0)
        key = None
        # With different numbers of rows it is an error, which the graph explains.
        if self._batchable[signature] and len(sizes) == 1 and 0 < rows and cost.is_small:
            # Rows of numbers are not padded: only requests with equal sizes are joined.
            shapes = (() if a.dtype == object else a.shape[1:] for a in arrays.values())
            key = (signature, *shapes)
        return Request(signature, arrays, rows, cost, key)

    def submit(self, request: Request, seconds: float = math.inf) -> Answer:
        """Enqueues a request.

        Args:
            request: `Request`. From `request`.
            seconds: float. Time after which its answer is of no use. Default: infinity.

        Returns:
            A future of the output arrays. A request that is cancelled before its batch begins is
            not computed.

        Raises:
            RequestError: If the queue is full, or the batcher is closed (status 503).
        """
        is_small = request.key is not None and request.cost.windows <= self._limits.batch_rows
        (self._small if is_small else self._alone).submit(request, seconds)
        return request.answer

    def close(self) -> None:
        """Computes what is waiting, and then ends the threads; returns at once."""
        self._small.close()
        self._alone.close()

    def _compute(self, batch: Sequence[Request]) -> None:
        """Computes a batch and sets the answers."""
        signature = self._signatures[batch[0].signature]
        begin = time.perf_counter()
        try:
            if len(batch) == 1:
                with batch[0].answer.cancellation.active():
                    outputs = signature.run(batch[0].arrays)
            else:
                outputs = signature.run(_joined(batch))
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


def is_batchable(signature: Any) -> bool:
    """Returns True if the requests for a signature can be joined and its outputs cut apart.

    All inputs must be vectors, or matrices, with a free number of rows; all outputs must have a
    free number of rows and otherwise fixed sizes, except for the columns of words and candidates.

    Args:
        signature: A `tfmrc.predictors.exported.signature.SavedSignature`.
    """
    ragged = {
        output
        for name, (outputs, _) in RAGGED.items()
        if name in signature.outputs
        for output in outputs
    }

    def has_free_rows(spec: Any) -> bool:
        return bool(spec.shape.rank) and spec.shape[0] is None

    return all(
        has_free_rows(spec) and spec.shape.rank <= 2 for spec in signature.inputs.values()
    ) and all(
        has_free_rows(spec) and None not in tuple(spec.shape)[2 if name in ragged else 1 :]
        for name, spec in signature.outputs.items()
    )


def _joined(batch: Sequence[Request]) -> Arrays:
    return {
        name: _concatenated([request.arrays[name] for request in batch]) for name in batch[0].arrays
    }


def _concatenated(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Returns arrays as one; rows of strings are padded with empty strings."""
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
    """Returns the outputs of each request of a batch, as the request alone has them."""
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

"""What the weights of a trained model differ from those of its start, in few bytes."""

from collections.abc import Mapping

import numpy as np

from tfmrc.encoders.hugging_face.folder import SCALE
from tfmrc.predictors.ready.shipped import LEFT, RIGHT, ROWS

SMALL = 64  # a matrix of fewer rows or columns is never a product
UNUSED = "pooled_dense"  # a part of the encoder that no model reads
CHANGED = 0.2  # up to this share of changed rows, those alone are written


def difference_of(
    trained: Mapping[str, np.ndarray], start: Mapping[str, np.ndarray], limit: int
) -> dict[str, np.ndarray]:
    """Returns what trained weights differ from those that training began with.

    A matrix that began with 0 is written whole, of one with few changed rows these rows. Of all
    others, `[m, n]`, the product of `[m, r]` and `[r, n]`, their r greatest singular values: the
    ranks are those with the smallest square error over all of them in at most `limit` bytes.

    Args:
        trained: dict. Arrays by the path of the weight.
        start: dict. The same of the start.
        limit: int. Bytes of all products.

    Returns:
        Arrays as `tfmrc.predictors.ready.shipped.add_difference` reads them, matrices in int8.
    """
    result: dict[str, np.ndarray] = {}
    factors = {}
    for path, before in start.items():
        if UNUSED in path:
            continue
        change = as_matrix(trained[path] - before)
        changed = np.flatnonzero(change.any(axis=1)) if change.ndim == 2 else np.arange(1)
        if not change.any():
            continue
        if change.ndim == 2 and before.any() and len(changed) < CHANGED * len(change):
            result |= {path: change[changed], path + ROWS: changed.astype("int32")}
        elif change.ndim == 2 and before.any() and min(change.shape) >= SMALL:
            factors[path] = np.linalg.svd(change, full_matrices=False)
        else:
            result[path] = change
    for path, rank in ranks(factors, limit).items():
        if rank == 0:
            continue
        left, values, right = factors[path]
        root = np.sqrt(values[:rank])
        result[path + LEFT] = left[:, :rank] * root
        result[path + RIGHT] = root[:, None] * right[:rank]
    return quantized(result)


def ranks(factors: Mapping[str, tuple], free: int) -> dict[str, int]:
    """Returns the rank of each matrix: singular values by their square per byte, while they fit."""
    gains = []
    for path, (left, values, right) in factors.items():
        size = left.shape[0] + right.shape[1]
        gains += [(float(value) ** 2 / size, size, path) for value in values]
    chosen = dict.fromkeys(factors, 0)
    for _, size, path in sorted(gains, reverse=True):
        if size <= free:
            chosen[path] += 1
            free -= size
    return chosen


def as_matrix(change: np.ndarray) -> np.ndarray:
    """Returns `[d, heads, size]` as `[d, heads * size]`; `[heads, size, d]` by its last axis."""
    if change.ndim < 3:
        return change
    first = change.shape[0] >= change.shape[-1]
    return change.reshape(change.shape[0], -1) if first else change.reshape(-1, change.shape[-1])


def quantized(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns matrices as int8 with a scale per row, `NAME.scale`, and the others as they are."""
    result = {}
    for name, tensor in tensors.items():
        result[name] = tensor
        if tensor.ndim == 2 and tensor.dtype.kind == "f":
            scale = np.abs(tensor).max(axis=1, keepdims=True) / 127  # [rows, 1]
            scale = np.where(scale > 0, scale, 1.0).astype("float32")
            result[name] = np.round(tensor / scale).astype("int8")
            result[name + SCALE] = scale
    return result

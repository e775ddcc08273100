"""The subwords of windows as rows of a matrix, which an encoder's layers compute on.

All but the attention of a transformer layer treats each subword by itself. On rows of real subwords
it costs as much as there is text, and not as much as the longest window makes room for.
"""

from typing import TypeAlias

from keras import ops

from tfmrc.ops.gradients import custom_gradient
from tfmrc.ops.shapes import flatten_leading, heads_to_rows, rows_to_heads
from tfmrc.ops.sizes import sizes
from tfmrc.ops.typing import Tensor


class AllSubwords:
    """A row for each position of a window, on every backend and with XLA.

    Args:
        mask: boolean `[R, P]`, False at padding. R windows of P positions.
        num_heads: int. Number H of heads.
    """

    def __init__(self, mask: Tensor, num_heads: int) -> None:
        self.sizes = sizes(mask)
        self.num_heads = num_heads

    def to_rows(self, x: Tensor) -> Tensor:
        """Returns `[R, P, d]` as `[N, d]`."""
        return flatten_leading(x, keep=1)

    def to_windows(self, x: Tensor) -> Tensor:
        """Returns `[N, d]` as `[R, P, d]`."""
        return ops.reshape(x, (*self.sizes, x.shape[-1]))

    def to_heads(self, x: Tensor) -> Tensor:
        """Returns `[N, d]` as `[R, H, P, d / H]`."""
        return rows_to_heads(x, self.sizes[1], self.num_heads)

    def from_heads(self, x: Tensor) -> Tensor:
        """Returns `[R, H, P, d / H]` as `[N, d]`."""
        return heads_to_rows(x)


class RealSubwords:
    """A row for each real subword; on TensorFlow, where sizes may depend on values.

    A padded position of a window gets the values of some real subword. Nothing may depend on it:
    it is masked where it is a key, and as a query it is not read. Its gradient is zero.

    Args:
        mask: boolean `[R, P]`, False at padding. Each window has a real subword.
        num_heads: int. Number H of heads.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders.subword_rows import RealSubwords
        >>> subwords = RealSubwords(np.array([[True, True], [True, False]]), num_heads=2)
        >>> x = np.arange(8, dtype="float32").reshape(2, 2, 2)
        >>> subwords.to_rows(x).shape, subwords.to_heads(subwords.to_rows(x)).shape
        (TensorShape([3, 2]), TensorShape([2, 2, 2, 1]))
    """

    def __init__(self, mask: Tensor, num_heads: int) -> None:
        self.num_heads = num_heads
        length = sizes(mask)[1]
        real = ops.reshape(mask, (-1,))  # [R P]
        (places,) = ops.nonzero(real)  # [N], places in [R P]: 0, 1, 2 in the example
        number = ops.cumsum(ops.cast(real, "int32")) - 1
        rows = ops.reshape(ops.where(real, number, 0), sizes(mask))  # [R, P], rows in [N]
        self._positions = rows, ops.cast(places, "int32"), mask
        # The same for vectors of a head: of [N H] in [R, H, P], and back. In the example, head 1 of
        # the last subword is in row 2 * 2 + 1 of [N H], and at place (1 * 2 + 1) * 2 of [R H P].
        heads = ops.arange(num_heads, dtype="int32")
        window, position = places // length, places % length
        self._heads = (
            rows[:, None, :] * num_heads + heads[:, None],
            (window[:, None] * num_heads + heads) * length + position[:, None],
            mask[:, None, :],
        )

    def to_rows(self, x: Tensor) -> Tensor:
        """Returns the real subwords of `[R, P, d]` as `[N, d]`."""
        return _select(flatten_leading(x, keep=1), *self._positions)

    def to_windows(self, x: Tensor) -> Tensor:
        """Returns `[N, d]` as `[R, P, d]`."""
        return _spread(x, *self._positions)

    def to_heads(self, x: Tensor) -> Tensor:
        """Returns `[N, d]` as `[R, H, P, d / H]`."""
        return _spread(ops.reshape(x, (-1, x.shape[-1] // self.num_heads)), *self._heads)

    def from_heads(self, x: Tensor) -> Tensor:
        """Returns the real subwords of `[R, H, P, d / H]` as `[N, d]`."""
        heads = _select(flatten_leading(x, keep=1), *self._heads)
        return ops.reshape(heads, (-1, self.num_heads * x.shape[-1]))


Subwords: TypeAlias = AllSubwords | RealSubwords


def _spread(x: Tensor, rows: Tensor, places: Tensor, mask: Tensor) -> Tensor:
    """Returns the rows of `x` at their places. Its gradient is `_select`, not a sum over rows."""

    def gradient(*upstream: Tensor, **_: Tensor) -> Tensor:
        return _gather(flatten_leading(upstream[0], keep=1), places)

    return custom_gradient(lambda x: (_gather(x, rows), gradient))(x)


def _select(x: Tensor, rows: Tensor, places: Tensor, mask: Tensor) -> Tensor:
    """Returns the rows of `x` of real subwords. Its gradient is zero at the places of padding."""

    def gradient(*upstream: Tensor, **_: Tensor) -> Tensor:
        spread = _gather(flatten_leading(upstream[0], keep=1), rows)
        return flatten_leading(ops.where(ops.expand_dims(mask, -1), spread, 0), keep=1)

    return custom_gradient(lambda x: (_gather(x, places), gradient))(x)


def _gather(x: Tensor, rows: Tensor) -> Tensor:
    """Returns `x[rows]`. Keras' `take` would look for negative numbers first."""
    import tensorflow as tf

    return tf.gather(x, rows)

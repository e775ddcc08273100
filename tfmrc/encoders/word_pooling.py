"""Pooling of subword vectors to word vectors."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class WordPooling(Layer):
    """Pools the vectors of each word's subwords.

    `first`: the vector of the first subword. `mean`: the mean of all subwords, computed by a
    segment sum without a tensor of size words x subwords.

    Padding: a word without subwords gets zeros.

    Args:
        pooling: str. "first" or "mean". Default: "first".

    Call arguments:
        states: `[B, L, dim]`, the vectors of all subwords of all windows.
        pieces: int `[B, n, 2]`, the position in L of each word's first subword and its number of
            subwords. Words are in order and share no subwords.

    Returns:
        `[B, n, dim]` of the dtype of `states`.

    Raises:
        ValueError: If `pooling` is neither "first" nor "mean".

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders import WordPooling
        >>> states = np.array([[[9.0], [1.0], [3.0], [5.0], [9.0]]])
        >>> pieces = np.array([[[1, 2], [3, 1], [0, 0]]])
        >>> np.array(WordPooling("mean")(states, pieces))[0, :, 0].tolist()
        [2.0, 5.0, 0.0]
        >>> np.array(WordPooling("first")(states, pieces))[0, :, 0].tolist()
        [1.0, 5.0, 0.0]
    """

    def __init__(self, pooling="first", **kwargs):
        super().__init__(**kwargs)
        if pooling not in ("first", "mean"):
            raise ValueError(f"`pooling` must be 'first' or 'mean'. Received: pooling={pooling!r}")
        self.pooling = pooling
        self.built = True

    def call(self, states, pieces):
        first, count = pieces[..., 0], pieces[..., 1]  # [B, n]
        present = ops.expand_dims(count > 0, -1)
        if self.pooling == "first":
            words = ops.take_along_axis(states, ops.expand_dims(first, -1), axis=1)  # [B, n, dim]
            return ops.where(present, words, ops.zeros_like(words))
        rows, length, dim = *sizes(states)[:2], states.shape[-1]
        num_words = sizes(pieces)[1]
        exists = ops.cast(count > 0, "int32")
        row = ops.expand_dims(ops.arange(rows, dtype="int32"), 1)  # [B, 1]

        def marks(positions, size):
            """Counts the words with each position, `[B, size]`."""
            flat = ops.reshape(row * size + ops.cast(positions, "int32"), (-1,))
            counted = ops.segment_sum(ops.reshape(exists, (-1,)), flat, num_segments=rows * size)
            return ops.reshape(counted, (rows, size))

        # The number of each subword's word, from 1, `[B, L]`; 0 outside of words. For the pieces
        # [1, 2], [3, 1] of 5 subwords: begun 0 1 1 2 2, ended 0 0 0 1 2, number 0 1 1 2 0.
        begun = ops.cumsum(marks(first, length), axis=1)
        ended = ops.cumsum(marks(first + count, length + 1), axis=1)[:, :-1]
        number = ops.where(begun > ended, begun, ops.zeros_like(begun))
        segment = ops.cast(row * (num_words + 1), number.dtype) + number
        sums = ops.segment_sum(
            ops.reshape(ops.cast(states, "float32"), (-1, dim)),
            ops.reshape(segment, (-1,)),
            num_segments=rows * (num_words + 1),
        )
        sums = ops.reshape(sums, (rows, num_words + 1, dim))
        index = ops.cumsum(exists, axis=1) * exists  # [B, n]
        words = ops.take_along_axis(sums, ops.expand_dims(index, -1), axis=1)  # [B, n, dim]
        words = words / ops.cast(ops.expand_dims(ops.maximum(count, 1), -1), "float32")
        return ops.cast(ops.where(present, words, ops.zeros_like(words)), states.dtype)

    def compute_output_shape(self, states_shape, pieces_shape):
        return (*pieces_shape[:2], states_shape[-1])

    def compute_output_spec(self, states, pieces):
        shape = self.compute_output_shape(states.shape, pieces.shape)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

"""Conversion of ragged tokens to rectangular tensors."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.checks import checked
from tfmrc.text.rows import row_and_position
from tfmrc.text.typing import TensorLike
from tfmrc.text.words.tokenizer import Tokens

_static = ContextVar("static_shapes", default=False)


class FlatTokens(NamedTuple):
    """The tokens of all rows as flat tensors, with the row and the position of each token.

    Attributes:
        surface, compared: string `[N]`.
        starts, ends: int32 `[N]`, code points of the row's string.
        row, position: int32 `[N]`.
        lengths: int32 `[R]`, the number of tokens per row.
        cut: bool `[R]`, whether the row was truncated.
    """

    surface: tf.Tensor
    compared: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    row: tf.Tensor
    position: tf.Tensor
    lengths: tf.Tensor
    cut: tf.Tensor


def cut_rows(tokens: Tokens, limits: tf.Tensor, firsts: tf.Tensor | None = None) -> FlatTokens:
    """Returns at most `limits[r]` tokens of each row, from token `firsts[r]` on.

    Args:
        tokens: `Tokens` of R strings.
        limits: int32 `[R]`.
        firsts: int32 `[R]`, at most the row's number of tokens. Default: None, zeros.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.layout import cut_rows
        >>> flat = cut_rows(Tokenizer().tokenize(["a b c", "", "d"]), [2, 2, 2])
        >>> flat.row.numpy(), flat.position.numpy(), flat.cut.numpy()
        (array([0, 0, 2], dtype=int32), array([0, 1, 0], dtype=int32), array([ True, False, False]))
    """
    limits = tf.convert_to_tensor(limits, tf.int32)
    lengths = tf.cast(tokens.starts.row_lengths(), tf.int32)
    row, position = row_and_position(tokens.starts)  # of all tokens, M of them
    firsts = tf.zeros_like(lengths) if firsts is None else firsts
    position -= tf.gather(firsts, row)
    selected = tf.where((position >= 0) & (position < tf.gather(limits, row)))[:, 0]  # [N]
    fields = (*(field.values for field in tokens), row, position)
    parts = [tf.gather(field, selected) for field in fields]
    return FlatTokens._make([*parts, tf.minimum(lengths - firsts, limits), lengths > limits])


def parts_of_rows(values: tf.Tensor, row: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Returns `values[row[q], positions[q, p]]` without a copy of the whole row for each part.

    Args:
        values: `[R, N, ...]`.
        row: int32 `[Q]`.
        positions: int32 `[Q, P]`.

    Returns:
        `[Q, P, ...]`.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.layout import parts_of_rows
        >>> rows = tf.constant([[1, 2, 3], [4, 5, 6]])
        >>> parts_of_rows(rows, tf.constant([1, 1]), tf.constant([[0, 1], [1, 2]])).numpy()
        array([[4, 5],
               [5, 6]], dtype=int32)
    """
    row = tf.broadcast_to(row[:, None], tf.shape(positions))
    return tf.gather_nd(values, tf.stack([row, positions], axis=-1))


def every_nth(tokens: FlatTokens, step: int, offset: int) -> tuple[FlatTokens, tf.Tensor]:
    """Returns the tokens of the rows `offset`, `offset + step`, … as rows 0, 1, …

    Returns:
        The tokens, and their indices among all tokens, int64 `[n, 1]`.
    """
    positions = tf.where(tokens.row % step == offset)
    names = ("surface", "compared", "starts", "ends", "row", "position")
    selected = {name: tf.gather_nd(getattr(tokens, name), positions) for name in names}
    selected["row"] //= step
    rows = slice(offset, None, step)
    return FlatTokens(**selected, lengths=tokens.lengths[rows], cut=tokens.cut[rows]), positions


@contextmanager
def static_shapes() -> Iterator[None]:
    """Pads all batches that are built within it to the same sizes.

    XLA, and with it the JAX backend, compiles a model anew for each shape of its inputs. Within
    this context a preprocessor pads questions, passages and answers to the lengths that it allows,
    not to the longest of the batch. The number of an encoder's windows is a power of two.

    Example:

    >>> from tfmrc.preprocessing import SANPreprocessor
    >>> from tfmrc.text import Vocabulary
    >>> from tfmrc.text.layout import static_shapes
    >>> preprocessor = SANPreprocessor(Vocabulary(["owl"]), passage_length=9, question_length=5)
    >>> with static_shapes():
    ...     source = preprocessor.source(["Who?"], ["An owl."])
    >>> tuple(source["passage_ids"].shape), tuple(source["question_ids"].shape)
    ((1, 9), (1, 5))
    """
    token = _static.set(True)
    try:
        yield
    finally:
        _static.reset(token)


def has_static_shapes() -> bool:
    """Returns True within `static_shapes`."""
    return _static.get()


def longest(lengths: tf.Tensor, limit: int) -> tf.Tensor | int:
    """Returns the number of columns for rows of these lengths.

    Args:
        lengths: int32, the lengths of the rows.
        limit: int. The largest length that is possible.

    Returns:
        The largest length, at least 1, scalar int32; within `static_shapes`, `limit`.
    """
    return limit if has_static_shapes() else tf.maximum(tf.reduce_max(lengths), 1)


def spread(values: tf.Tensor, row: tf.Tensor, column: tf.Tensor, shape: tuple) -> tf.Tensor:
    """Returns a matrix with `values[n]` at `row[n], column[n]` and 0 or "" elsewhere.

    Args:
        values: int32 or string `[N]`.
        row, column: int32 `[N]`, distinct pairs.
        shape: tuple of two ints or scalar tensors.

    Example:
        >>> from tfmrc.text.layout import spread
        >>> spread([7, 8], [0, 1], [1, 0], (2, 2)).numpy()
        array([[0, 7],
               [8, 0]], dtype=int32)
    """
    values = tf.convert_to_tensor(values)
    empty = tf.zeros(tf.stack(shape), values.dtype)
    return tf.tensor_scatter_nd_update(empty, tf.stack([row, column], axis=1), values)


def exactly(values: TensorLike, count: int, fill: Any = "") -> tf.Tensor:
    """Returns the first `count` columns of a matrix; missing columns are filled with `fill`.

    Example:
        >>> from tfmrc.text.layout import exactly
        >>> exactly([[1, 2, 3]], 2, 0).numpy().tolist(), exactly([[1]], 2, -1).numpy().tolist()
        ([[1, 2]], [[1, -1]])
    """
    values = tf.convert_to_tensor(values)
    missing = tf.maximum(count - tf.shape(values)[1], 0)
    filling = tf.fill([tf.shape(values)[0], missing], tf.constant(fill, values.dtype))
    return tf.ensure_shape(tf.concat([values[:, :count], filling], axis=1), [None, count])


def strings(name: str, values: TensorLike, rank: int = 1) -> tf.Tensor:
    """Converts strings to a tensor and checks its rank.

    Args:
        name: str. Name of the argument, for the error.
        values: str, list or tensor.
        rank: int. 1 for one string per example, 2 for several. Default: 1.

    Raises:
        ValueError: If the values have a different rank.

    Example:
        >>> from tfmrc.text.layout import strings
        >>> strings("passages", ["an owl"], rank=2)
        Traceback (most recent call last):
        ...
        ValueError: `passages` must be one list of strings per example, shape [B, K]. \
Received: passages of shape (1,)
    """
    tensor = tf.convert_to_tensor(values, tf.string)
    if tensor.shape.rank not in (None, rank):
        form = "one string per example, shape [B]"
        form = form if rank == 1 else "one list of strings per example, shape [B, K]"
        raise ValueError(f"`{name}` must be {form}. Received: {name} of shape {tensor.shape}")
    if tf.executing_eagerly():
        return tensor
    # TensorFlow calls the function of an export with any rank, whatever its signature says.
    return tf.ensure_shape(tensor, [None] * rank, name=f"rows_of_{name}")


def same_batch(what: str, first: tf.Tensor, *others: tf.Tensor) -> tf.Tensor:
    """Returns the first tensor after checking that all tensors have equally many rows.

    Args:
        what: str. Names of the tensors, for the error.
        first: tensor.
        *others: tensors.

    Raises:
        tf.errors.InvalidArgumentError: If the numbers of rows differ.
    """
    sizes = tf.stack([tf.shape(values)[0] for values in (first, *others)])
    message = f"A batch must have equally many {what}. Received: "
    return checked(first, tf.reduce_all(sizes == sizes[0]), message, sizes)

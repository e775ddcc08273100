"""From the tokens of many strings to rectangular tensors."""

from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.rows import row_of_values
from tfmrc.text.tokenizer import Tokens


class FlatTokens(NamedTuple):
    """The tokens of all rows behind one another, each with its row and its place in the row.

    Attributes:
        surface, compared: string `[N]`.
        starts, ends: int32 `[N]` code points of the row's string.
        row, place: int32 `[N]`.
        lengths: int32 `[R]` kept tokens a row.
        cut: bool `[R]`, whether tokens of the row were left out.
    """

    surface: tf.Tensor
    compared: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    row: tf.Tensor
    place: tf.Tensor
    lengths: tf.Tensor
    cut: tf.Tensor


def cut_rows(tokens: Tokens, limits: tf.Tensor, firsts: tf.Tensor | None = None) -> FlatTokens:
    """The first `limits[r]` tokens of each row, or so many from number `firsts[r]` on.

    Args:
        tokens: ragged tokens of R strings.
        limits: int32 `[R]`.
        firsts: int32 `[R]`, none above the row's number of tokens; 0 unless given.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.layout import cut_rows
        >>> flat = cut_rows(Tokenizer().tokenize(["a b c", "", "d"]), [2, 2, 2])
        >>> flat.row.numpy(), flat.place.numpy(), flat.cut.numpy()
        (array([0, 0, 2], dtype=int32), array([0, 1, 0], dtype=int32), array([ True, False, False]))
    """
    limits = tf.convert_to_tensor(limits, tf.int32)
    lengths = tf.cast(tokens.starts.row_lengths(), tf.int32)
    row = tf.cast(row_of_values(tokens.starts), tf.int32)
    first = tf.cast(tf.gather(tokens.starts.row_starts(), row), tf.int32)
    firsts = tf.zeros_like(lengths) if firsts is None else firsts
    place = tf.range(tf.size(row)) - first - tf.gather(firsts, row)
    selected = tf.where((place >= 0) & (place < tf.gather(limits, row)))[:, 0]
    surface, compared, starts, ends = (tf.gather(field.values, selected) for field in tokens)
    return FlatTokens(
        surface,
        compared,
        starts,
        ends,
        row=tf.gather(row, selected),
        place=tf.gather(place, selected),
        lengths=tf.minimum(lengths - firsts, limits),
        cut=lengths > limits,
    )


def every_nth(tokens: FlatTokens, step: int, offset: int) -> tuple[FlatTokens, tf.Tensor]:
    """The tokens of the rows `offset`, `offset + step`, …, as rows 0, 1, …

    Returns:
        The tokens, and where they stand among all tokens, int64 `[n, 1]`.
    """
    places = tf.where(tokens.row % step == offset)
    selected = {
        name: tf.gather_nd(getattr(tokens, name), places)
        for name in ("surface", "compared", "starts", "ends", "row", "place")
    }
    selected["row"] //= step
    rows = slice(offset, None, step)
    return FlatTokens(**selected, lengths=tokens.lengths[rows], cut=tokens.cut[rows]), places


def longest(lengths: tf.Tensor) -> tf.Tensor:
    """The largest number, at least 1; scalar int32."""
    return tf.maximum(tf.reduce_max(lengths), 1)


def spread(values: tf.Tensor, row: tf.Tensor, column: tf.Tensor, shape: tuple) -> tf.Tensor:
    """A matrix that holds `values[n]` at `row[n], column[n]` and 0 or "" elsewhere.

    Args:
        values: int32 or string `[N]`.
        row, column: int32 `[N]`, every pair at most once.
        shape: rows and columns, numbers or scalar tensors.

    Example:
        >>> from tfmrc.text.layout import spread
        >>> spread([7, 8], [0, 1], [1, 0], (2, 2)).numpy()
        array([[0, 7],
               [8, 0]], dtype=int32)
    """
    values = tf.convert_to_tensor(values)
    empty = tf.fill(
        tf.stack(shape), tf.constant("" if values.dtype == tf.string else 0, values.dtype)
    )
    return tf.tensor_scatter_nd_update(empty, tf.stack([row, column], axis=1), values)


def exactly(values: Any, count: int, fill: Any = "") -> tf.Tensor:
    """The first `count` columns of a matrix; missing ones hold `fill`.

    Example:
        >>> from tfmrc.text.layout import exactly
        >>> exactly([[1, 2, 3]], 2, 0).numpy().tolist(), exactly([[1]], 2, -1).numpy().tolist()
        ([[1, 2]], [[1, -1]])
    """
    values = tf.convert_to_tensor(values)
    missing = tf.maximum(count - tf.shape(values)[1], 0)
    filling = tf.fill([tf.shape(values)[0], missing], tf.constant(fill, values.dtype))
    return tf.ensure_shape(tf.concat([values[:, :count], filling], axis=1), [None, count])


def strings(name: str, values: Any, rank: int = 1) -> tf.Tensor:
    """Strings as a tensor of a rank, or an error that names them.

    Args:
        name: Name of the argument, for the error.
        values: A string, list or tensor.
        rank: 1 for one string per example, 2 for several.

    Raises:
        ValueError: The values have another rank.

    Example:
        >>> from tfmrc.text.layout import strings
        >>> strings("passages", ["an owl"], rank=2)
        Traceback (most recent call last):
        ...
        ValueError: `passages` has one list of strings per example, shape [B, K]. \
Received: passages of shape (1,)
    """
    tensor = tf.convert_to_tensor(values, tf.string)
    if tensor.shape.rank not in (None, rank):
        form = "one string per example, shape [B]"
        form = form if rank == 1 else "one list of strings per example, shape [B, K]"
        raise ValueError(f"`{name}` has {form}. Received: {name} of shape {tensor.shape}")
    return tensor


def same_batch(what: str, first: tf.Tensor, *others: tf.Tensor) -> tf.Tensor:
    """The first tensor, once it is sure that the others have as many rows.

    Args:
        what: names of all of them, for the error.
        first: a tensor.
        *others: the others.

    Raises:
        tf.errors.InvalidArgumentError: they have not.
    """
    sizes = tf.stack([tf.shape(values)[0] for values in (first, *others)])
    check = tf.debugging.Assert(
        tf.reduce_all(sizes == sizes[0]), [f"A batch has as many {what}. Received: ", sizes]
    )
    with tf.control_dependencies([] if check is None else [check]):
        return tf.identity(first)

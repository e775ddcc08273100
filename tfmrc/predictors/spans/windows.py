"""The engine of all predictors of spans: windows of passages to the best answers of questions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

Tensors = Mapping[str, tf.Tensor]
Add = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]

BEST = {"answer": "answers", "start": "starts", "end": "ends", "passage": "answer_passages",
        "probability": "probabilities"}  # fmt: skip
"""Outputs that describe the best span, and those of the K best spans that they are taken from."""


PLACES = 512  # best places of a question whose texts are compared, and two more per passage
#: What ends an answer without being part of it, where answers are compared.
MARKS = r"[\s\p{Z}\p{Ps}\p{Pe}\p{Pi}\p{Pf}.,;:!?'\"…。、，．！？；：]"


class BestSpans(NamedTuple):
    """The K best answers of B questions, best first.

    Attributes:
        row: int32 `[B, K]`, the passage among all; -1 if there are fewer answers.
        starts, ends: int32 `[B, K]`, code points of the passage; -1 if there are fewer answers.
        score: float32 `[B, K]`; 0 if there are fewer answers.
        window: int32 `[B]`, the window of the best answer; -1 if there is none.
    """

    row: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    score: tf.Tensor
    window: tf.Tensor


def utf_8(texts: tf.Tensor) -> tf.Tensor:
    """Returns texts whose bytes that are not UTF-8 are U+FFFD, as the tokenizers read them."""
    return tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")


def over_windows(
    function: Callable[[dict[str, tf.Tensor]], Sequence[tf.Tensor]],
    windows: Tensors,
    ends: tf.Tensor,
    dtypes: Sequence[tf.DType],
) -> list[tf.Tensor]:
    """Applies a function to all windows, chunk after chunk, which bounds the memory.

    Args:
        function: Function of a dict with C consecutive windows that returns tensors `[C, ..]`.
        windows: dict. Values `[W, ..]`.
        ends: int32 `[chunks]`, at least one. The ends of the chunks, rising; the last one is W.
        dtypes: list of dtypes. Those of the results.

    Returns:
        The results, `[W, ..]` each.
    """
    arrays = [tf.TensorArray(dtype, size=tf.size(ends), infer_shape=False) for dtype in dtypes]
    shapes: list[tf.TensorShape] = []

    def body(number: tf.Tensor, begin: tf.Tensor, *arrays: tf.TensorArray) -> tuple[Any, ...]:
        chunk = {name: values[begin : ends[number]] for name, values in windows.items()}
        results = function(chunk)  # [C, ..] each
        shapes[:] = [result.shape[1:] for result in results]
        written = zip(arrays, results, strict=True)
        return number + 1, ends[number], *(array.write(number, value) for array, value in written)

    _, _, *arrays = tf.while_loop(
        lambda number, *_: number < tf.size(ends), body, (0, 0, *arrays), parallel_iterations=1
    )
    return [
        tf.ensure_shape(array.concat(), [None, *shape])  # [W, ..]
        for array, shape in zip(arrays, shapes, strict=True)
    ]


def pack(row: tf.Tensor, starts: tf.Tensor, ends: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
    """Packs three integers into one, so that equal spans are equal numbers.

    In base `size` the number has the digits row, start and end: `(row * size + start) * size +
    end`. In 64 bits there is room for a million rows of three million characters.

    Args:
        row, starts, ends: int32 of one shape, not negative; starts and ends below `size`.
        size: int scalar.

    Returns:
        int64 of the same shape.

    Example:

    >>> from tfmrc.predictors.spans.windows import pack, unpack
    >>> pack(2, 3, 5, size=10).numpy()  # row 2, characters 3 to 5
    np.int64(235)
    >>> [int(value) for value in unpack(235, size=10)]
    [2, 3, 5]
    """
    row, starts, ends, size = (tf.cast(values, tf.int64) for values in (row, starts, ends, size))
    return (row * size + starts) * size + ends


def unpack(number: tf.Tensor, size: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """Returns `row`, `starts` and `ends`, int32, of the numbers that `pack` made."""
    size = tf.cast(size, tf.int64)
    digits = (number // (size * size), number // size % size, number % size)
    return tuple(tf.cast(values, tf.int32) for values in digits)


def segment_logsumexp(
    values: tf.Tensor, segment: tf.Tensor, num_segments: int | tf.Tensor
) -> tf.Tensor:
    """Returns the logarithm of the sum of each segment's exponentials.

    Example:

    >>> import numpy as np
    >>> from tfmrc.predictors.spans.windows import segment_logsumexp
    >>> segment_logsumexp(np.log([0.25, 0.125, 0.5]), [0, 1, 0], 2).numpy().round(4)
    array([-0.2877, -2.0794])
    """
    largest = tf.math.unsorted_segment_max(values, segment, num_segments)
    terms = tf.exp(values - tf.gather(largest, segment))
    return largest + tf.math.log(tf.math.unsorted_segment_sum(terms, segment, num_segments))


def comparable(texts: tf.Tensor) -> tf.Tensor:
    """Returns texts in the form in which answers are compared.

    Letters are small, white space is one space, and marks at the ends are left out.

    Example:

    >>> from tfmrc.predictors.spans.windows import comparable
    >>> comparable(["“The  Owl”,", "C#", "-5", "?!"]).numpy().tolist()
    [b'the owl', b'c#', b'-5', b'?!']
    """
    texts = tf.strings.regex_replace(texts, r"[\s\p{Z}]+", " ")
    texts = tf.strings.lower(texts, encoding="utf-8")
    inner = tf.strings.regex_replace(texts, f"^{MARKS}+|{MARKS}+$", "")
    return tf.where(inner == "", texts, inner)


def best_spans(
    texts: tf.Tensor,
    row: tf.Tensor,
    starts: tf.Tensor,
    ends: tf.Tensor,
    score: tf.Tensor,
    valid: tf.Tensor,
    *,
    num_questions: int | tf.Tensor,
    count: int | tf.Tensor,
    add: Add,
) -> BestSpans:
    """Returns each question's best answers over its windows, each once.

    The scores of spans of one window with the same characters add up (several pairs of subwords
    stand for the same words). Spans of the same text (`comparable`) are one answer, at the place of
    the best of them: of each passage the best one counts, and passages add up. Time and memory are
    linear in the number of spans, but for the sorting.

    Of each question the `PLACES` best places and two more per passage are compared.

    Args:
        texts: string `[R]`, UTF-8. All passages; passage k of question b is `b * N + k`.
        row: int32 `[W]`. The passage of each window.
        starts, ends: int32 `[W, C]`. C spans of each window, in code points of the passage.
        score: float32 `[W, C]`. Their probabilities, or logarithms of these.
        valid: bool `[W, C]`. Which spans there are.
        num_questions: int or int32 scalar B.
        count: int or int32 scalar K.
        add: callable. `tf.math.unsorted_segment_sum`, or `segment_logsumexp` for logarithms.
    """
    cells = tf.where(valid)  # [A, 2]
    window = tf.cast(cells[:, 0], tf.int32)  # [A]
    starts, ends, score = (tf.gather_nd(values, cells) for values in (starts, ends, score))  # [A]
    size = tf.reduce_max(tf.concat([ends, [tf.size(texts)]], axis=0)) + 1
    key, index = tf.unique(pack(window, starts, ends, size))  # [P], [A]
    score = add(score, index, tf.size(key))  # [P]
    window, starts, ends = unpack(key, size)  # [P] each
    row = tf.gather(row, window)  # [P]

    num_passages = tf.maximum(tf.size(texts) // num_questions, 1)
    most = tf.maximum(PLACES + 2 * num_passages, 2 * count)
    kept, _ = best_of_groups(score, row // num_passages, num_questions, most)  # [P'], then P
    row, starts, ends, window, score = (
        tf.gather(values, kept) for values in (row, starts, ends, window, score)
    )  # [P] each
    question = row // num_passages  # [P]
    text = tf.strings.substr(tf.gather(texts, row), starts, ends - starts, unit="UTF8_CHAR")
    key, answer = tf.unique(
        tf.strings.join([tf.strings.as_string(question), comparable(text)], " ")
    )  # [G], [P]
    _, best = _best_of_segments(score, answer, tf.size(key))  # [G], the place of each answer
    row_key, index = tf.unique(pack(answer, row, tf.zeros_like(row), size))  # [R], [P]
    score = tf.math.unsorted_segment_max(score, index, tf.size(row_key))  # [R]
    score = add(score, unpack(row_key, size)[0], tf.size(key))  # [G]
    row, starts, ends, window, question = (
        tf.gather(values, best) for values in (row, starts, ends, window, question)
    )  # [G] each
    best = BestSpans(row, starts, ends, score, window)
    return best_first(best, question, num_questions=num_questions, count=count)


def best_first(
    spans: BestSpans, question: tf.Tensor, *, num_questions: int | tf.Tensor, count: int | tf.Tensor
) -> BestSpans:
    """Returns the K best spans of each question.

    Args:
        spans: `BestSpans` of G spans, `[G]` each.
        question: int32 `[G]`. Their questions.
        num_questions: int or int32 scalar B.
        count: int or int32 scalar K.
    """
    order, cells = best_of_groups(spans.score, question, num_questions, count)

    def spread(values: tf.Tensor, fill: int) -> tf.Tensor:
        empty = tf.fill(tf.stack([num_questions, count]), tf.cast(fill, values.dtype))
        return tf.tensor_scatter_nd_update(empty, cells, tf.gather(values, order))  # [B, K]

    return BestSpans(
        row=spread(spans.row, -1),
        starts=spread(spans.starts, -1),
        ends=spread(spans.ends, -1),
        score=spread(spans.score, 0),
        window=spread(spans.window, -1)[:, 0],
    )


def _best_of_segments(
    values: tf.Tensor, segment: tf.Tensor, num_segments: int | tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns each segment's largest value and the position of the first one, `[S]` each."""
    largest = tf.math.unsorted_segment_max(values, segment, num_segments)  # [S]
    position = tf.range(tf.size(values))
    is_largest = values == tf.gather(largest, segment)
    position = tf.where(is_largest, position, tf.size(values))
    return largest, tf.math.unsorted_segment_min(position, segment, num_segments)


def best_of_groups(
    values: tf.Tensor, group: tf.Tensor, num_groups: int | tf.Tensor, count: int | tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the K largest values of each group: their positions, and cells of a `[G, K]`.

    Args:
        values: float32 `[S]`.
        group: int32 `[S]`, from 0 to G - 1.
        num_groups: int or int32 scalar G.
        count: int or int32 scalar K.

    Returns:
        int32 `[R]` and int32 `[R, 2]`, R being at most G * K.

    Example:

    >>> import tensorflow as tf
    >>> from tfmrc.predictors.spans.windows import best_of_groups
    >>> position, cell = best_of_groups(tf.constant([0.1, 0.7, 0.2]), tf.constant([1, 0, 1]), 2, 1)
    >>> position.numpy().tolist(), cell.numpy().tolist()
    ([1, 2], [[0, 0], [1, 0]])
    """
    order = tf.argsort(values, direction="DESCENDING", stable=True)
    order = tf.gather(order, tf.argsort(tf.gather(group, order), stable=True))  # [S], by group
    group = tf.gather(group, order)
    first = tf.searchsorted(group, tf.range(num_groups))  # [G]
    rank = tf.range(tf.size(order)) - tf.gather(first, group)  # [S], in the group
    kept = tf.where(rank < count)[:, 0]  # [R]
    cells = tf.stack([tf.gather(group, kept), tf.gather(rank, kept)], axis=1)
    return tf.gather(order, kept), cells


def span_outputs(
    texts: tf.Tensor, spans: BestSpans, probability: tf.Tensor, num_questions: int | tf.Tensor
) -> dict[str, tf.Tensor]:
    """Returns the outputs of a signature that describe the K best spans, `[B, K]` each.

    Args:
        texts: string `[B N]`, UTF-8. All passages.
        spans: `BestSpans`.
        probability: float32 `[B, K]`.
        num_questions: int or int32 scalar B.
    """
    known = spans.starts >= 0
    num_passages = tf.maximum(tf.size(texts) // num_questions, 1)
    length = tf.where(known, spans.ends - spans.starts, 0)
    return {
        "answers": tf.strings.substr(
            tf.gather(texts, tf.maximum(spans.row, 0)),
            tf.maximum(spans.starts, 0),
            length,
            unit="UTF8_CHAR",
        ),
        "starts": spans.starts,
        "ends": spans.ends,
        "answer_passages": tf.where(known, spans.row % num_passages, -1),
        "probabilities": probability,
    }

"""Spans of an extractive reader over the windows of all passages of a question."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.models.protocols import ReaderModel
from tfmrc.ops.masking import LOG_ZERO

Tensors = dict[str, tf.Tensor]
CHUNK_SUBWORDS = 768  # subwords that the model reads at once, with padding
CANDIDATES = 256  # pairs of begin and end per window that can be part of an answer


class ReaderSpans(NamedTuple):
    """The best spans of B questions.

    Attributes:
        row: int32 `[B, K]`, the passage among all; -1 if there are fewer spans.
        starts, ends: int32 `[B, K]`, code points of the passage; -1 if there are fewer spans.
        probability: float32 `[B, K]`, best first; 0 if there are fewer spans.
        no_answer: float32 `[B]`, the probability that no passage has the answer.
    """

    row: tf.Tensor
    starts: tf.Tensor
    ends: tf.Tensor
    probability: tf.Tensor
    no_answer: tf.Tensor


def over_windows(
    function: Callable[[Tensors], tuple[tf.Tensor, ...]],
    windows: Tensors,
    dtypes: tuple[tf.DType, ...],
) -> list[tf.Tensor]:
    """Applies a function to all windows, in chunks of windows of nearly equal length.

    Args:
        function: Function of a dict with `[C, P']` windows, P' their greatest length, that returns
            tensors `[C, ..]`.
        windows: dict. `encoder_ids`, `segment_ids` and `answer_mask` `[W, P]`, `lengths` `[W]`.
        dtypes: tuple of dtypes. Those of the results.

    Returns:
        The results `[W, ..]`, in the order of the windows.
    """
    order = tf.argsort(windows["lengths"], stable=True)
    ends = chunk_ends(tf.gather(windows["lengths"], order))
    chunks = tf.size(ends)
    arrays = [tf.TensorArray(dtype, size=chunks, infer_shape=False) for dtype in dtypes]
    names = ("encoder_ids", "segment_ids", "answer_mask")

    def body(number: Any, begin: Any, *arrays: Any) -> tuple[Any, ...]:
        part = order[begin : ends[number]]
        width = windows["lengths"][part[-1]]
        result = function({name: tf.gather(windows[name], part)[:, :width] for name in names})
        written = zip(arrays, result, strict=True)
        return number + 1, ends[number], *(array.write(number, value) for array, value in written)

    _, _, *arrays = tf.while_loop(
        lambda number, *_: number < chunks, body, (0, 0, *arrays), parallel_iterations=1
    )
    inverse = tf.math.invert_permutation(order)
    return [tf.gather(array.concat(), inverse) for array in arrays]


def chunk_ends(lengths: tf.Tensor) -> tf.Tensor:
    """Returns the ends of chunks of windows: each at most an eighth longer than the shortest in it.

    Padding to the longest window of a chunk then costs little, and `CHUNK_SUBWORDS` bounds the
    memory: the scores of all pairs of positions are read fastest while they fit in the cache.

    Args:
        lengths: int32 `[W]`. Numbers of subwords, rising.

    Returns:
        int32 `[chunks]`, rising; the last one is W.

    Example:
        >>> from tfmrc.predictors.spans.reader_windows import chunk_ends
        >>> chunk_ends([40, 41, 250, 380, 384, 384]).numpy().tolist()
        [2, 3, 5, 6]
    """
    lengths = tf.maximum(tf.convert_to_tensor(lengths), 1)
    group = tf.cast(tf.math.log(tf.cast(lengths, tf.float32)) / math.log(1.125), tf.int32)
    index = tf.range(tf.size(lengths))
    within = index - tf.searchsorted(group, group)
    last = tf.gather(lengths, tf.searchsorted(group, group, side="right") - 1)
    is_first = within % tf.maximum(CHUNK_SUBWORDS // last, 1) == 0
    return tf.concat([tf.boolean_mask(index, is_first)[1:], [tf.size(lengths)]], axis=0)


def window_scores(model: ReaderModel, windows: Tensors) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the scores of begin and end of every subword, float32 `[W, P]` each."""
    size = tf.shape(windows["encoder_ids"])[1]

    def scores(chunk: Tensors) -> tuple[tf.Tensor, ...]:
        values = model.scores(chunk)
        missing = size - tf.shape(values)[1]
        return (tf.pad(values, [[0, 0], [0, missing], [0, 0]]),)

    (values,) = over_windows(scores, windows, (tf.float32,))
    return values[..., 0], values[..., 1]


def reader_spans(
    model: ReaderModel,
    windows: Tensors,
    num_passages: Any,
    num_questions: Any,
    *,
    count: Any,
    max_length: Any,
    align: Any,
) -> ReaderSpans:
    """Returns the best spans of each question under one distribution over all its windows.

    The probability of a begin is a softmax over the subwords of all windows of all passages of the
    question and "no answer", and so is that of an end; the score of "no answer" is that of `[CLS]`
    in the window where it is lowest. A span has the product of both. Spans of subwords that cover
    the same words of a window are one answer, the sum of their probabilities. An answer in several
    windows has the probability of the best one.

    Args:
        model: A `tfmrc.models.ExtractiveReader`.
        windows: dict. The output of `ExtractiveReaderPreprocessor.source`; passage k of question b
            is the row `b * num_passages + k`.
        num_passages: int or int32 scalar.
        num_questions: int or int32 scalar B.
        count: int or int32 scalar K. Number of spans.
        max_length: int or int32 scalar. Greatest number of subwords of a span.
        align: bool or bool scalar. Whether spans are whole words.
    """
    begin, end, score, totals = _candidates(
        model, windows, tf.maximum(CANDIDATES, count), max_length
    )
    question = windows["row"] // num_passages
    log_norm, log_none = _normalized(windows, totals, question, num_questions)
    probability = tf.where(
        score > 0.5 * LOG_ZERO, tf.exp(score - tf.gather(log_norm, question)[:, None]), 0.0
    )
    row, starts, ends, probability = _answers(windows, begin, end, probability, align)
    order, cells = _best_of_groups(probability, row // num_passages, num_questions, count)

    def spread(values: tf.Tensor, fill: Any) -> tf.Tensor:
        empty = tf.fill(tf.stack([num_questions, count]), tf.constant(fill, values.dtype))
        return tf.tensor_scatter_nd_update(empty, cells, tf.gather(values, order))

    return ReaderSpans(
        row=spread(row, -1),
        starts=spread(starts, -1),
        ends=spread(ends, -1),
        probability=spread(probability, 0.0),
        no_answer=tf.exp(log_none),
    )


def _normalized(
    windows: Tensors, totals: tf.Tensor, question: tf.Tensor, num_questions: Any
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the normalizer of each question's spans and the log-probability of "no answer".

    Args:
        windows: dict. The windows.
        totals: float32 `[W, 4]`. Of `_candidates`.
        question: int32 `[W]`. The question of each window.
        num_questions: int32 scalar B.

    Returns:
        float32 `[B]` each.
    """
    is_real = tf.reduce_any(windows["starts"] >= 0, axis=1)
    none = tf.where(is_real, totals[:, 2] + totals[:, 3], -LOG_ZERO)
    lowest = tf.math.unsorted_segment_min(none, question, num_questions)
    is_lowest = none <= tf.gather(lowest, question)
    window = tf.range(tf.size(question))
    chosen = tf.math.unsorted_segment_min(
        tf.where(is_lowest, window, tf.size(window)), question, num_questions
    )
    log_norm, log_none = tf.zeros([num_questions]), tf.zeros([num_questions])
    for column in (0, 1):  # begin and end
        of_none = tf.gather(totals[:, 2 + column], chosen)
        largest = tf.math.unsorted_segment_max(totals[:, column], question, num_questions)
        shift = tf.maximum(largest, of_none)
        terms = tf.exp(totals[:, column] - tf.gather(shift, question))
        sums = tf.math.unsorted_segment_sum(terms, question, num_questions)
        norm = tf.math.log(sums + tf.exp(of_none - shift)) + shift
        log_norm += norm
        log_none += of_none - norm
    return log_norm, log_none


def _answers(
    windows: Tensors, begin: tf.Tensor, end: tf.Tensor, probability: tf.Tensor, align: Any
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the answers that pairs of subwords stand for, each once.

    Pairs of a window with the same characters are one answer, the sum of their probabilities; an
    answer of several windows has the largest.

    Args:
        windows: dict. The windows.
        begin, end: int32 `[W, C]`. Pairs of subwords.
        probability: float32 `[W, C]`. Their probabilities, 0 for none.
        align: bool or bool scalar. Whether answers are whole words.

    Returns:
        `row` (the passage), `starts`, `ends` int32 and the probability float32, `[A]` each.
    """

    def at(name: str, positions: tf.Tensor) -> tf.Tensor:
        return tf.cast(tf.gather(windows[name], positions, batch_dims=1), tf.int64)

    starts = tf.where(align, at("word_starts", begin), at("starts", begin))
    ends = tf.where(align, at("word_ends", end), at("ends", end))
    size = tf.reduce_max(tf.pad(tf.reshape(ends, [-1]), [[0, 1]])) + 2
    number = tf.range(tf.cast(tf.shape(ends)[0], tf.int64))
    key = (number[:, None] * size + starts + 1) * size + ends + 1
    valid = tf.where(probability > 0)
    key, index = tf.unique(tf.gather_nd(key, valid))
    summed = tf.math.unsorted_segment_sum(tf.gather_nd(probability, valid), index, tf.size(key))
    row = tf.gather(tf.cast(windows["row"], tf.int64), key // (size * size))
    key, index = tf.unique(row * size * size + key % (size * size))
    best = tf.math.unsorted_segment_max(summed, index, tf.size(key))
    row, starts, ends = (
        tf.cast(values, tf.int32)
        for values in (key // (size * size), key // size % size - 1, key % size - 1)
    )
    return row, starts, ends, best


def _best_of_groups(
    values: tf.Tensor, group: tf.Tensor, num_groups: Any, count: Any
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the K largest values of each group: their indices, and cells of a matrix `[G, K]`."""
    order = tf.argsort(values, direction="DESCENDING", stable=True)
    order = tf.gather(order, tf.argsort(tf.gather(group, order), stable=True))
    group = tf.gather(group, order)
    first = tf.searchsorted(group, tf.range(num_groups))
    rank = tf.range(tf.size(order)) - tf.gather(first, group)
    kept = tf.where(rank < count)[:, 0]
    cells = tf.stack([tf.gather(group, kept), tf.gather(rank, kept)], axis=1)
    return tf.gather(order, kept), cells


def _candidates(
    model: ReaderModel, windows: Tensors, count: Any, max_length: Any
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the best pairs of subwords of each window, without normalization.

    Returns:
        `begin`, `end` int32 `[W, C]` and `score` float32 `[W, C]`; `totals` float32 `[W, 4]`: the
        log-sum-exp of begin and end over the passage, and the scores of `[CLS]`.
    """

    def pairs(chunk: Tensors) -> tuple[tf.Tensor, ...]:
        scores = model.scores(chunk)
        none = scores[:, 0]
        size = tf.shape(scores)[1]
        inner = (chunk["answer_mask"] & (tf.range(size) > 0))[..., None]
        scores = tf.where(inner, scores, LOG_ZERO)
        totals = tf.reduce_logsumexp(scores, axis=1)
        position = tf.range(size)[:, None] + tf.range(max_length)
        ends = tf.pad(scores[..., 1], [[0, 0], [0, max_length]], constant_values=LOG_ZERO)
        both = scores[..., 0][..., None] + tf.gather(ends, position, axis=1)
        flat = tf.reshape(both, [-1, size * max_length])
        missing = tf.maximum(count - size * max_length, 0)
        flat = tf.pad(flat, [[0, 0], [0, missing]], constant_values=2 * LOG_ZERO)
        score, index = tf.math.top_k(flat, count)
        index = tf.minimum(index, size * max_length - 1)
        begin = index // max_length
        last = tf.minimum(begin + index % max_length, size - 1)
        return begin, last, score, tf.concat([totals, none], axis=1)

    begin, end, score, totals = over_windows(
        pairs, windows, (tf.int32, tf.int32, tf.float32, tf.float32)
    )
    return begin, end, score, tf.ensure_shape(totals, [None, 4])

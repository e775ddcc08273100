"""Spans of an extractive reader over the windows of all passages of a question."""

import math
from collections.abc import Callable, Sequence

import tensorflow as tf

from tfmrc.models.protocols import ReaderModel
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.predictors.spans.windows import BestSpans, best_spans, over_windows

Tensors = dict[str, tf.Tensor]
SCORES = "scores"  # of subwords, among the windows if they are known
CHUNK_SUBWORDS = 768  # subwords that the model reads at once, with padding
CANDIDATES = 256  # pairs of begin and end per window that can be part of an answer


def over_lengths(
    function: Callable[[Tensors], Sequence[tf.Tensor]], windows: Tensors, dtypes: Sequence[tf.DType]
) -> list[tf.Tensor]:
    """Applies a function to all windows, in chunks of windows of nearly equal length.

    Args:
        function: Function of a dict with `[C, P']` windows, P' their greatest length, that returns
            tensors `[C, ..]`.
        windows: dict. `encoder_ids`, `segment_ids` and `answer_mask` `[W, P]`, `lengths` `[W]`; and
            `scores` `[W, P, 2]`, if they are known.
        dtypes: list of dtypes. Those of the results.

    Returns:
        The results `[W, ..]`, in the order of the windows.
    """
    order = tf.argsort(windows["lengths"], stable=True)  # [W]
    names = ("encoder_ids", "segment_ids", "answer_mask", "lengths", SCORES)
    rising = {name: tf.gather(windows[name], order) for name in names if name in windows}  # [W, ..]

    def cut(chunk: Tensors) -> Sequence[tf.Tensor]:
        width = chunk.pop("lengths")[-1]
        return function({name: values[:, :width] for name, values in chunk.items()})

    results = over_windows(cut, rising, chunk_ends(rising["lengths"]), dtypes)
    inverse = tf.math.invert_permutation(order)
    return [tf.gather(values, inverse) for values in results]  # [W, ..]


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


def window_scores(model: ReaderModel, windows: Tensors) -> tf.Tensor:
    """Returns the scores of every subword, float32 `[W, P, 2]`; of evidence `[W, P, 1]`."""
    size = tf.shape(windows["encoder_ids"])[1]

    def scores(chunk: Tensors) -> tuple[tf.Tensor, ...]:
        values = model.scores(chunk)
        missing = size - tf.shape(values)[1]
        return (tf.pad(values, [[0, 0], [0, missing], [0, 0]]),)

    (values,) = over_lengths(scores, windows, (tf.float32,))
    return values


def reader_spans(
    model: ReaderModel,
    windows: Tensors,
    texts: tf.Tensor,
    num_questions: int | tf.Tensor,
    *,
    count: int | tf.Tensor,
    max_length: int | tf.Tensor,
    align: bool | tf.Tensor,
) -> tuple[BestSpans, tf.Tensor]:
    """Returns the best spans of each question under one distribution over all its windows.

    The probability of a begin is a softmax over the subwords of all windows of all passages of the
    question and "no answer", and so is that of an end; the score of "no answer" is that of `[CLS]`
    in the window where it is lowest. A span has the product of both; spans of equal texts add up
    (`tfmrc.predictors.spans.windows.best_spans`).

    Args:
        model: A `tfmrc.models.ExtractiveReader`.
        windows: dict. The output of `ExtractiveReaderPreprocessor.source`; passage k of question b
            is the row `b * N + k`.
        texts: string `[B N]`, UTF-8. All passages.
        num_questions: int or int32 scalar B.
        count: int or int32 scalar K. Number of spans.
        max_length: int or int32 scalar. Greatest number of subwords of a span.
        align: bool or bool scalar. Whether spans are whole words.

    Returns:
        The spans, whose scores are probabilities, and float32 `[B]`, the probability that no
        passage has the answer.
    """
    begin, end, score, totals = _candidates(
        model, windows, tf.maximum(CANDIDATES, count), max_length
    )  # [W, C], and [W, 4]
    question = windows["row"] // (tf.size(texts) // num_questions)  # [W]
    log_norm, log_none = _normalized(windows, totals, question, num_questions)  # [B] each
    probability = tf.where(
        score > 0.5 * LOG_ZERO, tf.exp(score - tf.gather(log_norm, question)[:, None]), 0.0
    )  # [W, C]

    def at(name: str, positions: tf.Tensor) -> tf.Tensor:
        return tf.gather(windows[name], positions, batch_dims=1)  # [W, C]

    spans = best_spans(
        texts,
        windows["row"],
        tf.where(align, at("word_starts", begin), at("starts", begin)),
        tf.where(align, at("word_ends", end), at("ends", end)),
        probability,
        probability > 0,
        num_questions=num_questions,
        count=count,
        add=tf.math.unsorted_segment_sum,
    )
    return spans, tf.exp(log_none)


def _normalized(
    windows: Tensors, totals: tf.Tensor, question: tf.Tensor, num_questions: int | tf.Tensor
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
    is_real = tf.reduce_any(windows["starts"] >= 0, axis=1)  # [W]
    none = tf.where(is_real, totals[:, 2] + totals[:, 3], -LOG_ZERO)  # [W]
    lowest = tf.math.unsorted_segment_min(none, question, num_questions)  # [B]
    is_lowest = none <= tf.gather(lowest, question)  # [W]
    window = tf.range(tf.size(question))
    chosen = tf.math.unsorted_segment_min(
        tf.where(is_lowest, window, tf.size(window)), question, num_questions
    )  # [B], the first window with the lowest score
    log_norm, log_none = tf.zeros([num_questions]), tf.zeros([num_questions])
    for column in (0, 1):  # begin and end
        of_none = tf.gather(totals[:, 2 + column], chosen)  # [B]
        largest = tf.math.unsorted_segment_max(totals[:, column], question, num_questions)
        shift = tf.maximum(largest, of_none)  # [B]
        terms = tf.exp(totals[:, column] - tf.gather(shift, question))  # [W]
        sums = tf.math.unsorted_segment_sum(terms, question, num_questions)  # [B]
        norm = tf.math.log(sums + tf.exp(of_none - shift)) + shift  # [B]
        log_norm += norm
        log_none += of_none - norm
    return log_norm, log_none


def _candidates(
    model: ReaderModel, windows: Tensors, count: int | tf.Tensor, max_length: int | tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    """Returns the best pairs of subwords of each window, without normalization.

    Returns:
        `begin`, `end` int32 `[W, C]` and `score` float32 `[W, C]`; `totals` float32 `[W, 4]`: the
        log-sum-exp of begin and end over the passage, and the scores of `[CLS]`.
    """

    def pairs(chunk: Tensors) -> Sequence[tf.Tensor]:
        scores = model.scores(chunk)  # [C, P, 2]
        none = scores[:, 0]  # [C, 2], of [CLS]
        size = tf.shape(scores)[1]
        inner = (chunk["answer_mask"] & (tf.range(size) > 0))[..., None]  # [C, P, 1]
        scores = tf.where(inner, scores, LOG_ZERO)
        totals = tf.reduce_logsumexp(scores, axis=1)  # [C, 2]
        position = tf.range(size)[:, None] + tf.range(max_length)  # [P, L], the end of each pair
        ends = tf.pad(scores[..., 1], [[0, 0], [0, max_length]], constant_values=LOG_ZERO)
        both = scores[..., 0][..., None] + tf.gather(ends, position, axis=1)  # [C, P, L]
        flat = tf.reshape(both, [-1, size * max_length])  # pair (i, i + l) at i * L + l
        missing = tf.maximum(count - size * max_length, 0)
        flat = tf.pad(flat, [[0, 0], [0, missing]], constant_values=2 * LOG_ZERO)
        score, index = tf.math.top_k(flat, count)  # [C, K]
        index = tf.minimum(index, size * max_length - 1)
        begin = index // max_length
        last = tf.minimum(begin + index % max_length, size - 1)
        return begin, last, score, tf.concat([totals, none], axis=1)

    begin, end, score, totals = over_lengths(
        pairs, windows, (tf.int32, tf.int32, tf.float32, tf.float32)
    )
    return begin, end, score, tf.ensure_shape(totals, [None, 4])

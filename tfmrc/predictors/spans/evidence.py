"""Spans of an evidence reader over the windows of all passages of a question."""

import tensorflow as tf

from tfmrc.models.protocols import ReaderModel
from tfmrc.predictors.spans.reader_windows import window_scores
from tfmrc.predictors.spans.windows import BestSpans, best_first, pack, unpack
from tfmrc.text.rows import row_of_values
from tfmrc.text.words.sentences import sentence_numbers
from tfmrc.text.words.tokenizer import Tokenizer

Tensors = dict[str, tf.Tensor]


def evidence_spans(
    model: ReaderModel,
    windows: Tensors,
    texts: tf.Tensor,
    num_questions: int | tf.Tensor,
    *,
    unit: str,
    threshold: float,
) -> tuple[BestSpans, tf.Tensor]:
    """Returns all spans of evidence of each question, best first.

    The probability of a word is the mean of its subwords' in all windows that have it, that of a
    sentence the mean of its words', that of a span of words too.

    Args:
        model: A `tfmrc.models.EvidenceReader`.
        windows: dict. The output of `ExtractiveReaderPreprocessor.source`; passage k of question b
            is the row `b * N + k`.
        texts: string `[B N]`, UTF-8. All passages.
        num_questions: int or int32 scalar B.
        unit: str. `"span"`: the longest runs of words that each reach the threshold; `"sentence"`:
            the sentences that reach it.
        threshold: float. The smallest probability.

    Returns:
        The spans, whose scores are probabilities, K of the question with most spans, at least 1;
        and float32 `[B]`, the greatest probability of a word or sentence of the question.
    """
    words = _words(windows, window_scores(model, windows)[..., 0])
    if unit == "sentence":
        units = _pooled(words, _sentences(texts, words))
        spans = _chosen(units, tf.where(units.score >= threshold)[:, 0])
    else:
        units = words
        found = tf.where(words.score >= threshold)[:, 0]  # [F]
        spans = _chosen(words, found)
        goes_on = (found[1:] == found[:-1] + 1) & (spans.row[1:] == spans.row[:-1])
        begins = tf.pad(tf.cast(~goes_on, tf.int32), [[1, 0]])[: tf.size(found)]  # [F]
        spans = _pooled(spans, tf.cumsum(begins))
    num_passages = tf.maximum(tf.size(texts) // num_questions, 1)
    question, of_units = spans.row // num_passages, units.row // num_passages
    counts = tf.math.unsorted_segment_sum(tf.ones_like(question), question, num_questions)  # [B]
    count = tf.maximum(tf.reduce_max(counts), 1)
    best = tf.math.unsorted_segment_max(units.score, of_units, num_questions)  # [B]
    ordered = best_first(spans, question, num_questions=num_questions, count=count)
    return ordered, tf.maximum(best, 0.0)


def _words(windows: Tensors, scores: tf.Tensor) -> BestSpans:
    """Returns the words of all passages, in their order, with their probabilities, `[U]` each."""
    cells = tf.where(windows["starts"] >= 0)  # [A, 2], subwords of passages
    window = tf.cast(cells[:, 0], tf.int32)  # [A]
    row = tf.gather(windows["row"], window)  # [A]
    starts, ends = (tf.gather_nd(windows[name], cells) for name in ("word_starts", "word_ends"))
    size = tf.reduce_max(tf.pad(ends, [[0, 1]])) + 1
    # Windows follow one another, so that words are first seen in their order.
    key, word = tf.unique(pack(row, starts, ends, size))  # [U], [A]
    chance = tf.sigmoid(tf.gather_nd(scores, cells))  # [A]
    row, starts, ends = unpack(key, size)
    return BestSpans(
        row,
        starts,
        ends,
        tf.math.unsorted_segment_mean(chance, word, tf.size(key)),
        tf.math.unsorted_segment_min(window, word, tf.size(key)),
    )


def _sentences(texts: tf.Tensor, words: BestSpans) -> tf.Tensor:
    """Returns the number of each word's sentence, int32 `[U]`: words of one have one number."""
    tokens = Tokenizer().tokenize(texts)
    numbers = tf.pad(sentence_numbers(texts, tokens), [[1, 0]])  # [1 + T]
    size = tf.reduce_max(tf.concat([tokens.ends.values, words.ends, [0]], axis=0)) + 1

    def place(row: tf.Tensor, starts: tf.Tensor) -> tf.Tensor:
        return pack(tf.zeros_like(row), row, starts, size)

    begins = place(row_of_values(tokens.starts), tokens.starts.values)  # [T], rising
    # That of the last token that begins at the word's begin or before.
    token = tf.searchsorted(begins, place(words.row, words.starts), side="right")  # [U]
    number = tf.gather(numbers, token)
    return tf.unique(pack(tf.zeros_like(number), words.row, number, tf.size(numbers) + 1))[1]


def _pooled(spans: BestSpans, group: tf.Tensor) -> BestSpans:
    """Returns one span for each group of consecutive spans, with their mean probability.

    Args:
        spans: `BestSpans` of N spans, `[N]` each.
        group: int32 `[N]`, rising.
    """
    return BestSpans(
        tf.math.segment_min(spans.row, group),
        tf.math.segment_min(spans.starts, group),
        tf.math.segment_max(spans.ends, group),
        tf.math.segment_mean(spans.score, group),
        tf.math.segment_min(spans.window, group),
    )


def _chosen(spans: BestSpans, index: tf.Tensor) -> BestSpans:
    return BestSpans(*(tf.gather(values, index) for values in spans))

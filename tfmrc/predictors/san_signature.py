"""From strings to spans in one graph: what a predictor of spans runs and what is exported."""

from typing import Any

import tensorflow as tf

from tfmrc.ops.masking import LOG_ZERO
from tfmrc.predictors.options import SpanOptions

__all__ = ["san_signature", "span_signature"]

# Windows that the model reads at once: what one request can make grow stays bounded.
CHUNK = 16
STEPS = ("step_begin", "step_end", "step_weights")


def span_signature(preprocessor: Any) -> tuple[tf.TensorSpec, ...]:
    """`question`, `passage` and what a tagger makes, string `[B]` each."""
    names = ("question", "passage", *preprocessor.annotations)
    return tuple(tf.TensorSpec([None], tf.string, name=name) for name in names)


def san_signature(model: Any, preprocessor: Any, options: SpanOptions) -> Any:
    """A `tf.function` from `question [B]`, `passage [B]` (and annotations) to a dict of tensors.

    Outputs, with K = `options.num_return_sequences`:

    - `answer` string `[B]`, `start`, `end` int32 `[B]` (code points of the passage), `probability`
      float32 `[B]`: the best span; `""`, -1 and 0 where a passage has no words;
    - `answers`, `starts`, `ends`, `probabilities` `[B, K]`: the K best, each span once;
    - `truncated` bool `[B]`;
    - with `options.return_steps`, of the window that holds the best span: `step_begin`,
      `step_end` float32 `[B, T, n]`, `step_weights` `[B, T]`, and `word_starts`, `word_ends` int32
      `[B, n]`, where its words stand.

    A long passage is read in windows (see `tfmrc.preprocessing.SANPreprocessor.windows`), a few at a time.
    """
    count = options.num_return_sequences
    max_length = options.max_length or preprocessor.answer_length
    names = preprocessor.model_inputs

    def find(chunk: dict[str, tf.Tensor]) -> tuple[tf.Tensor, ...]:
        outputs = model.find(chunk, num_steps=options.num_steps, return_steps=options.return_steps)
        spans = model.spans(outputs, max_length, count)
        steps = tuple(outputs[name] for name in STEPS) if options.return_steps else ()
        return (*spans, *steps)

    def find_in(windows: dict[str, tf.Tensor]) -> list[tf.Tensor]:
        """`find` for all windows, `CHUNK` at a time."""
        total = tf.shape(windows["row"])[0]
        chunks = (total + CHUNK - 1) // CHUNK
        dtypes = [tf.int32, tf.int32, tf.float32] + [tf.float32] * 3 * options.return_steps
        arrays = [tf.TensorArray(dtype, size=chunks, infer_shape=False) for dtype in dtypes]

        def body(number, *arrays):
            part = slice(number * CHUNK, (number + 1) * CHUNK)
            found = find({name: windows[name][part] for name in names})
            written = zip(arrays, found, strict=True)
            return number + 1, *(array.write(number, value) for array, value in written)

        _, *arrays = tf.while_loop(
            lambda number, *_: number < chunks, body, (0, *arrays), parallel_iterations=1
        )
        return [array.concat() for array in arrays]

    def read(question: tf.Tensor, passage: tf.Tensor, *tags: tf.Tensor) -> dict[str, tf.Tensor]:
        annotations = dict(zip(preprocessor.annotations, tags, strict=True))
        source = preprocessor.source(
            question, passage, limit=preprocessor.longest_passage, **annotations
        )
        windows = preprocessor.windows(source)
        begin, end, log_probability, *steps = find_in(windows)
        first = windows["first"][:, None]
        begin, end = begin + first, end + first
        chosen, log_probability, window = _best(
            windows["row"], begin, end, log_probability, tf.shape(question)[0], count
        )
        begin, end = chosen
        real = log_probability > 0.5 * LOG_ZERO
        size = tf.shape(source["starts"])[1]
        starts, stops = (
            tf.where(real, tf.gather(source[name], tf.minimum(at, size - 1), batch_dims=1), -1)
            for name, at in (("starts", begin), ("ends", end))
        )
        probability = tf.where(real, tf.exp(log_probability), 0.0)
        answers = _characters(passage, starts, stops)
        outputs = {
            "answer": answers[:, 0],
            "start": starts[:, 0],
            "end": stops[:, 0],
            "probability": probability[:, 0],
            "answers": answers,
            "starts": starts,
            "ends": stops,
            "probabilities": probability,
            "truncated": source["truncated"],
        }
        if options.return_steps:
            place = tf.gather(first, window) + tf.range(tf.shape(windows["passage_ids"])[1])
            inside = place < size
            for name, of in (("word_starts", "starts"), ("word_ends", "ends")):
                at = tf.gather(source[of], tf.minimum(place, size - 1), batch_dims=1)
                outputs[name] = tf.where(inside, at, 0)
            for name, values in zip(STEPS, steps, strict=True):
                values = tf.gather(values, window)
                outputs[name] = values if name == "step_weights" else tf.exp(values)
        return outputs

    return tf.function(read, input_signature=span_signature(preprocessor), autograph=False)


def _best(row, begin, end, log_probability, num_examples, count):
    """Of all windows' spans the best of each example, each span once; and the best one's window."""
    windows = tf.range(tf.size(row))
    first = tf.searchsorted(row, tf.range(num_examples))
    most = tf.reduce_max(tf.concat([tf.math.bincount(row), [1]], axis=0))
    # Window w of an example and the span's rank in it: [B, most, K].
    index = tf.stack([row, windows - tf.gather(first, row)], axis=1)
    shape = tf.stack([num_examples, most, count])

    def spread(values, fill):
        empty = tf.fill(shape, tf.constant(fill, values.dtype))
        return tf.reshape(
            tf.tensor_scatter_nd_update(empty, index, values), [num_examples, most * count]
        )

    begin, end = spread(begin, -1), spread(end, -1)
    scores = spread(log_probability, 2 * LOG_ZERO)
    window = spread(tf.repeat(windows[:, None], count, axis=1), 0)
    order = tf.argsort(scores, axis=1, direction="DESCENDING", stable=True)
    begin, end, scores, window = (
        tf.gather(values, order, batch_dims=1) for values in (begin, end, scores, window)
    )
    # Windows overlap: a span that a better one equals is left out.
    span = begin * (tf.reduce_max(tf.concat([tf.reshape(end, [-1]), [0]], axis=0)) + 2) + end
    places = tf.range(most * count)
    same = (span[:, :, None] == span[:, None, :]) & (places[:, None] > places)
    scores = tf.where(tf.reduce_any(same, axis=2), 2 * LOG_ZERO, scores)
    scores, kept = tf.math.top_k(scores, count)
    begin, end = (tf.gather(values, kept, batch_dims=1) for values in (begin, end))
    best = tf.gather(window, kept[:, 0], batch_dims=1)
    return (tf.maximum(begin, 0), tf.maximum(end, 0)), scores, best


def _characters(passage, starts, ends):
    """The passage's code points from `starts` to `ends`, both `[B, K]`; "" where none are."""
    text = tf.strings.unicode_transcode(passage, "UTF-8", "UTF-8", errors="replace")
    text = tf.repeat(text[:, None], tf.shape(starts)[1], axis=1)
    return tf.strings.substr(text, tf.maximum(starts, 0), ends - starts, unit="UTF8_CHAR")

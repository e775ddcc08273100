"""SAN's predictor: answers that are spans of passages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.options import SpanOptions
from tfmrc.predictors.span_answer import SpanAnswer
from tfmrc.predictors.task import Query, Task
from tfmrc.storage.warmup import PASSAGES, QUESTION

__all__ = ["Ranker", "SANPredictor", "Tagger", "san_signature"]

Ranker = Callable[[str, Sequence[str]], Sequence[float]]
"""A function of a question and its passages that returns one relevance per passage."""

Tagger = Callable[[Sequence[str], Sequence[str]], Mapping[str, Sequence[str]]]
"""A function of B questions and B passages that returns `preprocessor.annotations`, `[B]` each."""

BATCH_SIZE = 32  # pairs of question and passage per batch
CHUNK = 16  # windows that the model reads at once: bounds the memory of one request
STEPS = ("step_begin", "step_end", "step_weights")


@keras.saving.register_keras_serializable(package="tfmrc")
class SANPredictor(Predictor[SpanAnswer]):
    """Answers questions with spans of passages.

    Each passage is read alone; the answer is the span with the largest probability, times the
    passage's relevance if there is a ranker. The options are those of
    `tfmrc.predictors.SpanOptions`.

    Args:
        model: A `tfmrc.models.SAN`, or a model with the same methods.
        preprocessor: The `tfmrc.preprocessing.SANPreprocessor` that it was trained with.
        tagger: Callable or None. Makes the annotations that the preprocessor needs. It can be set
            later, as the attribute `tagger`; it is not saved. Default: None.
        ranker: Callable or None. Computes each passage's relevance; not saved. Default: None.

    Raises:
        ValueError: If model and preprocessor disagree.

    Example:

    >>> import tfmrc
    >>> from tfmrc import models, preprocessing, text
    >>> words = text.Vocabulary("how tall is k2 metres".split())
    >>> preprocessor = preprocessing.SANPreprocessor(words)
    >>> model = models.SAN(vocabulary_size=9, word_dim=8, units=4, align_dim=4)
    >>> predictor = tfmrc.Predictor(model, preprocessor)
    >>> passage = "K2 is 8,611 metres high."
    >>> answer = predictor.answer(
    ...     question="How tall is K2?", passages=[passage], num_return_sequences=2)
    >>> answer.text == passage[answer.start : answer.end], len(answer.alternatives)
    (True, 1)
    """

    model_class = models.SAN
    model_methods = ("find", "spans")
    preprocessor_class = preprocessing.SANPreprocessor
    options_class = SpanOptions

    def __init__(
        self,
        model: Any,
        preprocessor: Any,
        tagger: Tagger | None = None,
        ranker: Ranker | None = None,
    ):
        super().__init__(model, preprocessor)
        self.tagger = tagger
        self.ranker = ranker

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The one task, `"answer"`."""
        return (Task("answer", "answer", self.preprocessor.styles[0]),)

    def build_signatures(self, options: SpanOptions) -> dict[str, Any]:
        """Returns `serving_default`; see `san_signature`."""
        return {"serving_default": san_signature(self.model, self.preprocessor, options)}

    def predict_batch(
        self, queries: Sequence[Query], task: Task, options: Mapping[str, Any]
    ) -> Iterator[SpanAnswer]:
        """Yields one answer per request: the best of all its passages."""
        pairs = [
            (row, query.question, passage)
            for row, query in enumerate(queries)
            for passage in query.passages or ("",)
        ]
        answers: list[list[SpanAnswer]] = [[] for _ in queries]
        for first in range(0, len(pairs), BATCH_SIZE):
            part = pairs[first : first + BATCH_SIZE]
            inputs = {"question": [p[1] for p in part], "passage": [p[2] for p in part]}
            outputs = self.run("serving_default", inputs, **options)
            for position, (row, _, _) in enumerate(part):
                answers[row].append(SpanAnswer.from_outputs(outputs, position))
        for query, of_passages in zip(queries, answers, strict=True):
            relevance = [1.0] * len(of_passages)
            if self.ranker is not None and query.passages:
                relevance = [float(value) for value in self.ranker(query.question, query.passages)]
            yield best_of_passages(of_passages, relevance, count=outputs["starts"].shape[1])

    def complete(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Adds the annotations of the tagger, unless they are given.

        Raises:
            ValueError: If annotations are needed and there is no tagger.
        """
        missing = [name for name in self.preprocessor.annotations if name not in inputs]
        if not missing or not {"question", "passage"} <= set(inputs):
            return inputs
        if self.tagger is None:
            raise ValueError(
                f"This model was trained with {', '.join(missing)} of the tagger "
                f"{self.model.tagger!r}: pass them among the inputs, or set the predictor's "
                "`tagger`. Received: tagger=None"
            )
        tags = self.tagger(inputs["question"], inputs["passage"])
        return {**inputs, **{name: tags[name] for name in missing}}

    def check_agreement(self) -> None:
        """Raises a ValueError if model and preprocessor disagree, or the tagger is unknown."""
        super().check_agreement()
        if self.preprocessor.annotations and not self.model.tagger:
            raise ValueError(
                "A model that reads tags needs the name and version of their tagger: "
                f"models.SAN(tagger=...). Received: tagger={self.model.tagger!r}"
            )

    def warmup_request(self) -> dict[str, Any] | None:
        """Returns a small question; None if the model needs tags."""
        if self.preprocessor.annotations:
            return None
        return {"question": [QUESTION], "passage": [PASSAGES[0]]}


def best_of_passages(
    answers: Sequence[SpanAnswer], relevance: Iterable[float] | None = None, *, count: int
) -> SpanAnswer:
    """Returns the answer with the largest probability times relevance.

    Its alternatives are the next best spans of all passages. It is `truncated` if one of the
    passages was, or the question.

    Args:
        answers: list of `SpanAnswer`. One answer per passage, in their order.
        relevance: iterable of float or None. A number per passage; None for equal weights.
            Default: None.
        count: int. Greatest number of spans, with the best one.

    Example:

    >>> from tfmrc.predictors import SpanAnswer
    >>> from tfmrc.predictors.san import best_of_passages
    >>> other = SpanAnswer("a cat", start=4, end=9, probability=0.1)
    >>> first = SpanAnswer("a dog", start=0, end=5, probability=0.4, alternatives=(other,))
    >>> second = SpanAnswer("an owl", start=9, end=15, probability=0.8)
    >>> best = best_of_passages([first, second], count=2)
    >>> [(span.text, span.passage) for span in (best, *best.alternatives)]
    [('an owl', 1), ('a dog', 0)]
    """
    weights = [1.0] * len(answers) if relevance is None else relevance
    spans = [
        replace(span, passage=number, score=(span.probability or 0.0) * weight, alternatives=())
        for number, (answer, weight) in enumerate(zip(answers, weights, strict=True))
        for span in (answer, *answer.alternatives)
    ]
    spans.sort(key=lambda span: (span.score or 0.0, span.start >= 0), reverse=True)
    best, *others = spans
    found = [span for span in others if span.start >= 0 and best.start >= 0]
    truncated = any(answer.truncated for answer in answers)
    return replace(best, truncated=truncated, alternatives=tuple(found[: count - 1]))


def input_signature(preprocessor: Any) -> tuple[tf.TensorSpec, ...]:
    """Returns `question`, `passage` and the annotations of a tagger, string `[B]` each."""
    names = ("question", "passage", *preprocessor.annotations)
    return tuple(tf.TensorSpec([None], tf.string, name=name) for name in names)


def san_signature(model: Any, preprocessor: Any, options: SpanOptions) -> Any:
    """Returns a `tf.function` from `question` and `passage` to a dict of tensors.

    Inputs: `question`, `passage` and the preprocessor's annotations, string `[B]` each.

    Outputs, with K = `options.num_return_sequences`:

    - `answer` string `[B]`, `start`, `end` int32 `[B]` (code points of the passage), `probability`
      float32 `[B]`: the best span; `""`, -1 and 0 where a passage has no words;
    - `answers`, `starts`, `ends`, `probabilities` `[B, K]`: the K best, each span once;
    - `truncated` bool `[B]`;
    - with `options.return_steps`, of the window that holds the best span: `step_begin`,
      `step_end` float32 `[B, T, n]`, `step_weights` `[B, T]`, and `word_starts`, `word_ends` int32
      `[B, n]`, the positions of its words.

    A long passage is read in windows (`tfmrc.preprocessing.SANPreprocessor.windows`), `CHUNK` at a
    time.

    Args:
        model: A `tfmrc.models.SAN`, or one with the same methods.
        preprocessor: Its `tfmrc.preprocessing.SANPreprocessor`.
        options: `SpanOptions`. Options of the search.
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
        """Applies `find` to all windows, `CHUNK` at a time."""
        total = tf.shape(windows["row"])[0]
        chunks = tf.maximum(1, (total + CHUNK - 1) // CHUNK)  # one without rows, for its shapes
        dtypes = [tf.int32, tf.int32, tf.float32] + [tf.float32] * 3 * options.return_steps
        arrays = [tf.TensorArray(dtype, size=chunks, infer_shape=False) for dtype in dtypes]

        def body(number, *arrays):
            part = slice(number * CHUNK, (number + 1) * CHUNK)
            result = find({name: windows[name][part] for name in names})
            written = zip(arrays, result, strict=True)
            return number + 1, *(array.write(number, value) for array, value in written)

        _, *arrays = tf.while_loop(
            lambda number, *_: number < chunks, body, (0, *arrays), parallel_iterations=1
        )
        return [array.concat() for array in arrays]

    def answer(question: tf.Tensor, passage: tf.Tensor, *tags: tf.Tensor) -> dict[str, tf.Tensor]:
        annotations = dict(zip(preprocessor.annotations, tags, strict=True))
        source = preprocessor.source(
            question, passage, limit=preprocessor.longest_passage, **annotations
        )
        windows = preprocessor.windows(source)
        begin, end, log_probability, *steps = find_in(windows)
        first = windows["first"][:, None]
        begin, end = begin + first, end + first
        (begin, end), log_probability, window = best_of_windows(
            windows["row"], begin, end, log_probability, tf.shape(question)[0], count
        )
        real = log_probability > 0.5 * LOG_ZERO
        size = tf.shape(source["starts"])[1]
        starts, stops = (
            tf.where(real, tf.gather(source[name], tf.minimum(index, size - 1), batch_dims=1), -1)
            for name, index in (("starts", begin), ("ends", end))
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
            position = tf.gather(first, window) + tf.range(tf.shape(windows["passage_ids"])[1])
            inside = position < size
            for name, of in (("word_starts", "starts"), ("word_ends", "ends")):
                index = tf.gather(source[of], tf.minimum(position, size - 1), batch_dims=1)
                outputs[name] = tf.where(inside, index, 0)
            for name, values in zip(STEPS, steps, strict=True):
                values = tf.gather(values, window)
                outputs[name] = values if name == "step_weights" else tf.exp(values)
        return outputs

    return tf.function(answer, input_signature=input_signature(preprocessor), autograph=False)


def best_of_windows(
    row: tf.Tensor,
    begin: tf.Tensor,
    end: tf.Tensor,
    log_probability: tf.Tensor,
    num_examples: Any,
    count: int,
) -> tuple[tuple[tf.Tensor, tf.Tensor], tf.Tensor, tf.Tensor]:
    """Returns each example's best spans over its windows, a span in several windows once.

    Time and memory are linear in the number of windows, but for the sorting.

    Args:
        row: int32 `[W]`, the example of each window, rising.
        begin, end, log_probability: `[W, K]`, the best spans of each window; `begin` and `end` are
            positions in the passage.
        num_examples: int32 scalar B.
        count: int. K.

    Returns:
        `(begin, end)` int32 `[B, K]`, the log-probabilities float32 `[B, K]`, below `LOG_ZERO`
        where there are fewer spans, and the window of the best span, int32 `[B]`.
    """
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
    # Windows overlap: of equal spans, which are sorted side by side, the most probable one is kept.
    span = tf.cast(begin, tf.int64) * 2**32 + tf.cast(end, tf.int64)
    order = tf.argsort(scores, axis=1, direction="DESCENDING", stable=True)
    by_span = tf.argsort(tf.gather(span, order, batch_dims=1), axis=1, stable=True)
    order = tf.gather(order, by_span, batch_dims=1)
    begin, end, scores, window, span = (
        tf.gather(values, order, batch_dims=1) for values in (begin, end, scores, window, span)
    )
    repeated = tf.pad(span[:, 1:] == span[:, :-1], [[0, 0], [1, 0]])
    scores = tf.where(repeated, 2 * LOG_ZERO, scores)
    scores, selected = tf.math.top_k(scores, count)
    begin, end = (tf.gather(values, selected, batch_dims=1) for values in (begin, end))
    best = tf.gather(window, selected[:, 0], batch_dims=1)
    return (tf.maximum(begin, 0), tf.maximum(end, 0)), scores, best


def _characters(passage, starts, ends):
    """Returns the passage's code points from `starts` to `ends`, both `[B, K]`; `""` for none."""
    text = tf.strings.unicode_transcode(passage, "UTF-8", "UTF-8", errors="replace")
    text = tf.repeat(text[:, None], tf.shape(starts)[1], axis=1)
    return tf.strings.substr(text, tf.maximum(starts, 0), ends - starts, unit="UTF8_CHAR")

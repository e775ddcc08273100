"""SAN's predictor: answers that are spans of passages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import SpanModel
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.exported.inputs import at_least_one
from tfmrc.predictors.options import SpanOptions
from tfmrc.predictors.spans.span_answer import SpanAnswer
from tfmrc.predictors.spans.windows import (
    BEST,
    best_spans,
    over_windows,
    segment_logsumexp,
    span_outputs,
    utf_8,
)
from tfmrc.preprocessing.protocols import SpanPreprocessor
from tfmrc.text.layout import parts_of_rows

Ranker = Callable[[str, Sequence[str]], Sequence[float]]
"""A function of a question and its passages that returns one relevance per passage."""

Tagger = Callable[[Sequence[str], Sequence[str]], Mapping[str, Sequence[str]]]
"""A function of questions and passages that returns for each of `preprocessor.annotations` the tags
of all questions (`question_lemmas`) or of all passages."""

CHUNK = 16  # windows that the model reads at once: bounds the memory of one request
CANDIDATES = 32  # spans of each window that can be part of an answer
STEPS = ("step_begin", "step_end", "step_weights")
RELEVANCE = tf.TensorSpec([None, None], tf.float32, name="relevance")


@keras.saving.register_keras_serializable(package="tfmrc")
class SANPredictor(Predictor[SpanAnswer]):
    """Answers questions with spans of passages.

    All spans of all passages of a question share one distribution: a span of passage k has the
    probability that it has in its passage, times the passage's share of the relevance,
    `r_k / (r_1 + … + r_N)`; each window of a long passage counts as a passage. All passages are
    equally relevant without a ranker. The options are those of `tfmrc.predictors.SpanOptions`.

    Args:
        model: A `tfmrc.models.SAN`, or a model with the same methods.
        preprocessor: The `tfmrc.preprocessing.SANPreprocessor` that it was trained with.
        tagger: Callable or None. Makes the annotations that the preprocessor needs. It can be set
            later, as the attribute `tagger`; it is not saved. Default: None.
        ranker: Callable or None. Computes each passage's relevance; neither saved nor exported.
            Default: None.

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
    preprocessor_class = preprocessing.SANPreprocessor
    model_protocol = SpanModel
    preprocessor_protocol = SpanPreprocessor
    options_class = SpanOptions
    meanings = {
        "answer": "the best answer, as its passage writes it; empty for passages without words",
        "passage_lemmas": "the lemma of each word of each passage",
        "passage_pos": "the part-of-speech tag of each word of each passage",
        "passage_ner": "the type of entity of each word of each passage",
        "question_lemmas": "the lemma of each word of the question, single spaces between them",
        "step_begin": "each step's probabilities that the answer begins with a word of the window",
        "step_end": "likewise that it ends with it",
        "step_weights": "the share of each step in the result",
        "word_starts": "offsets of the window's words in the passage",
        "word_ends": "offsets after them",
    }

    def __init__(
        self,
        model: keras.Model,
        preprocessor: preprocessing.Preprocessor,
        tagger: Tagger | None = None,
        ranker: Ranker | None = None,
    ):
        super().__init__(model, preprocessor)
        self.tagger = tagger
        self.ranker = ranker

    def build_signatures(self, options: SpanOptions) -> dict[str, Any]:
        """Returns `serving_default`, a `tf.function` from strings to a dict of tensors.

        Inputs: `question` string `[B]`, `passages` string `[B, N]`, `""` for a missing one; the
        preprocessor's annotations, string `[B]` of questions and `[B, N]` of passages; and unless
        it is exported `relevance` float32 `[B, N]`.

        Outputs, with K = `options.num_return_sequences`:

        - `answer` string `[B]`, `start`, `end` int32 `[B]` (code points of the passage), `passage`
          int32 `[B]`, `probability` float32 `[B]`: the best span; `""`, -1 and 0 where the passages
          have no words;
        - `answers`, `starts`, `ends`, `answer_passages`, `probabilities` `[B, K]`: the K best
          answers of all passages, each once, at its best place;
        - `truncated` bool `[B]`;
        - with `options.return_steps`, of the window that holds the best span: `step_begin`,
          `step_end` float32 `[B, T, n]`, `step_weights` `[B, T]`, and `word_starts`, `word_ends`
          int32 `[B, n]`, the positions of its words.

        A long passage is read in windows (`tfmrc.preprocessing.SANPreprocessor.windows`), `CHUNK`
        at a time (`tfmrc.predictors.spans.windows`).

        Reference: Liu et al. 2018 (SAN), Table 7 and its footnote: spans by P(span) times
        relevance.
        """
        return {"serving_default": self._signature(options, (RELEVANCE,))}

    def export_signatures(self, options: SpanOptions) -> dict[str, Any]:
        """Returns `serving_default`, without the relevance: all passages are equally relevant."""
        return {"serving_default": self._signature(options, ())}

    def _signature(self, options: SpanOptions, relevance: tuple[tf.TensorSpec, ...]) -> Any:
        preprocessor: SpanPreprocessor = self.preprocessor
        names = ("question", "passages", *preprocessor.annotations)

        def answer(
            question: tf.Tensor, passages: tf.Tensor, *others: tf.Tensor
        ) -> dict[str, tf.Tensor]:
            passages = at_least_one(passages)
            rows, columns = tf.unstack(tf.shape(passages))  # B, N
            annotations = {
                name: tf.repeat(values, columns)
                if name.startswith("question")
                else tf.reshape(at_least_one(values), [-1])
                for name, values in zip(preprocessor.annotations, others, strict=False)
            }  # [B N] each
            texts = utf_8(tf.reshape(passages, [-1]))  # [B N]
            source = preprocessor.source(
                tf.repeat(question, columns),
                texts,
                limit=preprocessor.longest_passage,
                **annotations,
            )
            weights = at_least_one(others[-1]) if relevance else tf.ones([rows, columns])
            share = shares(source, weights)  # [B N]
            outputs = self._spans(options, texts, source, share, rows)
            truncated = tf.reshape(source["truncated"], [rows, columns])
            return outputs | {"truncated": tf.reduce_any(truncated, axis=1)}

        specs = tuple(
            tf.TensorSpec([None] if name.startswith("question") else [None, None], tf.string, name)
            for name in names
        )
        return tf.function(answer, input_signature=specs + relevance, autograph=False)

    def _spans(
        self,
        options: SpanOptions,
        texts: tf.Tensor,
        source: dict[str, tf.Tensor],
        share: tf.Tensor,
        num_questions: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Returns the outputs that describe spans.

        Args:
            options: `SpanOptions`.
            texts: string `[B N]`. All passages.
            source: dict. The output of `SANPreprocessor.source` for them.
            share: float32 `[B N]`. The result of `shares`.
            num_questions: int32 scalar B.
        """
        model: SpanModel = self.model
        preprocessor: SpanPreprocessor = self.preprocessor
        count, max_length = options.num_return_sequences, self.max_length(options)

        def find(chunk: dict[str, tf.Tensor]) -> tuple[tf.Tensor, ...]:
            outputs = model.find(
                chunk, num_steps=options.num_steps, return_steps=options.return_steps
            )
            spans = model.spans(outputs, max_length, max(count, CANDIDATES))  # [C, K'] each
            return (*spans, *(outputs[name] for name in STEPS if options.return_steps))

        windows = preprocessor.windows(source)
        row, first = windows["row"], windows["first"]  # [W] each
        total = tf.size(row)  # W
        # At least one chunk, for its shapes.
        ends = tf.range(1, tf.maximum(total + CHUNK - 1, CHUNK) // CHUNK + 1) * CHUNK
        begin, end, score, *steps = over_windows(
            find,
            {name: windows[name] for name in preprocessor.model_inputs},
            tf.minimum(ends, total),
            [tf.int32, tf.int32, tf.float32] + [tf.float32] * 3 * options.return_steps,
        )  # [W, K'] each, and [W, T, n], [W, T]
        weight, asked = tf.gather(share, row), row // (tf.size(texts) // num_questions)  # [W]
        weight -= tf.gather(segment_logsumexp(weight, asked, num_questions), asked)
        score += weight[:, None]
        spans = best_spans(
            texts,
            row,
            words_at(source["starts"], row, first[:, None] + begin),
            words_at(source["ends"], row, first[:, None] + end),
            score,
            score > 0.5 * LOG_ZERO,
            num_questions=num_questions,
            count=count,
            add=segment_logsumexp,
        )
        probability = tf.where(spans.starts >= 0, tf.exp(spans.score), 0.0)  # [B, K]
        outputs = span_outputs(texts, spans, probability, num_questions)
        outputs |= {name: outputs[several][:, 0] for name, several in BEST.items()}
        if options.return_steps:
            outputs |= step_outputs(source, windows, steps, spans.window)
        return outputs

    def complete(self, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        """Adds the annotations of the tagger and the relevance of the ranker, unless given.

        Raises:
            ValueError: If annotations are needed and there is no tagger.
        """
        if not {"question", "passages"} <= set(inputs):
            return inputs
        questions, passages = inputs["question"], inputs["passages"]
        added: dict[str, Any] = {}
        if self.ranker is None:
            added["relevance"] = [[1.0] * len(texts) for texts in passages]
        elif "relevance" not in inputs:
            pairs = zip(questions, passages, strict=True)
            added["relevance"] = [self.ranker(asked, texts) for asked, texts in pairs]
        missing = [name for name in self.preprocessor.annotations if name not in inputs]
        if missing and self.tagger is None:
            raise ValueError(
                f"This model was trained with {', '.join(missing)} of the tagger "
                f"{self.model.tagger!r}: pass them among the inputs, or set the predictor's "
                "`tagger`. Received: tagger=None"
            )
        if missing and self.tagger is not None:
            tags = self.tagger(questions, [text for texts in passages for text in texts])
            for name in missing:
                of_passages = iter(tags[name])
                added[name] = (
                    tags[name]
                    if name.startswith("question")
                    else [[next(of_passages) for _ in texts] for texts in passages]
                )
        return {**added, **inputs}

    def check_agreement(self) -> None:
        """Raises a ValueError if model and preprocessor disagree, or the tagger is unknown."""
        super().check_agreement()
        if self.preprocessor.annotations and not self.model.tagger:
            raise ValueError(
                "A model that reads tags needs the name and version of their tagger: "
                f"models.SAN(tagger=...). Received: tagger={self.model.tagger!r}"
            )


def words_at(values: tf.Tensor, row: tf.Tensor, positions: tf.Tensor) -> tf.Tensor:
    """Returns the values of words, int32 `[W, K]`.

    Args:
        values: int32 `[B N, n]`. A number of each word of the passages.
        row: int32 `[W]`. The passage of each row of positions.
        positions: int32 `[W, K]`. Words of these passages; those beyond the last one are the last.
    """
    return parts_of_rows(values, row, tf.minimum(positions, tf.shape(values)[1] - 1))


def shares(source: dict[str, tf.Tensor], relevance: tf.Tensor) -> tf.Tensor:
    """Returns the logarithm of each passage's share of the relevance of its question's passages.

    Passages without words have no share. If no passage is relevant, all are equally so.

    Args:
        source: dict. The output of `SANPreprocessor.source` for B N passages.
        relevance: float32 `[B, N]`, at least 0 for passages with words.

    Returns:
        float32 `[B N]`.
    """
    has_words = tf.reduce_any(source["starts"] < source["ends"], axis=1)
    present = tf.cast(tf.reshape(has_words, tf.shape(relevance)), tf.float32)
    weights = present * tf.maximum(relevance, 0.0)
    total = tf.reduce_sum(weights, axis=1, keepdims=True)
    weights = tf.where(total > 0, weights, present)
    share = tf.math.divide_no_nan(weights, tf.reduce_sum(weights, axis=1, keepdims=True))
    share = tf.reshape(share, [-1])
    return tf.where(share > 0, tf.math.log(tf.where(share > 0, share, 1.0)), 2 * LOG_ZERO)


def step_outputs(
    source: dict[str, tf.Tensor],
    windows: dict[str, tf.Tensor],
    steps: Sequence[tf.Tensor],
    window: tf.Tensor,
) -> dict[str, tf.Tensor]:
    """Returns the distributions of all steps in a window per question, and its words.

    Args:
        source, windows: dicts. The outputs of `SANPreprocessor.source` and `windows`.
        steps: list. The values of `STEPS`, `[W, ..]`.
        window: int32 `[B]`; -1 for none, which gets zeros.
    """
    is_real = window >= 0  # [B]
    window = tf.maximum(window, 0)
    row, first = (tf.gather(windows[name], window) for name in ("row", "first"))  # [B] each
    position = first[:, None] + tf.range(tf.shape(windows["passage_ids"])[1])  # [B, n]
    inside = (position < tf.shape(source["starts"])[1]) & is_real[:, None]
    outputs = {
        f"word_{name}": tf.where(inside, words_at(source[name], row, position), 0)  # [B, n]
        for name in ("starts", "ends")
    }
    for name, values in zip(STEPS, steps, strict=True):
        values = values if name == "step_weights" else tf.exp(values)  # [W, T, ..]
        mask = is_real[:, None] if name == "step_weights" else is_real[:, None, None]
        outputs[name] = tf.where(mask, tf.gather(values, window), 0.0)  # [B, T, ..]
    return outputs

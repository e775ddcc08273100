"""Masque's predictor: answers in a style, with the source of every word."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.decoding import Hypotheses
from tfmrc.ops.ids import EOS
from tfmrc.predictors.answer import Answer
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.options import DecodingOptions
from tfmrc.predictors.provenance import provenance
from tfmrc.predictors.task import Query, Task
from tfmrc.preprocessing.labels import UNKNOWN
from tfmrc.storage.warmup import PASSAGES, QUESTION

__all__ = ["MasquePredictor", "masque_signature"]

INPUT_SIGNATURE = (
    tf.TensorSpec([None], tf.string, name="question"),
    tf.TensorSpec([None, None], tf.string, name="passages"),
    tf.TensorSpec([None], tf.string, name="style"),
)
RELEVANCE = tf.TensorSpec([None, None], tf.int32, name="relevance")


@keras.saving.register_keras_serializable(package="tfmrc")
class MasquePredictor(Predictor[Answer]):
    """Answers questions from several passages in a style.

    There is one task per style. The options are those of `tfmrc.predictors.DecodingOptions`.

    Args:
        model: A `tfmrc.models.Masque`, or a model with the same decoding methods.
        preprocessor: The `tfmrc.preprocessing.MasquePreprocessor` that it was trained with.

    Raises:
        ValueError: If model and preprocessor disagree on passages, styles, vocabulary or
            characters.

    Example:

    >>> import tfmrc
    >>> from tfmrc import models, preprocessing, text
    >>> words = text.Vocabulary("how tall is k2 metres it stands high".split())
    >>> preprocessor = preprocessing.MasquePreprocessor(
    ...     words, styles=("qa", "nlg"), num_passages=2)
    >>> model = models.Masque(
    ...     vocabulary_size=12, num_styles=2, num_passages=2, word_dim=8, hidden_dim=8,
    ...     num_heads=2, intermediate_dim=8, num_shared_blocks=1, num_question_blocks=1,
    ...     num_passage_blocks=1, num_decoder_blocks=1)
    >>> predictor = tfmrc.Predictor(model, preprocessor)
    >>> answer = predictor.answer(
    ...     question="How tall is K2?", passages=["K2 is 8,611 metres high."], max_length=3)
    >>> len(answer.words) <= 3 and answer.words[0].source in ("vocabulary", "question", "passage")
    True
    """

    model_class = models.Masque
    model_methods = ("encode", "generate", "attribute")
    preprocessor_class = preprocessing.MasquePreprocessor
    options_class = DecodingOptions

    @property
    def tasks(self) -> tuple[Task, ...]:
        """One task per style."""
        return tuple(Task(style, "answer", style) for style in self.preprocessor.styles)

    def build_signatures(self, options: DecodingOptions) -> dict[str, Any]:
        """Returns `serving_default`; see `masque_signature`."""
        signature = masque_signature(self.model, self.preprocessor, options, self.is_trained)
        return {"serving_default": signature}

    def answer(
        self,
        *,
        question: str,
        passages: str | Sequence[str],
        style: str | None = None,
        **options: Any,
    ) -> Answer:
        """Answers one question; see `Predictor.answer`.

        Raises:
            ValueError: If the style is unknown, or the model needs the true relevance
                (`ranker="gold"`): `predict` takes it from the examples.
        """
        if self.model.gold_ranker:
            raise ValueError(
                "A model with ranker='gold' needs the true relevance of every passage: use "
                f"`predict` with examples that know it. Received: model={self.model.name!r}"
            )
        return super().answer(question=question, passages=passages, style=style, **options)

    def predict_batch(
        self, queries: Sequence[Query], task: Task, options: Mapping[str, Any]
    ) -> Iterable[Answer]:
        """Returns one answer per request."""
        passages = [query.passages for query in queries]
        inputs: dict[str, Any] = {
            "question": [query.question for query in queries],
            "passages": passages,
            "style": [task.style] * len(queries),
        }
        if self.model.gold_ranker:
            inputs["relevance"] = _matrix([query.relevance for query in queries], passages)
        outputs = self.run("serving_default", inputs, **options)
        return [
            Answer.from_outputs(outputs, row, num_passages=len(query.passages))
            for row, query in enumerate(queries)
        ]

    def check_agreement(self) -> None:
        """Raises a ValueError if sizes differ, or only one of the two has words' characters."""
        super().check_agreement()
        reads, has = self.model.reads_characters, self.preprocessor.characters
        if reads != has:
            raise ValueError(
                "A model with a contextual embedding that reads characters needs a preprocessor "
                "with `characters=True`, and no other model does. "
                f"Received: characters in the model: {reads}, in the preprocessor: {has}"
            )

    def check_exportable(self) -> None:
        """Raises a ValueError if the model needs the true relevance of the passages."""
        if self.model.gold_ranker:
            raise ValueError(
                "A model with ranker='gold' needs the true relevance of every passage, which "
                "nobody has when a question is asked. Build it with ranker=True. "
                f"Received: model={self.model.name!r}"
            )

    def warmup_request(self) -> dict[str, Any]:
        """Returns a small question for each style."""
        styles = self.preprocessor.styles
        return {
            "question": [QUESTION] * len(styles),
            "passages": [list(PASSAGES)] * len(styles),
            "style": list(styles),
        }


def _matrix(
    relevance: Sequence[Sequence[bool] | None], passages: Sequence[Sequence[str]]
) -> np.ndarray:
    """Returns int32 `[B, K]`: 1, 0, and -1 where it is unknown or there is no passage."""
    matrix = np.full([len(passages), max(map(len, passages), default=0)], UNKNOWN, np.int32)
    for row, flags in enumerate(relevance):
        if flags is not None:
            matrix[row, : len(flags)] = flags
    return matrix


def masque_signature(
    model: Any,
    preprocessor: Any,
    options: DecodingOptions,
    is_trained: Callable[[str], bool] = lambda part: True,
) -> Any:
    """Returns a `tf.function` from `question`, `passages` and `style` to a dict of tensors.

    Inputs: `question` string `[B]`, `passages` string `[B, K]` (any K; `""` for a missing one),
    `style` string `[B]`.

    Outputs (`T` is the batch's longest answer, `K` the model's number of passages):

    - `answer` string `[B]`, `num_words` int32 `[B]`, `score`, `probability`, `log_probability`
      float32 `[B]`, `finished` bool `[B]`;
    - for each word `words`, `sources`, `source_texts` string `[B, T]`, `passage_indices`, `starts`,
      `ends` int32 `[B, T]` (-1: none), `mixture` float32 `[B, T, 3]`; `""`, -1 and 0 beyond
      `num_words`;
    - `alternatives` string, `alternative_scores`, `alternative_log_probabilities` float32,
      `alternative_finished` bool `[B, num_return_sequences - 1]`, if several hypotheses are
      requested;
    - `relevance` float32 `[B, K]`, `answerable_probability` float32 `[B]`, if the model has the
      parts;
    - `truncated` bool `[B]`.

    A model without a decoder returns only the last three. A model with `ranker="gold"` takes a
    fourth input, `relevance` int32 `[B, K]`: 1, 0 or -1 (unknown).

    Args:
        model: A `tfmrc.models.Masque`, or one with the same decoding methods.
        preprocessor: Its `tfmrc.preprocessing.MasquePreprocessor`.
        options: `DecodingOptions`. Options of the search.
        is_trained: callable. Function of "decoder", "ranker" or "classifier" that returns True if
            the part was trained; outputs of other parts are left out.
    """
    max_length = options.max_length or preprocessor.answer_length

    def compute(inputs: dict[str, tf.Tensor]) -> dict[str, Any]:
        memory = model.encode(inputs)
        result: dict[str, Any] = {}
        if "ranker" in memory and is_trained("ranker"):
            result["relevance"] = tf.sigmoid(memory["ranker"])
        if "classifier" in memory and is_trained("classifier"):
            result["answerable_probability"] = tf.sigmoid(memory["classifier"])
        if model.has_decoder and is_trained("decoder"):
            result["hypotheses"] = hypotheses = model.generate(
                memory,
                max_length,
                **options.search(),
            )
            ids = hypotheses.ids[:, 0]
            if not options.jit_compile:  # a compiled graph has fixed sizes
                longest = tf.reduce_max(hypotheses.lengths[:, 0])
                ids = ids[:, : tf.maximum(longest, 1)]
            result["ids"] = ids
            result["parts"] = model.attribute(memory, ids)
        return result

    if options.jit_compile:
        compute = tf.function(compute, jit_compile=True, autograph=False)

    def answer(
        question: tf.Tensor, passages: tf.Tensor, style: tf.Tensor, *relevance: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        rows = tf.shape(question)[0]
        for name, tensor in (("passages", passages), ("style", style)):
            tf.debugging.assert_equal(
                tf.shape(tensor)[0],
                rows,
                message=f"`{name}` must have as many rows as `question`.",
            )
        source = preprocessor.source(question, passages, style)
        inputs = {name: source[name] for name in preprocessor.model_inputs}
        if relevance:
            inputs["relevance_gold"] = preprocessor.relevance_gold(passages, *relevance)
        result = compute(inputs)
        outputs: dict[str, tf.Tensor] = {
            name: tf.cast(result[name], tf.float32)
            for name in ("relevance", "answerable_probability")
            if name in result
        }
        outputs["truncated"] = source["truncated"]
        if "hypotheses" in result:
            outputs.update(_in_words(preprocessor, result, source))
        return outputs

    gold = (RELEVANCE,) if model.gold_ranker else ()
    return tf.function(answer, input_signature=INPUT_SIGNATURE + gold, autograph=False)


def _in_words(preprocessor, result, source) -> dict[str, tf.Tensor]:
    """Returns the outputs on strings: the answer, its words and their sources."""
    hypotheses: Hypotheses = result["hypotheses"]
    ids, lengths = result["ids"], hypotheses.lengths[:, 0]
    answer, words = preprocessor.detokenize(ids, source)
    ended = tf.reduce_any(ids == EOS, axis=1)
    num_words = lengths - tf.cast(ended, tf.int32)
    longest = tf.reduce_max(tf.concat([num_words, [0]], axis=0))
    real = tf.sequence_mask(num_words, longest)
    log_probability = tf.cast(hypotheses.log_probability, tf.float32)
    outputs = {
        "answer": answer,
        "num_words": num_words,
        "score": hypotheses.score[:, 0],
        "probability": tf.exp(log_probability[:, 0]),
        "log_probability": log_probability[:, 0],
        "finished": ended | (lengths == 0),
        "words": tf.where(real, words[:, :longest], ""),
    }
    padding: dict[str, Any] = {"sources": "", "source_texts": "", "mixture": 0.0}
    for name, values in provenance(ids, result["parts"], source).items():
        mask = real[..., None] if name == "mixture" else real
        outputs[name] = tf.where(mask, values[:, :longest], padding.get(name, -1))
    if hypotheses.ids.shape[1] > 1:
        outputs["alternatives"], _ = preprocessor.detokenize(hypotheses.ids[:, 1:], source)
        outputs["alternative_scores"] = hypotheses.score[:, 1:]
        outputs["alternative_log_probabilities"] = log_probability[:, 1:]
        others = tf.reduce_any(hypotheses.ids[:, 1:] == EOS, axis=-1)
        outputs["alternative_finished"] = others | (hypotheses.lengths[:, 1:] == 0)
    return outputs

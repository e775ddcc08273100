"""Masque's predictor: answers in a style, with the source of every word."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import AnswerGenerator
from tfmrc.ops.ids import EOS
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.options import DecodingOptions
from tfmrc.predictors.results.generated import GeneratedText
from tfmrc.predictors.results.provenance import common_passage, provenance
from tfmrc.predictors.results.text_outputs import compiled, text_outputs
from tfmrc.predictors.task import Query, Task
from tfmrc.preprocessing.protocols import AnswerPreprocessor
from tfmrc.storage.warmup import PASSAGES, QUESTION

INPUT_SIGNATURE = (
    tf.TensorSpec([None], tf.string, name="question"),
    tf.TensorSpec([None, None], tf.string, name="passages"),
    tf.TensorSpec([None], tf.string, name="style"),
)
RELEVANCE = tf.TensorSpec([None, None], tf.int32, name="relevance")


@keras.saving.register_keras_serializable(package="tfmrc")
class MasquePredictor(Predictor[GeneratedText]):
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
    preprocessor_class = preprocessing.MasquePreprocessor
    model_protocol = AnswerGenerator
    preprocessor_protocol = AnswerPreprocessor
    options_class = DecodingOptions
    meanings = {
        "answer": "the answer; see `words` for the normalisation of its words",
        "num_words": "number of its words; the outputs per word are padded beyond",
        "words": "its words; those of the generation vocabulary are lower-cased and normalised"
        " (NFKC)",
        "sources": "the source of each word: vocabulary, question or passage",
        "source_texts": "each copied word as the question or passage writes it; empty for others",
        "word_passages": "index of the passage it was copied from; -1 for none",
        "word_starts": "offset of its first character (code point) in the question or passage; -1"
        " for none",
        "word_ends": "offset after its last character; -1 for none",
        "mixture": "weights of vocabulary, question and passages at each word",
        "scores": "log-probability of each answer's words, length-penalised if so exported",
        "relevance": "relevance of each passage to the question, 0 to 1; 0 for a missing passage",
        "answerable_probability": "probability that the passages answer the question at all",
    }

    @property
    def tasks(self) -> tuple[Task, ...]:
        """One task per style."""
        return tuple(Task(style, "answer", style) for style in self.preprocessor.styles)

    def build_signatures(self, options: DecodingOptions) -> dict[str, Any]:
        """Returns `serving_default`, a `tf.function` from strings to a dict of tensors.

        Inputs: `question` string `[B]`, `passages` string `[B, K]` (any K; `""` for a missing one),
        `style` string `[B]`. A model with `ranker="gold"` takes a fourth input, `relevance` int32
        `[B, K]`: 1, 0 or -1 (unknown).

        Outputs (`T` is the batch's longest answer, `K` the model's number of passages, N
        `options.num_return_sequences`):

        - `answer` string `[B]`, `probability` float32 `[B]`, `passage` int32 `[B]`: the passage
          that all words were copied from, -1 if there is none;
        - `answers` string, `probabilities`, `log_probabilities`, `scores` float32, `finished` bool
          `[B, N]`, best first; `probabilities` are those of the words times
          `answerable_probability`;
        - `num_words` int32 `[B]`; for each word of the best answer `words`, `sources`,
          `source_texts` string `[B, T]`, `word_passages`, `word_starts`, `word_ends` int32 `[B, T]`
          (-1: none), `mixture` float32 `[B, T, 3]`; `""`, -1 and 0 beyond `num_words`;
        - `relevance` float32 `[B, K]`, `answerable_probability` float32 `[B]` and `is_confident`
          bool `[B]`, whether that is at least 0.5, if the model has the parts;
        - `truncated` bool `[B]`.

        A model without a decoder returns only the last three; outputs of parts that were not
        trained are left out.
        """
        preprocessor: AnswerPreprocessor = self.preprocessor
        compute = compiled(lambda inputs: self._compute(inputs, options), options)

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
                outputs |= _in_words(preprocessor, result, source)
                if (possible := outputs.get("answerable_probability")) is not None:  # [B]
                    outputs["probability"] *= possible
                    outputs["probabilities"] *= possible[:, None]  # [B, N]
                    outputs["certainties"] *= possible[:, None]  # [B, N]
                    outputs["is_confident"] = possible >= 0.5
            return outputs

        gold = (RELEVANCE,) if self.model.gold_ranker else ()
        signature = tf.function(answer, input_signature=INPUT_SIGNATURE + gold, autograph=False)
        return {"serving_default": signature}

    def _compute(self, inputs: dict[str, tf.Tensor], options: DecodingOptions) -> dict[str, Any]:
        model: AnswerGenerator = self.model
        memory = model.encode(inputs)
        result: dict[str, Any] = {}
        if "ranker" in memory and self.is_trained("ranker"):
            result["relevance"] = tf.sigmoid(memory["ranker"])  # [B, K]
        if "classifier" in memory and self.is_trained("classifier"):
            result["answerable_probability"] = tf.sigmoid(memory["classifier"])  # [B]
        if model.has_decoder and self.is_trained("decoder"):
            hypotheses = model.generate(memory, self.max_length(options), **options.search())
            ids = hypotheses.ids[:, 0]  # [B, T]
            if not options.jit_compile:  # a compiled graph has fixed sizes
                ids = ids[:, : tf.maximum(tf.reduce_max(hypotheses.lengths[:, 0]), 1)]
            parts = model.attribute(memory, ids)
            result |= {"hypotheses": hypotheses, "ids": ids, "parts": parts}
        return result

    def max_length(self, options: DecodingOptions) -> int:
        """Returns the greatest number of words of an answer, its end included."""
        return options.max_length or self.preprocessor.answer_length + 1

    def answer(
        self,
        *,
        question: str,
        passages: str | Sequence[str],
        style: str | None = None,
        **options: Any,
    ) -> GeneratedText:
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

    def inputs_of(self, queries: Sequence[Query], task: Task) -> tuple[str, dict[str, list[Any]]]:
        """Returns the name of the signature, and its inputs for requests: also the style."""
        signature, inputs = super().inputs_of(queries, task)
        inputs["style"] = [task.style] * len(queries)
        if self.model.gold_ranker:
            inputs["relevance"] = [query.relevance or () for query in queries]
        return signature, inputs

    def export_signatures(self, options: DecodingOptions) -> dict[str, Any]:
        """Returns `serving_default`.

        Raises:
            ValueError: If the model needs the true relevance of the passages.
        """
        if self.model.gold_ranker:
            raise ValueError(
                "A model with ranker='gold' needs the true relevance of every passage, which "
                "nobody has when a question is asked. Build it with ranker=True. "
                f"Received: model={self.model.name!r}"
            )
        return self.build_signatures(options)

    def warmup_request(self) -> dict[str, Any]:
        """Returns a small question for each style."""
        styles = self.preprocessor.styles
        return {
            "question": [QUESTION] * len(styles),
            "passages": [list(PASSAGES)] * len(styles),
            "style": list(styles),
        }


def _in_words(
    preprocessor: AnswerPreprocessor, result: dict[str, Any], source: dict[str, tf.Tensor]
) -> dict[str, tf.Tensor]:
    """Returns the outputs on strings: the answers, and the words of the best and their sources."""
    hypotheses, ids = result["hypotheses"], result["ids"]
    outputs, words = text_outputs(preprocessor, hypotheses, source, "answer")
    ended = tf.cast(tf.reduce_any(ids == EOS, axis=1), tf.int32)
    num_words = hypotheses.lengths[:, 0] - ended
    longest = tf.reduce_max(tf.concat([num_words, [0]], axis=0))
    real = tf.sequence_mask(num_words, longest)
    outputs |= {
        "probability": outputs["probabilities"][:, 0],
        "scores": hypotheses.score,
        "num_words": num_words,
        "words": tf.where(real, words[:, 0, :longest], ""),
    }
    padding: dict[str, Any] = {"sources": "", "source_texts": "", "mixture": 0.0}
    for name, values in provenance(ids, result["parts"], source).items():
        mask = real[..., None] if name == "mixture" else real
        outputs[name] = tf.where(mask, values[:, :longest], padding.get(name, -1))
    return outputs | {"passage": common_passage(outputs["word_passages"], real)}

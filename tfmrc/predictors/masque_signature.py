"""From strings to answers in one graph: what a predictor runs and what is exported."""

from typing import Any

import tensorflow as tf

from tfmrc.decoding import Hypotheses
from tfmrc.ops.ids import EOS
from tfmrc.predictors.options import DecodingOptions
from tfmrc.predictors.provenance import provenance

__all__ = ["INPUT_SIGNATURE", "masque_signature"]

MODEL_INPUTS = ("question_ids", "passage_ids", "extended_ids", "style_ids")

INPUT_SIGNATURE = (
    tf.TensorSpec([None], tf.string, name="question"),
    tf.TensorSpec([None, None], tf.string, name="passages"),
    tf.TensorSpec([None], tf.string, name="style"),
)
RELEVANCE = tf.TensorSpec([None, None], tf.int32, name="relevance")


def masque_signature(model: Any, preprocessor: Any, options: DecodingOptions) -> Any:
    """A `tf.function` from `question [B]`, `passages [B, K]`, `style [B]` to a dict of tensors.

    Outputs (`T` is the batch's longest answer, `K` the model's number of passages):

    - `answer` string `[B]`, `num_words` int32 `[B]`, `score` float32 `[B]`, `finished` bool `[B]`;
    - for each word `words`, `sources` string `[B, T]`, `passage_indices`, `starts`, `ends` int32
      `[B, T]` (-1: none), `mixture` float32 `[B, T, 3]`; `""`, -1 and 0 beyond `num_words`;
    - `alternatives` string, `alternative_scores` float32 `[B, num_return_sequences - 1]`, if several
      hypotheses are asked for;
    - `relevance` float32 `[B, K]`, `answerable_probability` float32 `[B]`, where the model
      has the parts;
    - `truncated` bool `[B]`.

    A model without a decoder gives the last three alone. A model with `ranker="gold"` takes a
    fourth input, `relevance` int32 `[B, K]`: 1, 0 or -1 (unknown).
    """
    max_length = options.max_length or preprocessor.answer_length

    def read_numbers(inputs: dict[str, tf.Tensor]) -> dict[str, Any]:
        memory = model.encode(inputs)
        found: dict[str, Any] = {}
        if "ranker" in memory:
            found["relevance"] = tf.sigmoid(memory["ranker"])
        if "classifier" in memory:
            found["answerable_probability"] = tf.sigmoid(memory["classifier"])
        if model.has_decoder:
            found["hypotheses"] = hypotheses = model.generate(
                memory,
                max_length,
                **options.search(),
            )
            ids = hypotheses.ids[:, 0]
            if not options.jit_compile:  # a compiled graph has fixed sizes
                longest = tf.reduce_max(hypotheses.lengths[:, 0])
                ids = ids[:, : tf.maximum(longest, 1)]
            found["ids"] = ids
            found["parts"] = model.attribute(memory, ids)
        return found

    if options.jit_compile:
        read_numbers = tf.function(read_numbers, jit_compile=True, autograph=False)

    def read(
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
        inputs = {name: source[name] for name in MODEL_INPUTS}
        if relevance:
            inputs["relevance_gold"] = preprocessor.relevance_gold(passages, *relevance)
        found = read_numbers(inputs)
        outputs: dict[str, tf.Tensor] = {
            name: tf.cast(found[name], tf.float32)
            for name in ("relevance", "answerable_probability")
            if name in found
        }
        outputs["truncated"] = source["truncated"]
        if "hypotheses" in found:
            outputs.update(_in_words(preprocessor, found, source))
        return outputs

    gold = (RELEVANCE,) if model.gold_ranker else ()
    return tf.function(read, input_signature=INPUT_SIGNATURE + gold, autograph=False)


def _in_words(preprocessor, found, source) -> dict[str, tf.Tensor]:
    hypotheses: Hypotheses = found["hypotheses"]
    ids, lengths = found["ids"], hypotheses.lengths[:, 0]
    answer, words = preprocessor.detokenize(ids, source)
    ended = tf.reduce_any(ids == EOS, axis=1)
    num_words = lengths - tf.cast(ended, tf.int32)
    longest = tf.reduce_max(tf.concat([num_words, [0]], axis=0))
    real = tf.sequence_mask(num_words, longest)
    outputs = {
        "answer": answer,
        "num_words": num_words,
        "score": hypotheses.score[:, 0],
        "finished": ended | (lengths == 0),
        "words": tf.where(real, words[:, :longest], ""),
    }
    padding: dict[str, Any] = {"sources": "", "mixture": 0.0}
    for name, values in provenance(ids, found["parts"], source).items():
        mask = real[..., None] if name == "mixture" else real
        outputs[name] = tf.where(mask, values[:, :longest], padding.get(name, -1))
    if hypotheses.ids.shape[1] > 1:
        outputs["alternatives"], _ = preprocessor.detokenize(hypotheses.ids[:, 1:], source)
        outputs["alternative_scores"] = hypotheses.score[:, 1:]
    return outputs

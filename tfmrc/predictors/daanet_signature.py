"""From a passage and a question or an answer to the other one, in one graph each."""

from typing import Any

import tensorflow as tf

from tfmrc.ops.ids import EOS
from tfmrc.predictors.options import DecodingOptions
from tfmrc.preprocessing.daanet import MODEL_INPUTS

__all__ = ["daanet_signatures"]


def daanet_signatures(model: Any, preprocessor: Any, options: DecodingOptions) -> dict[str, Any]:
    """The signatures of a dual model, `tf.function`s on plain strings; one for each task it has.

    - `answer`: `question` and `passage` string `[B]`. Outputs, N being `num_return_sequences`: `answer`
      string `[B]`, `answers` string `[B, N]`, best first.
    - `ask`: `answer` and `passage` string `[B]`. Outputs: `question`, `questions` likewise.
    - `serving_default`: the first of these that there is.

    Beside them all give `probabilities` and `log_probabilities` float32 `[B, N]`, `finished` bool
    `[B, N]` (false for words that were cut at the greatest length) and `truncated` bool `[B]`.

    Args:
        model: a `tfmrc.models.DAANet`.
        preprocessor: the `tfmrc.preprocessing.DAANetPreprocessor` that it was trained with.
        options: how words are searched for.
    """
    directions = {"answer": "answering", "ask": "asking"}
    found = {
        task: _signature(getattr(model, directions[task]), preprocessor, options)
        for task in model.tasks
    }
    return {"serving_default": found[model.tasks[0]], **found}


def _signature(direction: Any, preprocessor: Any, options: DecodingOptions) -> Any:
    given, made = direction.given, direction.made
    longest = {"question": preprocessor.question_length, "answer": preprocessor.answer_length}[made]
    max_length = options.max_length or longest + 1

    def search(numbers: dict[str, tf.Tensor]) -> Any:
        return direction.generate(direction.encode(numbers), max_length, **options.search())

    if options.jit_compile:
        search = tf.function(search, jit_compile=True, autograph=False)

    def write(text: tf.Tensor, passage: tf.Tensor) -> dict[str, tf.Tensor]:
        tf.debugging.assert_equal(
            tf.size(text), tf.size(passage), message=f"There are as many of `{given}` as passages."
        )
        source = preprocessor.source(passage)
        numbers = {name: source[name] for name in MODEL_INPUTS} | preprocessor.given(text, given)
        hypotheses = search(numbers)
        texts, _ = preprocessor.detokenize(hypotheses.ids, source)
        there = hypotheses.lengths > 0
        log_probabilities = tf.cast(hypotheses.log_probability, tf.float32)
        return {
            made: texts[:, 0],
            f"{made}s": texts,
            "probabilities": tf.where(there, tf.exp(log_probabilities), 0.0),
            "log_probabilities": log_probabilities,
            "finished": tf.reduce_any(hypotheses.ids == EOS, axis=-1) | ~there,
            "truncated": source["truncated"],
        }

    specs = [tf.TensorSpec([None], tf.string, name=name) for name in (given, "passage")]
    return tf.function(write, input_signature=specs, autograph=False)

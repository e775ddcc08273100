"""Texts of a search as outputs of a signature."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tfmrc.decoding import Hypotheses
from tfmrc.ops.ids import EOS
from tfmrc.predictors.options import DecodingOptions
from tfmrc.preprocessing.protocols import WritingPreprocessor

Tensors = dict[str, tf.Tensor]


def compiled(search: Callable[..., Any], options: DecodingOptions) -> Callable[..., Any]:
    """Returns a search, compiled with XLA if the options ask for it."""
    if not options.jit_compile:
        return search
    result: Callable[..., Any] = tf.function(search, jit_compile=True, autograph=False)
    return result


def text_outputs(
    preprocessor: WritingPreprocessor, hypotheses: Hypotheses, source: Tensors, target: str
) -> tuple[Tensors, tf.Tensor]:
    """Returns the outputs of N hypotheses on strings, and their words.

    Args:
        preprocessor: The preprocessor, which has `detokenize`.
        hypotheses: `Hypotheses`. The hypotheses of B examples, best first.
        source: dict. The output of `preprocessor.source`.
        target: str. What is written, `"answer"` or `"question"`.

    Returns:
        A dict: the best text as `target` string `[B]` and all as `{target}s` string `[B, N]`;
        `probabilities`, `log_probabilities` float32 and `finished` bool `[B, N]`; `certainties`
        float32 `[B, N]`, the geometric means of the words' probabilities, which calibrations map.
        The words are string `[B, N, T]`.
    """
    texts, words = preprocessor.detokenize(hypotheses.ids, source)
    real = hypotheses.lengths > 0
    log_probabilities = tf.cast(hypotheses.log_probability, tf.float32)
    num_words = tf.cast(tf.maximum(hypotheses.lengths, 1), tf.float32)  # [B, N]
    outputs = {
        target: texts[:, 0],
        f"{target}s": texts,
        "probabilities": tf.where(real, tf.exp(log_probabilities), 0.0),
        "log_probabilities": log_probabilities,
        "certainties": tf.where(real, tf.exp(log_probabilities / num_words), 0.0),
        "finished": tf.reduce_any(hypotheses.ids == EOS, axis=-1) | ~real,
    }
    return outputs, words

"""The outputs of a search on strings."""

import math
from types import SimpleNamespace

import numpy as np
import tensorflow as tf

from tfmrc.decoding import Hypotheses
from tfmrc.ops.ids import EOS, PAD
from tfmrc.predictors.results.text_outputs import text_outputs

LOG_ZERO = -1e9


def test_a_certainty_is_the_mean_of_the_words_and_their_end():
    """One answer has ended, one was stopped, and one does not exist."""
    ids = tf.constant([[[7, EOS, PAD], [7, 8, 9], [PAD, PAD, PAD]]])
    words = tf.constant([[[0.5, 0.3, 1.0], [0.9, 0.2, 0.4], [1.0, 1.0, 1.0]]])
    logs = tf.reduce_sum(tf.math.log(words), axis=-1) + tf.constant([[0.0, 0.0, LOG_ZERO]])
    found = Hypotheses(ids, tf.constant([[2, 3, 0]]), logs, logs)
    texts = tf.constant([["owl", "an owl flew", ""]])
    preprocessor = SimpleNamespace(detokenize=lambda ids, source: (texts, None))
    outputs, _ = text_outputs(preprocessor, found, {}, "answer")
    means = [math.sqrt(0.5 * 0.3), (0.9 * 0.2 * 0.4) ** (1 / 3), 0.0]
    np.testing.assert_allclose(outputs["certainties"], [means], rtol=1e-6)
    np.testing.assert_allclose(outputs["probabilities"], [[0.15, 0.072, 0.0]], rtol=1e-6)

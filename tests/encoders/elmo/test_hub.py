"""A module with ELMo's signature, in the form of TensorFlow 1."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.encoders import HubELMo

DIM = 4


def vectors(tokens, sequence_len, scale):
    """Each word's bytes at its position, plus the length of its row: depends on the context."""
    lengths = tf.cast(tf.strings.length(tokens), tf.float32)[..., None]
    context = tf.cast(sequence_len, tf.float32)[:, None, None]
    return (lengths + 10.0 * context) * scale


def expected(words):
    scale = np.arange(1.0, 5.0)
    rows = np.zeros((len(words), max(map(len, words)), DIM))
    for row, sentence in enumerate(words):
        length = sum(word != "" for word in sentence)
        for position, word in enumerate(sentence):
            if word:
                rows[row, position] = (len(word.encode()) + 10 * length) * scale
    return rows


@pytest.fixture
def tf1_module(tmp_path):
    path = str(tmp_path / "tf1")
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        tokens = v1.placeholder(tf.string, [None, None])
        sequence_len = v1.placeholder(tf.int32, [None])
        scale = v1.get_variable(
            "scale", initializer=np.arange(1.0, 5.0, dtype="float32"), use_resource=True
        )
        result = vectors(tokens, sequence_len, scale)
        session.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(path)
        info = v1.saved_model.utils.build_tensor_info
        signature = v1.saved_model.build_signature_def(
            inputs={"tokens": info(tokens), "sequence_len": info(sequence_len)},
            outputs={"elmo": info(result), "default": info(result[:, 0])},
            method_name="tokens",
        )
        builder.add_meta_graph_and_variables(session, [], {"tokens": signature})
        builder.save()
    open(path + "/tfhub_module.pb", "wb").close()
    return path


WORDS = [["An", "owl", "flew"], ["Été", "", ""], ["", "", ""]]


def test_values(tf1_module):
    elmo = HubELMo(tf1_module)
    assert elmo.output_dim == DIM
    np.testing.assert_allclose(elmo(WORDS), expected(WORDS), rtol=1e-6)
    for row in range(2):  # alone as in a batch
        alone = [[word for word in WORDS[row] if word]]
        np.testing.assert_allclose(elmo(alone)[0], expected(alone)[0], rtol=1e-6)
    deep = elmo([WORDS, WORDS[::-1]])
    assert deep.shape == (2, 3, 3, DIM)
    np.testing.assert_allclose(deep[1], expected(WORDS[::-1]), rtol=1e-6)
    mask = [[True, True, False], [True, False, False], [False] * 3]
    cut = [["An", "owl", ""], *WORDS[1:]]
    np.testing.assert_allclose(elmo(WORDS, mask), expected(cut), rtol=1e-6)


def test_exports_carry_the_module(tf1_module, tmp_path):
    elmo = HubELMo(tf1_module)
    export = tf.Module()
    export.elmo = elmo
    export.run = tf.function(
        lambda words: elmo(words),
        input_signature=[tf.TensorSpec([None, None], tf.string)],
        autograph=False,
    )
    tf.saved_model.save(export, str(tmp_path / "export"), signatures={"serve": export.run})
    again = tf.saved_model.load(str(tmp_path / "export"))
    np.testing.assert_allclose(again.run(tf.constant(WORDS)), expected(WORDS), rtol=1e-6)

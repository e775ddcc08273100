"""A module with ELMo's signature, in the forms of TensorFlow 2 and 1."""

import sys
import types

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
def tf2_module(tmp_path):
    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.scale = tf.Variable(np.arange(1.0, 5.0, dtype="float32"))

        @tf.function(
            input_signature=[
                tf.TensorSpec([None, None], tf.string, "tokens"),
                tf.TensorSpec([None], tf.int32, "sequence_len"),
            ],
            autograph=False,
        )
        def tokens(self, tokens, sequence_len):
            result = vectors(tokens, sequence_len, self.scale)
            return {"elmo": result, "word_emb": result[..., :2], "default": result[:, 0]}

    module = Module()
    path = str(tmp_path / "tf2")
    tf.saved_model.save(module, path, signatures={"tokens": module.tokens})
    return path


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


@pytest.mark.parametrize("form", ["tf1_module", "tf2_module"])
def test_values(form, request):
    elmo = HubELMo(request.getfixturevalue(form))
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
    assert repr(elmo).endswith("output='elmo' of 4>")
    again = HubELMo.from_config(elmo.get_config())
    np.testing.assert_array_equal(again(WORDS), elmo(WORDS))


@pytest.mark.parametrize("form", ["tf1_module", "tf2_module"])
def test_exports_carry_the_module(form, request, tmp_path):
    elmo = HubELMo(request.getfixturevalue(form))
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


def test_another_output(tf2_module):
    elmo = HubELMo(tf2_module, output="word_emb")
    np.testing.assert_allclose(elmo(WORDS), expected(WORDS)[..., :2], rtol=1e-6)
    with pytest.raises(ValueError, match=r"one of \['elmo', 'word_emb'\]. Received: .*'default'"):
        HubELMo(tf2_module, output="default")


def test_a_module_without_the_signature(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda x: x, input_signature=[tf.TensorSpec([None], tf.string, "text")], autograph=False
    )
    tf.saved_model.save(module, str(tmp_path / "other"), signatures={"serve": module.f})
    with pytest.raises(ValueError, match=r"signature `tokens`.* with the signatures \['serve'\]"):
        HubELMo(tmp_path / "other")


def test_addresses_are_resolved_by_tensorflow_hub(monkeypatch, tf2_module):
    hub = types.ModuleType("tensorflow_hub")
    hub.resolve = {"https://tfhub.dev/small/elmo/1": tf2_module}.__getitem__
    monkeypatch.setitem(sys.modules, "tensorflow_hub", hub)
    elmo = HubELMo("https://tfhub.dev/small/elmo/1")
    np.testing.assert_allclose(elmo(WORDS), expected(WORDS), rtol=1e-6)
    monkeypatch.setitem(sys.modules, "tensorflow_hub", None)  # as if it were not installed
    with pytest.raises(ImportError, match=r'pip install "tensorflow-hub>=0.16.1" tf-keras'):
        HubELMo("https://tfhub.dev/small/elmo/1")

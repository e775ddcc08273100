"""ELMo beside its authors' own numbers, and beside an independent float64 reference."""

import json

import h5py
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from tests import fresh_python
from tests.encoders.elmo import files as elmo_files
from tests.layers.agreement import same_gradients
from tests.reference.elmo import BEGIN, Reference, character_ids
from tfmrc.encoders import ELMo, elmo_character_ids, elmo_generable_characters, load_elmo
from tfmrc.encoders.elmo.elmo import SENTENCE_BEGIN, boundary
from tfmrc.testing import run_layer_test

SENTENCES = [["An", "owl", "flew", "."], ["Été"], ["a" * 60, "日本語" * 20]]


def padded(sentences):
    longest = max(map(len, sentences))
    return elmo_character_ids([s + [""] * (longest - len(s)) for s in sentences]).numpy()


def set_mix(elmo, seed=3):
    random = np.random.default_rng(seed)
    elmo.mix_weights.assign(random.normal(size=elmo.mix_weights.shape))
    elmo.gamma.assign(1.7)
    w = np.exp(np.float64(elmo.mix_weights.numpy()))
    return 1.7 * w / w.sum()


@pytest.fixture
def files(tmp_path):
    return elmo_files.write(tmp_path)


def test_character_ids():
    words = ["An", "", "Été", "a" * 47, "a" * 48, "a" * 60, "日本語" * 20, "\0 b"]
    result = elmo_character_ids(words).numpy()
    expected = [character_ids(word) if word else [0] * 50 for word in words]
    np.testing.assert_array_equal(result, expected)
    assert elmo_character_ids([["a"], [""]]).shape == (2, 1, 50)
    assert elmo_character_ids(tf.zeros([0, 3], tf.string)).shape == (0, 3, 50)
    assert not elmo_character_ids(["", ""]).numpy().any()
    table = elmo_generable_characters(["[PAD]", "[UNK]", "[BOS]", "[EOS]", "an"]).numpy()
    np.testing.assert_array_equal(table[2], BEGIN)
    np.testing.assert_array_equal(table[[1, 4]], [character_ids("<UNK>"), character_ids("an")])
    assert not table[0].any()


@pytest.mark.parametrize(
    "options",
    [
        elmo_files.OPTIONS,
        elmo_files.changed(lstm={"use_skip_connections": False}, cnn={"activation": "tanh"}),
        # No projections, no highways, no clipping.
        elmo_files.changed(
            lstm={"projection_dim": 9, "dim": 9, "cell_clip": None, "proj_clip": None},
            cnn={"n_highway": 0},
        ),
    ],
)
def test_values_of_all_layers(tmp_path, options):
    elmo = load_elmo(*elmo_files.write(tmp_path, options))
    reference = Reference(tmp_path)
    shares = set_mix(elmo)
    ids = padded(SENTENCES)
    layers, _ = elmo.layers_of(ids)
    mixed = ops.convert_to_numpy(elmo(ids))
    for row, words in enumerate(SENTENCES):
        expected, _ = reference.layers(words)
        result = np.stack([ops.convert_to_numpy(layer) for layer in layers])[:, row]
        np.testing.assert_allclose(result[:, : len(words)], expected, atol=4e-6)
        assert not result[:, len(words) :].any()
        np.testing.assert_allclose(
            mixed[row, : len(words)], np.einsum("l,lnd->nd", shares, expected), atol=4e-6
        )
        assert not mixed[row, len(words) :].any()


def test_the_limits_are_reached(files, tmp_path):
    """The tiny model clips, so that the values above see it."""
    reference = Reference(tmp_path)
    _, states = reference.layers(SENTENCES[0])
    assert any(np.abs(cell).max() == 0.5 for direction in states for cell, _ in direction)
    assert any(np.abs(hidden).max() == 0.3 for direction in states for _, hidden in direction)


def test_states_are_carried(files, tmp_path):
    elmo, reference = load_elmo(*files), Reference(tmp_path)
    batches = [[["An", "owl"], ["flew"]], [["it", "was", "late"], ["so", "?"]]]
    state, expected_states = None, [None, None]
    for sentences in batches:
        outputs, state = elmo(padded(sentences), initial_state=state, return_state=True)
        for row, words in enumerate(sentences):
            layers, expected_states[row] = reference.layers(words, expected_states[row])
            expected = layers.mean(0)  # equal shares
            np.testing.assert_allclose(outputs[row, : len(words)], expected, atol=4e-6)
            for direction in (0, 1):
                for layer in (0, 1):
                    for part in (0, 1):
                        np.testing.assert_allclose(
                            state[direction][layer][part][row],
                            expected_states[row][direction][layer][part],
                            atol=4e-6,
                        )


def test_padding_and_leading_axes(files):
    elmo = load_elmo(*files)
    ids = padded(SENTENCES)
    together = ops.convert_to_numpy(elmo(ids))
    # A mask takes precedence over characters at padding.
    mask = ids.any(-1)
    garbage = np.where(mask[..., None], ids, 7)
    np.testing.assert_allclose(elmo(garbage, mask), together, atol=4e-6)
    # A row without a word gives zeros; passages [B, K, n].
    deep = np.stack([ids, np.zeros_like(ids)], axis=1)
    result = ops.convert_to_numpy(elmo(deep))
    np.testing.assert_allclose(result[:, 0], together, atol=4e-6)
    assert not result[:, 1].any()


def test_a_row_that_has_its_beginning_keeps_it(files, tmp_path):
    """As Masque's passages, which begin with BOS; mixed with rows that do not."""
    elmo, reference = load_elmo(*files), Reference(tmp_path)
    ids = padded([["x", "An", "owl"], ["An", "owl"], ["x"]])
    ids[[0, 2], 0] = boundary(SENTENCE_BEGIN)
    result = ops.convert_to_numpy(elmo(ids))
    expected = reference.layers(["An", "owl"])[0].mean(0)
    np.testing.assert_allclose(result[0, 1:], expected, atol=4e-6)
    np.testing.assert_allclose(result[1, :2], expected, atol=4e-6)
    x = np.stack(
        [reference.word(BEGIN), *(reference.word(character_ids(w)) for w in ("An", "owl"))]
    )
    first = [x[0], *(layer[0] for layer in reference.direction(0, x)[0])]
    np.testing.assert_allclose(result[0, 0, :3], np.mean(first, axis=0), atol=4e-6)
    assert result[2, 0].any() and not result[2, 1:].any()


def test_forward_does_not_look_ahead_and_steps_agree(files):
    elmo = load_elmo(*files)
    set_mix(elmo)
    ids = padded([["x", "An", "owl", "flew"], ["x", "so", "it", "was"]])
    ids[:, 0] = boundary(SENTENCE_BEGIN)
    both, forward = (ops.convert_to_numpy(y) for y in (elmo(ids), elmo.forward(ids)))
    np.testing.assert_allclose(forward, both[..., : elmo.forward_dim], atol=4e-6)
    changed = ids.copy()
    changed[:, 3] = elmo_character_ids("other").numpy()
    np.testing.assert_array_equal(elmo.forward(changed)[:, :3], forward[:, :3])
    assert np.abs(elmo.forward(changed)[:, 3] - forward[:, 3]).max() > 1e-3
    beams = np.stack([ids, changed], axis=1)  # [B, W, T, 50]
    expected = np.stack([forward, elmo.forward(changed)], axis=1)
    cache = elmo.init_cache(2, 2)
    for t in range(4):
        result, cache = elmo.decode_step(beams[:, :, t], cache)
        np.testing.assert_allclose(result, expected[:, :, t], atol=4e-6)


def test_frozen_by_default_and_trained_on_request(files):
    frozen = load_elmo(*files)
    frozen.trainable = False
    frozen.trainable = True  # as a model does that is set trainable again
    assert [v.name for v in frozen.trainable_variables] == ["mix_weights", "gamma"]
    tuned = load_elmo(*files, encoder_trainable=True)
    with tf.GradientTape() as tape:
        loss = ops.sum(tuned(padded(SENTENCES)) ** 2)
    gradients = tape.gradient(loss, [variable.value for variable in tuned.variables])
    assert all(np.isfinite(tf.convert_to_tensor(gradient)).all() for gradient in gradients)


def test_gradients_of_the_mix(files):
    elmo, ids = load_elmo(*files), padded(SENTENCES)
    layers = [ops.convert_to_numpy(layer).astype(float) for layer in elmo.layers_of(ids)[0]]

    def reference(v):
        shares = np.exp(v["weights"]) / np.exp(v["weights"]).sum()
        mixed = v["gamma"] * sum(w * layer for w, layer in zip(shares, layers, strict=True))
        return float((mixed**2).sum())

    variables = {"weights": elmo.mix_weights, "gamma": elmo.gamma}
    same_gradients(lambda: ops.sum(elmo(ids) ** 2), variables, reference)


def test_layer():
    ids = padded([["An", "owl", "flew"], ["so", "it", "was"]])
    options = {"filters": [[1, 2], [3, 3]], "projection_dim": 2, "lstm_dim": 3, "character_dim": 2}
    run_layer_test(
        ELMo,
        options | {"cell_clip": 3.0, "proj_clip": 3.0, "use_skip_connections": True},
        {"character_ids": ids, "padding_mask": np.ones((2, 3), bool)},
        axes={"character_ids": "B N c", "padding_mask": "B N"},
        output_axes="B N d",
        padded=("N",),
        expected_output_shape=(2, 3, 4),
        expected_num_trainable_weights=2,
        expected_num_non_trainable_weights=31,
    )


PROGRAM = """
import sys
from pathlib import Path
import jax
import numpy as np
from tests.reference.elmo import Reference, character_ids
from tfmrc.encoders import load_elmo
folder = Path(sys.argv[1])
elmo = load_elmo(folder / "options.json", folder / "weights.hdf5")
words = ["An", "owl", "flew"]
ids = np.array([[character_ids(word) for word in words] + [[0] * 50]], "int32")
expected = Reference(folder).layers(words)[0].mean(0)
found = jax.jit(lambda x: elmo(x))(ids)
np.testing.assert_allclose(found[0, :3], expected, atol=4e-6)
forward = jax.jit(lambda x: elmo.forward(x))(ids)
cache = elmo.init_cache(1, 1)
step = jax.jit(elmo.decode_step)
for t in range(3):
    vector, cache = step(ids[:, t : t + 1], cache)
    np.testing.assert_allclose(vector[:, 0], forward[:, t], atol=4e-6)
assert "tensorflow" not in sys.modules
print("same under jax")
"""


@pytest.mark.slow
def test_under_jax(files, tmp_path):
    result = fresh_python.run("-c", PROGRAM, tmp_path, KERAS_BACKEND="jax")
    assert "same under jax" in result


@pytest.mark.shared_data
def test_the_authors_numbers(shared_data):
    """Ten batches, the i-th sentences of all columns, with carried states."""
    folder = shared_data / "elmo"
    elmo = load_elmo(folder / "options.json", folder / "lm_weights.hdf5")
    columns = json.loads((folder / "lm_embeddings_sentences.json").read_text())
    state = None
    with (
        h5py.File(folder / "lm_embeddings_0.hdf5") as first,
        h5py.File(folder / "lm_embeddings_1.hdf5") as second,
    ):
        for number in range(10):
            sentences = [column[number].split() for column in columns]
            layers, state = elmo.layers_of(padded(sentences), initial_state=state)
            for row, file in enumerate((first, second)):
                expected = file[str(number)][...]
                result = ops.convert_to_numpy(layers[-1])[row, : expected.shape[1]]
                result = np.stack(np.split(result, 2, axis=-1))
                np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)

"""States of a frozen encoder from disk: equal to computed ones, and never wrong."""

import sqlite3
from contextlib import nullcontext

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc import encoders, models, preprocessing, training
from tfmrc.encoders import StateCache
from tfmrc.text import Vocabulary

WORDS = "who named the owl mill hill ?".split()
IDS = np.array([[[2, 4, 5, 3, 6, 3], [0] * 6], [[2, 7, 3, 0, 0, 0], [2, 8, 9, 3, 0, 0]]], "int32")
SEGMENTS = np.array([[[0, 0, 0, 0, 1, 1], [0] * 6], [[0] * 6, [0, 0, 0, 1, 0, 0]]], "int32")


def make(seed=1, **options):
    keras.utils.set_random_seed(seed)
    encoder = encoders.from_vocabulary(
        WORDS, length=32, **{"trainable_layers": "none", "num_layers": 2, **options}
    )
    random = np.random.default_rng(seed)
    for weight in encoder.layer.backbone.weights:
        if "seed" not in weight.path:
            weight.assign(random.normal(scale=0.5, size=weight.shape))
    return encoder


@pytest.mark.parametrize("layers", ["last", "mix"])
def test_states_are_those_that_are_computed(layers, tmp_path):
    layer = make(layers=layers).layer
    expected = np.array(layer(IDS, SEGMENTS))
    with StateCache(layer, tmp_path) as cache:
        for _ in range(2):
            np.testing.assert_allclose(layer(IDS, SEGMENTS), expected, atol=1e-5)
        assert (cache.computed, cache.found) == (3, 3)
        # A window is known by its subwords and segments, whatever surrounds it.
        np.testing.assert_allclose(layer(IDS[:1], SEGMENTS[:1]), expected[:1], atol=1e-5)
        short = np.array(layer(IDS[1:, :1, :4], SEGMENTS[1:, :1, :4]))
        np.testing.assert_allclose(short[:, :3], expected[1:, :3], atol=1e-5)
        assert cache.computed == 3
        other = np.array(layer(IDS[:1], 1 - SEGMENTS[:1]))
        assert abs(other - expected[:1]).max() > 1e-3 and cache.computed == 4
        assert layer(IDS[:0], SEGMENTS[:0]).shape == (0, 12, layer.dim)
    computed = np.array(layer(IDS, SEGMENTS))
    np.testing.assert_array_equal(computed, expected)
    with StateCache(layer, tmp_path) as again:
        np.testing.assert_allclose(layer(IDS, SEGMENTS), expected, atol=1e-5)
        assert (again.computed, again.found) == (0, 3)


def trained(encoder, cache):
    """The weights of a SAN after three steps on two questions."""
    keras.utils.set_random_seed(2)
    vocabulary = Vocabulary(WORDS)
    preprocessor = preprocessing.SANPreprocessor(
        vocabulary, passage_length=12, question_length=8, encoder=encoder
    )
    model = models.SAN(
        **preprocessor.model_kwargs(), word_dim=4, units=4, align_dim=4, num_layers=1,
        num_steps=2, encoder=encoder, dropout=0.0, prediction_dropout=0.0, seed=3,
    )  # fmt: skip
    model.compile(**training.san(model=model, steps=6))
    records = {
        "question": ["who named the mill ?", "who ?"],
        "passages": [["the owl named the mill"], ["the hill"]],
        "style": ["span", "span"], "answer": ["the owl", "hill"],
        "span": [[0, 0, 7], [0, 4, 8]],
    }  # fmt: skip
    batch = preprocessor.batch({name: tf.constant(values) for name, values in records.items()})
    dataset = tf.data.Dataset.from_tensors(batch).repeat()
    with cache:
        model.fit(dataset, steps_per_epoch=3, epochs=2, verbose=0)
    return [np.array(weight) for weight in model.trainable_weights]


def test_training_with_a_cache_gives_the_same_weights(tmp_path):
    encoder = make()
    cache = StateCache(encoder, tmp_path)
    before = trained(encoder, nullcontext())
    after = trained(encoder, cache)
    assert cache.computed == 2 and cache.found == 10
    assert len(before) == len(after) > 5
    for first, second in zip(before, after, strict=True):
        np.testing.assert_allclose(first, second, atol=1e-5)


def test_another_encoder_has_another_file(tmp_path):
    paths = set()
    for encoder in (make(), make(seed=2), make(layers="mix"), make(dtype="mixed_bfloat16")):
        expected = encoder.layer(IDS, SEGMENTS).numpy()
        with StateCache(encoder, tmp_path) as cache:
            states, again = (encoder.layer(IDS, SEGMENTS).numpy() for _ in range(2))
        np.testing.assert_array_equal(states, again)
        assert states.dtype == expected.dtype
        np.testing.assert_allclose(*(x.astype("float32") for x in (states, expected)), rtol=0.02)
        paths.add(cache.path)
    assert len(paths) == 4


def test_what_is_damaged_is_computed_again(tmp_path):
    layer = make().layer
    expected = np.array(layer(IDS, SEGMENTS))
    with StateCache(layer, tmp_path) as cache:
        layer(IDS, SEGMENTS)
    database = sqlite3.connect(cache.path)
    key, data = database.execute("SELECT window, data FROM states").fetchone()
    flipped = bytes([data[0] ^ 1]) + data[1:]
    database.execute("UPDATE states SET data = ? WHERE window = ?", (flipped, key))
    database.commit()
    database.close()
    for computed in (1, 0):
        with StateCache(layer, tmp_path) as cache:
            np.testing.assert_allclose(layer(IDS, SEGMENTS), expected, atol=1e-5)
            assert cache.computed == computed
    cache.path.write_bytes(b"not a database" * 100)
    with pytest.raises(ValueError, match="delete it"), StateCache(layer, tmp_path):
        pass
    assert layer.state_cache is None


def test_what_a_killed_process_kept_is_found(tmp_path):
    first, second = make().layer, make().layer
    with StateCache(first, tmp_path):  # not closed before the other one reads
        expected = np.array(first(IDS, SEGMENTS))
        with StateCache(second, tmp_path) as cache:
            np.testing.assert_array_equal(second(IDS, SEGMENTS), expected)
        assert (cache.computed, cache.found) == (0, 3)


def test_what_was_traced_inside_the_block_computes_after_it(tmp_path):
    layer = make().layer
    expected = np.array(layer(IDS, SEGMENTS))
    read = tf.function(lambda: layer(IDS, SEGMENTS), autograph=False)
    with StateCache(layer, tmp_path) as cache:
        np.testing.assert_allclose(read(), expected, atol=1e-5)
    for _ in range(2):
        np.testing.assert_allclose(read(), expected, atol=1e-5)
    assert (cache.computed, cache.found) == (9, 0)


def test_a_full_disk_stops_the_keeping_and_nothing_else(tmp_path, capsys):
    layer = make(hidden_dim=512).layer
    expected = np.array(layer(IDS, SEGMENTS))
    with StateCache(layer, tmp_path) as cache:
        cache._database.execute("PRAGMA max_page_count = 1")
        for _ in range(2):
            np.testing.assert_allclose(layer(IDS, SEGMENTS), expected, atol=1e-5)
        assert (cache.computed, cache.found) == (6, 0)
    assert capsys.readouterr().err.count("new states are not kept") == 1


def test_a_disk_that_is_full_before_the_block_is_no_foreign_file(tmp_path, capsys, monkeypatch):
    layer = make().layer
    expected = np.array(layer(IDS, SEGMENTS))

    class Full(sqlite3.Connection):
        def execute(self, command, *values):
            if command.startswith(("CREATE", "INSERT")):
                raise sqlite3.OperationalError("database or disk is full")
            return super().execute(command, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Full, **k))
    with StateCache(layer, tmp_path) as cache:
        for _ in range(2):
            np.testing.assert_allclose(layer(IDS, SEGMENTS), expected, atol=1e-5)
        assert (cache.computed, cache.found) == (6, 0)
    assert "new states are not kept: database or disk is full" in capsys.readouterr().err


def test_runs_that_begin_at_once_share_a_file(tmp_path, capsys, monkeypatch):
    # SQLite does not wait for a lock when two runs change the mode of a new file at once.
    layer, busy = make().layer, sqlite3.OperationalError("database is locked")
    busy.sqlite_errorcode = sqlite3.SQLITE_BUSY
    refusals = [busy]

    class Busy(sqlite3.Connection):
        def execute(self, command, *values):
            if "journal_mode" in command and refusals:
                raise refusals.pop()
            return super().execute(command, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Busy, **k))
    for found in (0, 3):
        with StateCache(layer, tmp_path) as cache:
            layer(IDS, SEGMENTS)
        assert cache.found == found and not refusals
    assert capsys.readouterr().err == ""


def test_only_a_frozen_encoder_is_kept(tmp_path):
    with pytest.raises(ValueError, match="Received: trainable_layers=1"):
        StateCache(make(trainable_layers=1), tmp_path / "cache").__enter__()
    assert not (tmp_path / "cache").exists()

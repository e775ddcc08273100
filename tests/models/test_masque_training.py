"""Masque learns: four examples by heart; half precision with missing passages gives no NaN."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.models import examples
from tests.models.examples import Question
from tfmrc.losses import SequenceNLL, SmoothedBinaryCrossentropy

# Answers need generation, copying of unknown words, both styles, and passages that distract.
EASY = (
    Question([5, 9], [[9, -1, 6], [10, -2]], [-1, 6], 0, True, (True, False)),
    Question([5, 9], [[9, -1, 6], [10, -2]], [8, -1, 7, 6], 1, True, (True, False)),
    Question([5, 10], [[9, -3], [10, -4, 6], [11, 7]], [-4], 0, True, (False, True, False)),
    Question([5, 12], [[9, -3], [10, -4]], [], 0, False, (False, False)),
)


def compiled(model, rate, **options):
    model.compile(
        optimizer=keras.optimizers.Adam(rate, clipnorm=1.0),
        loss={
            "decoder": SequenceNLL(),
            "ranker": SmoothedBinaryCrossentropy(),
            "classifier": SmoothedBinaryCrossentropy(),
        },
        loss_weights={"decoder": 1.0, "ranker": 0.5, "classifier": 0.1},
        **options,
    )
    return model


def test_four_examples_by_heart():
    model = examples.small(
        hidden_dim=16, word_dim=12, num_decoder_blocks=1, initializer_stddev=0.1, num_heads=4
    )
    x = examples.batch(EASY)
    y, weight = examples.labels(EASY, x)
    compiled(model, 1e-2)
    for _ in range(160):
        losses = model.train_on_batch(x, y, weight, return_dict=True)
    assert losses["decoder_loss"] < 0.05
    outputs = model(x)
    there = x["passage_ids"][:, :, 0] != 0
    relevant = np.array(outputs["ranker"]) > 0
    np.testing.assert_array_equal(relevant[there], y["ranker"][there] > 0)
    np.testing.assert_array_equal(np.array(outputs["classifier"]) > 0, y["classifier"] > 0)
    memory = model.encode(examples.source_only(x))
    for beams in (1, 2):
        answers = np.array(model.generate(memory, 5, num_beams=beams).ids)[:, 0]
        np.testing.assert_array_equal(answers[:3], x["target_ids"][:3, :5])
    # The copied word comes from its passage, and the relevance says so.
    parts = model.attribute(memory, x["target_ids"])
    shares = np.exp(np.array(parts["log_parts"]))[0, 0]
    assert shares.argmax() == 2


def test_bfloat16_with_missing_passages_gives_no_nan():
    model = examples.small(dtype="mixed_bfloat16", dropout=0.3, num_decoder_blocks=1)
    x = examples.batch(examples.FOUR)  # one without any passage, one without a question
    y, weight = examples.labels(examples.FOUR, x)
    compiled(model, 1e-3, run_eagerly=True)
    for step in range(3):
        losses = model.train_on_batch(x, y, weight, return_dict=True)
        assert np.isfinite(list(losses.values())).all()
        assert int(model.optimizer.iterations) == step + 1
    for variable in model.trainable_variables:
        assert keras.backend.standardize_dtype(variable.dtype) == "float32"
        assert np.isfinite(ops.convert_to_numpy(variable)).all(), variable.path
    outputs = model(x)
    assert all(value.dtype == "float32" for value in outputs.values())
    assert np.isfinite(np.concatenate([np.ravel(value) for value in outputs.values()])).all()


def test_initial_weights_are_those_of_the_paper():
    model = examples.small(hidden_dim=64, word_dim=60, intermediate_dim=64, num_decoder_blocks=1)
    for variable in model.trainable_variables:
        value = ops.convert_to_numpy(variable)
        if variable.path.endswith(("bias", "beta")):
            np.testing.assert_array_equal(value, 0.0, err_msg=variable.path)
        elif variable.path.endswith("gamma"):
            np.testing.assert_array_equal(value, 1.0, err_msg=variable.path)
        elif not variable.path.endswith("position_scale"):
            assert abs(value.mean()) < 5 * 0.02 / np.sqrt(value.size), variable.path
            if value.size > 1000:
                assert value.std() == pytest.approx(0.02, rel=0.1), variable.path
    # Two weights of one shape do not begin as the same numbers.
    attention = model.shared_encoder[0].attention
    query, key = (
        ops.convert_to_numpy(layer.kernel)
        for layer in (attention.query_projection, attention.key_projection)
    )
    assert not np.array_equal(query, key)

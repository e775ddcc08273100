import keras
import numpy as np
import pytest

from tfmrc.layers.regularization.dropout import Dropout
from tfmrc.ops import replica

ONES = np.ones((40, 50), "float32")


def drop(layer, times=1):
    for _ in range(times):
        out = keras.ops.convert_to_numpy(layer(ONES, training=True))
    return out


@pytest.fixture
def on_replica():
    current = [0]
    previous = replica.register_replica_id(lambda: keras.ops.convert_to_tensor(current[0], "int32"))
    yield lambda number: current.__setitem__(0, number)
    replica.register_replica_id(previous)


def test_replica_zero_has_the_numbers_of_one_device():
    alone = [drop(Dropout(0.3, seed=11), times) for times in (1, 2)]
    assert np.any(alone[0] != alone[1])
    previous = replica.register_replica_id(lambda: keras.ops.convert_to_tensor(0, "int32"))
    try:
        several = [drop(Dropout(0.3, seed=11), times) for times in (1, 2)]
    finally:
        replica.register_replica_id(previous)
    np.testing.assert_array_equal(several, alone)


def test_masks_differ_between_replicas_and_not_from_call_to_call_of_the_state(on_replica):
    masks = []
    for number in range(4):
        on_replica(number)
        masks.append(drop(Dropout(0.5, seed=11)) > 0)
    for i in range(4):
        for j in range(i):
            assert 0.4 < np.mean(masks[i] == masks[j]) < 0.6


def test_a_replica_does_not_meet_a_layer_with_the_next_seed(on_replica):
    on_replica(1)
    first = drop(Dropout(0.5, seed=11))
    on_replica(0)
    second = drop(Dropout(0.5, seed=12))
    assert 0.4 < np.mean((first > 0) == (second > 0)) < 0.6


def test_share_and_scale():
    values = drop(Dropout(0.25, seed=3))
    assert set(np.unique(values)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs(np.mean(values == 0) - 0.25) < 0.03


def test_identity_outside_training_and_at_rate_zero():
    np.testing.assert_array_equal(Dropout(0.9)(ONES, training=False), ONES)
    layer = Dropout(0.0)
    np.testing.assert_array_equal(layer(ONES, training=True), ONES)
    assert layer.variables == []


def test_state_is_a_variable_that_continues_the_sequence():
    unbroken = Dropout(0.5, seed=5)
    drop(unbroken, 3)
    (state,) = unbroken.variables
    resumed = Dropout(0.5, seed=99)
    resumed.variables[0].assign(state)
    np.testing.assert_array_equal(drop(resumed), drop(unbroken))


def test_config_round_trip_and_symbolic_call():
    layer = Dropout.from_config(Dropout(0.2, seed=4, name="residual").get_config())
    assert (layer.rate, layer.seed, layer.name) == (0.2, 4, "residual")
    inputs = keras.Input((3,))
    model = keras.Model(inputs, layer(inputs))
    copy = keras.Model.from_config(model.get_config())
    assert copy.layers[-1].rate == 0.2
    assert copy.output_shape == (None, 3)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_keeps_the_dtype(dtype):
    layer = Dropout(0.5, seed=1, dtype=dtype)
    assert keras.backend.standardize_dtype(layer(ONES, training=True).dtype) == dtype

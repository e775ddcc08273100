import keras
import numpy as np
import pytest

from tests.training.multipliers import GRADIENTS, RATES, START, updated
from tfmrc.training import SGD, AdamW

FACTORS = [0.1, 0.0, 1.0]


def test_each_variable_moves_at_its_own_rate() -> None:
    found = updated(RATES)
    alone = [updated(None, rate=0.01 * factor) for factor in FACTORS]
    for number, factor in enumerate(FACTORS):
        np.testing.assert_allclose(found[number], alone[number][number], rtol=2e-6)
        assert (found[number] == START[number]).all() == (factor == 0)


def test_weight_decay_and_a_schedule() -> None:
    variables = [keras.Variable(value, name=name) for value, name in zip(START, "abc", strict=True)]
    halves = keras.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
    options = {"weight_decay": 0.5, "clip_norm": None}
    optimizer = AdamW(halves, learning_rate_multipliers={"a": 0.2}, **options)
    for _ in range(2):
        optimizer.apply([np.zeros_like(value) for value in START], variables)
    for value, variable, factor in zip(START, variables, (0.2, 1, 1), strict=True):
        expected = value * (1 - 0.5 * factor) * (1 - 0.25 * factor)
        np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-6)


def test_sgd() -> None:
    variables = [keras.Variable(value, name=name) for value, name in zip(START, "abc", strict=True)]
    optimizer = SGD(0.5, 0.0, False, learning_rate_multipliers={"b|c": 0.1, "c": 9.0})
    optimizer.apply(GRADIENTS, variables)
    for number, factor in enumerate((1, 0.1, 0.1)):
        expected = START[number] - 0.5 * factor * GRADIENTS[number]
        np.testing.assert_allclose(variables[number].numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", [AdamW, SGD])
def test_part_of_the_configuration(kind) -> None:
    optimizer = kind(learning_rate_multipliers=RATES)
    again = kind.from_config(optimizer.get_config())
    assert list(again.learning_rate_multipliers.items()) == list(RATES.items())
    assert kind().learning_rate_multipliers == {}


@pytest.mark.parametrize("batches", [2, 3])
def test_accumulated_gradients_update_as_one_batch(batches) -> None:
    """Weights and averages, with a clipped norm, a decay and rates of variables."""
    for one, many in zip(updated(RATES), updated(RATES, batches=batches), strict=True):
        np.testing.assert_allclose(many, one, rtol=1e-6)


def test_accumulated_gradients_of_sgd_are_clipped_as_one() -> None:
    variables = [keras.Variable(value, name=name) for value, name in zip(START, "abc", strict=True)]
    optimizer = SGD(0.5, 0.0, False, clip_norm=1.0, gradient_accumulation_steps=2)
    for share in (0.0, 2.0):
        optimizer.apply([share * gradient for gradient in GRADIENTS], variables)
    norm = np.linalg.norm(np.concatenate(GRADIENTS))
    for start, variable, gradient in zip(START, variables, GRADIENTS, strict=True):
        np.testing.assert_allclose(variable.numpy(), start - 0.5 * gradient / norm, rtol=1e-6)

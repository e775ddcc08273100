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


@pytest.mark.parametrize("multipliers", [None, {"a": 0.2}])
def test_weight_decay_and_a_schedule_that_is_computed_once(multipliers) -> None:
    calls = []

    class Halves(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            calls.append(int(step))
            return keras.ops.power(0.5, keras.ops.cast(step, "float32"))

    variables = [keras.Variable(value, name=name) for value, name in zip(START, "abc", strict=True)]
    optimizer = AdamW(
        Halves(),
        weight_decay=0.5,
        clip_norm=None,
        use_ema=False,
        learning_rate_multipliers=multipliers,
    )
    for step in range(2):
        calls.clear()
        optimizer.apply([np.zeros_like(value) for value in START], variables)
        assert calls == [step]
    for value, variable, factor in zip(
        START, variables, ((multipliers or {}).get("a", 1.0), 1, 1), strict=True
    ):
        expected = value * (1 - 0.5 * factor) * (1 - 0.25 * factor)
        np.testing.assert_allclose(variable.numpy(), expected, rtol=1e-6)
    assert float(optimizer.learning_rate) == 0.25


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


def test_accumulated_gradients_are_not_clipped_in_parts() -> None:
    assert SGD(gradient_accumulation_steps=2).gradient_accumulation_steps == 2
    with pytest.raises(ValueError, match="use one of the two. .*gradient_accumulation_steps=2"):
        SGD(clip_norm=1.0, gradient_accumulation_steps=2)

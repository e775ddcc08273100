"""SAN's answer modules against word-by-word sums in float64."""

import numpy as np
import pytest
from keras import ops

from tests.layers.agreement import Compared, arrays, close
from tests.reference import san as reference
from tfmrc.layers import (
    AveragedAnswer,
    LastStepAnswer,
    OneStepAnswer,
    ReasoNetAnswer,
    StochasticAnswer,
)
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import run_layer_test

KINDS = [OneStepAnswer, LastStepAnswer, AveragedAnswer, ReasoNetAnswer, StochasticAnswer]
SHAPES = {"question": (3, 4, 3), "memory": (3, 5, 2)}
# The second example has no words at all.
QUESTION_MASK = np.array([[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]], bool)
MEMORY_MASK = np.array([[1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], bool)
REAL = (0, 2)
PRECISIONS = ("mixed_bfloat16", "mixed_float16")


def built(kind, **options):
    masks = {"question_mask": QUESTION_MASK, "memory_mask": MEMORY_MASK}
    return Compared(kind(**options), arrays(SHAPES), scale=1.0, **masks)


def expected(v, kind, count, training=False):
    """`P_begin` and `P_end` `[B, n]`, and what each step gives `[B, T, n]`."""
    rows = []
    for b in range(3):
        states, begins, ends = reference.steps(
            v["question"][b], v["memory"][b], QUESTION_MASK[b], MEMORY_MASK[b], v, count
        )
        share = {LastStepAnswer: np.eye(count)[-1], OneStepAnswer: np.ones(1)}.get(
            kind, np.full(count, 1 / count)
        )
        if kind is ReasoNetAnswer:
            share = reference.stopping(states, v)
            share = share if training else np.eye(count)[share.argmax()]
        rows.append((share @ begins, share @ ends, begins, ends, share))
    return [np.stack(part) for part in zip(*rows, strict=True)]


@pytest.mark.parametrize("kind", KINDS)
def test_layer(kind):
    extra = {"num_steps": 3} if kind is not OneStepAnswer else {}
    extra |= {"prediction_dropout": 0.4} if kind is StochasticAnswer else {}
    count = 3 + (0 if kind is OneStepAnswer else 4) + (2 if kind is ReasoNetAnswer else 0)
    # Outside training ReasoNet takes one step's prediction: the others get no gradient.
    of_others = ("attention/kernel", "gru/kernel", "gru/recurrent_kernel", "gru/bias")
    of_others += ("termination/kernel", "termination/bias")
    run_layer_test(
        kind,
        {"dropout": 0.1, "seed": 3, **extra},
        {**arrays(SHAPES), "question_mask": QUESTION_MASK, "memory_mask": MEMORY_MASK},
        axes={"question": "B M h", "memory": "B N d", "question_mask": "B M", "memory_mask": "B N"},
        output_axes={"begin": "B N", "end": "B N"},
        padded=("M",),
        expected_num_trainable_weights=count,
        without_gradient=of_others if kind is ReasoNetAnswer else (),
        precisions=PRECISIONS if kind is StochasticAnswer else (),
    )


@pytest.mark.equation("san-09", "san-10", "san-11", "san-12", "san-13", "san-14", "san-15")
@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients(kind):
    count = 1 if kind is OneStepAnswer else 3
    compared, training = built(kind, num_steps=count), kind is ReasoNetAnswer
    begin, end, begins, ends, share = expected(compared.values, kind, count)
    got = compared.run(return_steps=True)
    for name, right in (("begin", begin), ("end", end), ("step_begin", begins), ("step_end", ends)):
        close(np.exp(got[name]), right)
        masked = ~(MEMORY_MASK if right.ndim == 2 else np.repeat(MEMORY_MASK[:, None], count, 1))
        assert (np.array(got[name])[masked] <= 0.99 * LOG_ZERO).all()
    close(got["step_weights"], share)

    def logs():
        outputs = compared.run(training=training)
        return [ops.where(MEMORY_MASK, outputs[name], 0.0) for name in ("begin", "end")]

    def expected_logs(v):
        begin, end, *_ = expected(v, kind, count, training)
        return [np.log(np.where(MEMORY_MASK, p, 1.0)) for p in (begin, end)]

    compared.check(expected_logs, logs, positions=6)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("count", [1, 2, 6])
def test_other_numbers_of_steps_without_rebuilding(kind, count):
    compared = built(kind, num_steps=3)
    begin, end, *_ = expected(compared.values, kind, count)
    got = compared.run(num_steps=count)
    close(np.exp(got["begin"]), begin)
    close(np.exp(got["end"]), end)


@pytest.mark.equation("san-16")
def test_prediction_dropout_keeps_one_step_at_least_and_each_as_often():
    layer = StochasticAnswer(num_steps=4, prediction_dropout=0.4, seed=1)
    selected = np.array(layer.kept_steps((4000, 4)))
    assert selected.any(axis=1).all()
    # A step stays with 0.6, or alone with 0.4^4 where chance leaves none, one time in four.
    np.testing.assert_allclose(selected.mean(axis=0), 0.6 + 0.4**4 / 4, atol=0.025)
    low = StochasticAnswer(num_steps=4, prediction_dropout=0.98, seed=1)
    alone = np.array(low.kept_steps((2000, 4)))
    assert alone.any(axis=1).all()
    np.testing.assert_allclose(alone.mean(axis=0), 0.25, atol=0.05)


@pytest.mark.equation("san-16")
def test_training_averages_the_steps_that_stay_of_begin_and_end_apart(monkeypatch):
    compared = built(StochasticAnswer, num_steps=3, prediction_dropout=0.5)
    layer, run = compared.layer, compared.run
    masks = [
        np.array([[1, 0, 1], [1, 1, 1], [0, 0, 1]], bool),
        np.array([[0, 1, 0], [1, 0, 0], [1, 1, 1]], bool),
    ]
    left = list(masks)
    monkeypatch.setattr(layer, "kept_steps", lambda shape: ops.convert_to_tensor(left.pop(0)))
    _, _, begins, ends, _ = expected(compared.values, StochasticAnswer, 3)
    got = run(training=True)
    for name, steps, selected in (("begin", begins, masks[0]), ("end", ends, masks[1])):
        for b in REAL:
            close(np.exp(got[name][b]), steps[b][selected[b]].mean(axis=0))
    assert not left
    close(np.exp(run(training=False)["begin"]), begins.mean(axis=1))


def test_a_passage_without_words_has_no_place_and_no_nan():
    for kind in KINDS:
        got = built(kind).run(training=True)
        assert np.isfinite(np.array(got["begin"])).all()
        assert (np.array(got["begin"][1]) <= 0.99 * LOG_ZERO).all()


def test_weights_in_bfloat16():
    question, memory = np.ones((3, 4, 3), "float32"), np.ones((3, 5, 2), "float32")
    layer = AveragedAnswer(dtype="bfloat16")
    outputs = layer(question, memory, question_mask=QUESTION_MASK, memory_mask=MEMORY_MASK)
    assert {weight.dtype for weight in layer.weights} == {"bfloat16"}
    total = np.exp(np.array(outputs["begin"])).sum(axis=1)
    np.testing.assert_allclose(total, [1.0, 0.0, 1.0], atol=1e-5)

"""The decoder's LSTM with attention and input feeding, against loops in float64."""

import numpy as np
import pytest

from tests.layers.agreement import Compared, arrays, close
from tests.reference import question_generation as reference
from tfmrc.layers import InputFeedingDecoder
from tfmrc.testing import run_layer_test

B, T, M, U = 3, 4, 5, 3
INPUTS = arrays(
    {"words": (B, T, 2), "memory": (B, M, 6), **{f"state_{i}": (B, U) for i in range(4)}}
)
MASK = np.array([[True] * 5, [True, True, False, True, False], [False] * 5])


def state(x):
    return [x[f"state_{i}"] for i in range(4)]


@pytest.fixture(scope="module", params=[True, False], ids=["attention", "none"])
def compared(request):
    layer = InputFeedingDecoder(units=U, num_layers=2, attention=request.param)
    inputs = {n: a for n, a in INPUTS.items() if request.param or n != "memory"}
    return Compared(layer, inputs, call=call)


def call(layer, x):
    memory = (x["memory"], MASK) if layer.has_attention else ()
    return layer(x["words"], state(x), *memory)


def expected(layer, v):
    """The states of each example, and with attention the raw scores of all steps."""
    layers = [(np.concatenate([v["word_kernel"], v["kernel_1"]]), v["bias_1"])]
    layers.append((v["kernel_2"], v["bias_2"]))
    outputs = {"states": [], "scores": []}
    for b in range(B):
        memory = ()
        if layer.has_attention:
            w_a, w_b = v["attention/key/kernel"], v["attention/output/kernel"].T
            memory = v["memory"][b], MASK[b], w_a, w_b
        decoded = reference.decode(v["words"][b], [s[b] for s in state(v)], layers, *memory)
        outputs["states"].append(decoded.attended)
        if memory:
            scores = [reference.raw_scores(d, v["memory"][b], w_a) for d in decoded.plain]
            outputs["scores"].append(scores)
    return {name: np.array(rows) for name, rows in outputs.items() if rows}


def test_layer():
    run_layer_test(
        InputFeedingDecoder,
        {"units": U, "num_layers": 2, "dropout": 0.0},
        {
            "words": INPUTS["words"],
            "state": state(INPUTS),
            "memory": INPUTS["memory"],
            "memory_mask": MASK,
        },
        axes={"words": "B T w", "state": ["B u"] * 4, "memory": "B M m", "memory_mask": "B M"},
        output_axes={"states": "B T u", "scores": "B T M"},
        padded=("T", "M"),
        expected_num_trainable_weights=7,
    )


@pytest.mark.equation("qg-07", "qg-09", "qg-12")
def test_values_and_gradients(compared):
    assert compared.run().keys() == expected(compared.layer, compared.values).keys()
    compared.check(lambda v: expected(compared.layer, v), positions=6)


def test_steps_of_several_beams_are_the_call(compared):
    built, right = compared.layer, {n: np.array(x) for n, x in compared.run().items()}
    # Three beams: example b's own words in the middle one, other words beside them.
    words = np.stack([np.roll(INPUTS["words"], i, axis=0) for i in (1, 0, 2)], axis=2)
    beams = built.init_cache([np.repeat(s[:, None], 3, axis=1) for s in state(INPUTS)])
    more = {}
    if built.has_attention:
        keys = built.project(INPUTS["memory"])
        more = {"memory": INPUTS["memory"], "memory_mask": MASK, "keys": keys}
    for t in range(T):
        outputs, beams = built.decode_step(words[:, t], beams, **more)
        for name, value in right.items():
            close(np.array(outputs[name])[:, 1], value[:, t])

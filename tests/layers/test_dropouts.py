"""The dropouts and the initial biases that the papers print."""

import numpy as np
import pytest
from keras import ops

from tests.models import duals, examples, questions
from tests.models.spans import SMALL
from tfmrc import layers
from tfmrc.models import SAN
from tfmrc.ops import attention, dropout
from tfmrc.utils import keras_private

X, Y = (np.random.default_rng(n).normal(size=(2, 3, 4)).astype("float32") for n in (0, 1))
MASK = np.ones((2, 3), bool)
CAUSAL = np.tril(np.ones((3, 3), bool))[None]
STATE = [X[:, 0]] * 4


def question_generation(rate):
    model, batch = questions.small(dropout=rate), questions.batch(questions.FOUR)
    return lambda: model(batch, training=True)["decoder"]


def called(layer, *inputs, **options):
    return lambda: layer(*inputs, **options, training=True)


# What is computed, its rate, and the shapes of what is dropped, in their order.
DROPOUTS = {
    "masque: highway": (
        lambda rate: called(layers.Highway(2, rate), X), 0.3, [(2, 3, 4)] * 2,
    ),
    "masque: residual": (
        lambda rate: called(layers.Residual(rate), X, Y), 0.3, [(2, 3, 4)],
    ),
    "masque: attention": (
        lambda rate: called(layers.MultiHeadAttention(2, rate), X, Y, MASK), 0.3, [(2, 2, 3, 3)],
    ),
    "masque: causal attention": (
        lambda rate: called(layers.MultiHeadAttention(2, rate), X, Y, CAUSAL), 0.3, [(2, 2, 3, 3)],
    ),
    "san: inputs of an LSTM": (
        lambda rate: called(layers.BidirectionalLSTM(2, dropout=rate), X), 0.4, [(2, 1, 4)],
    ),
    "san: both attentions of the memory, inputs of its LSTM": (
        lambda rate: called(
            layers.MemoryGeneration(2, dropout=rate), X, Y[:, :2], MASK, MASK[:, :2]
        ), 0.4, [(2, 3, 2), (2, 3, 3), (2, 1, 16)],
    ),
    "san: inputs of the answer module": (
        lambda rate: called(layers.AveragedAnswer(2, rate), X, Y, MASK, MASK), 0.4, [(2, 1, 4)] * 2,
    ),
    "question generation: between the layers of the decoder": (
        lambda rate: called(layers.InputFeedingDecoder(4, 2, rate), X, STATE, Y, MASK),
        0.3, [(3, 2, 1, 4)],
    ),
    "question generation: between the layers of the encoder, and of the decoder": (
        question_generation, 0.3, [(4, 7, 10), (7, 4, 1, 5)],
    ),
    "daanet: input of the encoder, between LSTMs, attention": (
        lambda rate: called(layers.ConcatenatedEncoder(4, 2, 2, dropout=rate), X, MASK),
        0.1, [(2, 3, 4), (2, 3, 4), (2, 2, 3, 3)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", DROPOUTS)
def test_each_printed_dropout_drops_its_share_in_its_place(place, monkeypatch):
    make, rate, shapes = DROPOUTS[place]
    run, keep_mask, seen, dropped = make(rate), dropout.keep_mask, [], []

    def all_or_nothing(shape, rate, seed):
        zeros = 1 - np.mean(keep_mask((40_000,), rate, seed))
        seen.append((tuple(map(int, shape)), zeros))
        return ops.full(shape, len(seen) - 1 not in dropped)

    for module in (attention, dropout):
        monkeypatch.setattr(module, "keep_mask", all_or_nothing)
    kept = [np.array(output) for output in _flat(run())]
    assert [shape for shape, _ in seen] == shapes
    assert [share for _, share in seen] == pytest.approx([rate] * len(shapes), abs=0.02)
    for number in range(len(shapes)):
        seen.clear()
        dropped[:] = [number]
        changed = zip(kept, _flat(run()), strict=True)
        assert any(np.abs(one - np.array(other)).max() > 1e-3 for one, other in changed)


def _flat(outputs):
    return list(outputs.values()) if isinstance(outputs, dict) else [outputs]


# Of the small models: blocks and attentions of Masque, LSTMs and the working memory of SAN.
DROPOUT_LAYERS = {
    examples.small: 2 * 2 + 3 * (1 + 2) + 2 * (3 + 4),  # highways, encoder and decoder blocks
    lambda dropout: SAN(**SMALL | {"dropout": dropout}): 2 + 3 + 1,
    questions.small: 1 + 1,
    duals.small: 3 * 2,
}


@pytest.mark.parametrize(("make", "count"), DROPOUT_LAYERS.items())
def test_the_rate_of_a_model_reaches_all_its_layers(make, count):
    layers_of = keras_private.all_sublayers(make(dropout=0.25))
    rates = [layer.rate for layer in layers_of if isinstance(layer, layers.Dropout)]
    assert rates.count(0.25) == count


def forget_only(units):
    return np.repeat([0.0, 1.0, 0.0, 0.0], units)  # input, forget, cell, output


def biases_of(layer, *inputs):
    layer(*inputs)
    return {v.path: np.array(v) for v in layer.weights if "bias" in v.path.rsplit("/", 1)[-1]}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: biases_of(layers.InputFeedingDecoder(4), X, STATE, Y, MASK), forget_only(4)),
        (lambda: biases_of(layers.BidirectionalLSTM(3), X), forget_only(3)),
        (lambda: biases_of(examples.small(), examples.batch(examples.FOUR)), 0.0),
    ],
    ids=["decoder of question generation", "LSTM", "masque"],
)
def test_initial_biases_are_zero_but_for_forget_gates(make, expected):
    biases = make()
    assert len(biases) > 1
    for path, bias in biases.items():
        np.testing.assert_array_equal(bias, np.broadcast_to(expected, bias.shape), err_msg=path)

"""A registered subclass replaces a part of a model; it trains, saves and loads like the model."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import examples
from tests.models.spans import SMALL, batch
from tfmrc.layers import DualAttention, LinearAnswer, OneStepAnswer
from tfmrc.models import SAN, Masque


@keras.saving.register_keras_serializable(package="tests")
class ScaledDualAttention(DualAttention):
    """Dual attention whose outputs have a learned scale."""

    def build(self, passages_shape, question_shape):
        super().build(passages_shape, question_shape)
        self.scale = self.add_weight(shape=(), initializer="ones", name="scale")

    def call(self, passages, question, passage_mask, question_mask):
        both = super().call(passages, question, passage_mask, question_mask)
        return tuple(self.scale * x for x in both)


@keras.saving.register_keras_serializable(package="tests")
class ScaledMasque(Masque):
    def build_dual_attention(self):
        return ScaledDualAttention(name="dual_attention", dtype=self.arguments.dtype)


@keras.saving.register_keras_serializable(package="tests")
class ShortSAN(SAN):
    def build_answer_module(self):
        return OneStepAnswer(dropout=0.0, name="answer_module", dtype=self.arguments.dtype)


MASQUE = {**examples.SIZES, "num_decoder_blocks": 1}
CASES = {
    "dual attention": (ScaledMasque, Masque, MASQUE, examples.batch(examples.FOUR)),
    "answer module": (ShortSAN, SAN, SMALL, batch()),
}


def array(x):
    return ops.convert_to_numpy(x)


def soft(y_true, y_pred):
    return -ops.mean(ops.tanh(0.1 * y_pred))


def small(cls, sizes):
    keras.utils.set_random_seed(4)
    return cls(**sizes)


@pytest.mark.parametrize("name", CASES)
def test_a_replaced_part_trains_saves_and_loads(name, tmp_path):
    cls, base, sizes, x = CASES[name]
    model = small(cls, sizes)
    assert type(model).__mro__[1] is base
    randomise(model, seed=3, scale=0.5)
    before = {k: array(o) for k, o in model(x).items()}
    y = {k: np.zeros([len(o)] + [1] * (o.ndim - 1), "float32") for k, o in before.items()}
    if name != "dual attention":  # whose scale begins at 1
        usual = small(base, sizes)
        randomise(usual, seed=3, scale=0.5)
        if [v.shape for v in usual.weights] == [v.shape for v in model.weights]:
            usual.set_weights(model.get_weights())
        assert any(np.abs(array(o) - before[k]).max() > 1e-5 for k, o in usual(x).items())
    model.compile(keras.optimizers.Adam(0.01), {k: soft for k in y}, run_eagerly=True)
    model.train_on_batch(x, y)
    after = {k: array(o) for k, o in model(x).items()}
    assert any(np.abs(after[k] - before[k]).max() > 1e-4 for k in after)
    model.save(tmp_path / "replaced.keras")
    again = keras.models.load_model(tmp_path / "replaced.keras", compile=False)
    assert type(again) is cls
    for k, o in again(x).items():
        np.testing.assert_allclose(array(o), after[k], rtol=1e-5, atol=1e-6)


def test_an_assigned_layer_is_refused_with_the_method_to_override():
    model = small(Masque, MASQUE)
    with pytest.raises(AttributeError, match=r"Override its `build_dual_attention`.*registered"):
        model.dual_attention = DualAttention()


# === Parts that do not fit ===


def with_parts(base, **layers):
    """A subclass whose methods return these layers."""
    return type("Mine", (base,), {k: lambda self, *_, _x=v, **__: _x for k, v in layers.items()})


def test_a_method_that_nothing_calls_names_the_nearest():
    layer = keras.layers.Identity()
    with pytest.raises(TypeError, match="`build_dual_atention` .*did you mean build_dual_attent"):
        with_parts(Masque, build_dual_atention=layer)


class Unmasked(LinearAnswer):
    def call(self, question, memory, question_mask, memory_mask, num_steps=None,
             return_steps=False, training=None):  # fmt: skip
        every = ops.ones_like(memory_mask)
        return super().call(question, memory, question_mask, every, return_steps=return_steps)


class WithoutSteps(LinearAnswer):
    def call(self, question, memory, question_mask, memory_mask):
        return super().call(question, memory, question_mask, memory_mask)


class WithoutDecoding(keras.layers.Layer):
    def call(self, x, memories, masks, projected=None):
        return x


@pytest.mark.parametrize(
    ("base", "part", "message"),
    [
        (SAN, ("answer_module", Unmasked), r"\(Unmasked\), .*`begin` must be LOG_ZERO"),
        (SAN, ("answer_module", WithoutSteps), r"\(WithoutSteps\), .* 'num_steps'"),
        (Masque, ("decoder_block", WithoutDecoding), "`build_decoder_block`, .*'project'"),
    ],
)
def test_a_part_that_does_not_fit_is_refused(base, part, message):
    name, layer = part
    mine = with_parts(base, **{f"build_{name}": layer()})
    with pytest.raises(ValueError, match=f"^Mine, with its own .*{message}"):
        mine(**(SMALL if base is SAN else MASQUE))


def test_a_subclass_adds_outputs_and_names_tensors():
    def outputs(self, tensors):
        return {"topic": keras.layers.Dense(3)(tensors["passage_embedding"][:, 0])}

    mine = type("Mine", (SAN,), {"build_outputs": outputs})
    model = mine(**SMALL)
    assert tuple(model(batch())["topic"].shape) == (len(batch()["passage_ids"]), 3)
    inner = keras.Model(model.inputs, model.intermediate_tensors)(batch())
    words = model.word_embedding(batch()["question_ids"])
    np.testing.assert_array_equal(array(inner["question_embedding"]), array(words))

"""A registered subclass replaces a part of a model; it trains, saves and loads like the model."""

import re
from pathlib import Path

import keras
import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import examples, questions
from tests.models.test_san import SMALL, batch
from tfmrc.layers import DualAttention, MaxoutPointer, OneStepAnswer, PointerGenerator
from tfmrc.models import SAN, DAANet, Masque, MaxoutPointerQG, SpanEnsemble


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
class SharpPointerGenerator(PointerGenerator):
    """A mixture that reads doubled states."""

    def call(
        self, states, memories, source_ids, common_logits, source_logits, source_generable,
        log_priors=None, target_ids=None, projected=None,
    ):  # fmt: skip
        return super().call(
            2.0 * states, memories, source_ids, common_logits, source_logits, source_generable,
            log_priors, target_ids, projected,
        )  # fmt: skip


@keras.saving.register_keras_serializable(package="tests")
class ScaledMasque(Masque):
    def build_dual_attention(self):
        return ScaledDualAttention(name="dual_attention", dtype=self.arguments.dtype)


@keras.saving.register_keras_serializable(package="tests")
class SharpMasque(Masque):
    def build_pointer_generator(self):
        return SharpPointerGenerator(2, name="pointer_generator", dtype=self.arguments.dtype)


@keras.saving.register_keras_serializable(package="tests")
class ShortSAN(SAN):
    def build_answer_module(self):
        return OneStepAnswer(dropout=0.0, name="answer_module", dtype=self.arguments.dtype)


@keras.saving.register_keras_serializable(package="tests")
class SummingQG(MaxoutPointerQG):
    def build_pointer(self):
        return MaxoutPointer("sum", name="pointer", dtype=self.arguments.dtype)


MASQUE = {**examples.SIZES, "num_decoder_blocks": 1}
CASES = {
    "dual attention": (ScaledMasque, Masque, MASQUE, examples.batch(examples.FOUR)),
    "copying from several": (SharpMasque, Masque, MASQUE, examples.batch(examples.FOUR)),
    "answer module": (ShortSAN, SAN, SMALL, batch()),
    "copy mechanism": (
        SummingQG, MaxoutPointerQG, questions.SIZES, questions.batch(questions.FOUR)
    ),
}  # fmt: skip


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


def test_the_replacing_layer_is_the_models_own_and_its_weights_train():
    model = small(ScaledMasque, MASQUE)
    assert type(model.dual_attention) is ScaledDualAttention
    assert model.get_layer("dual_attention") is model.dual_attention
    assert any(v is model.dual_attention.scale for v in model.trainable_weights)


def test_an_assigned_layer_is_refused_with_the_method_to_override():
    model = small(Masque, MASQUE)
    with pytest.raises(AttributeError, match=r"Override its `build_dual_attention`.*registered"):
        model.dual_attention = DualAttention()
    with pytest.raises(AttributeError, match=r"Override its `build_pointer_generator`"):
        model.pointer_generator = PointerGenerator(2)
    with pytest.raises(AttributeError, match=r"`shared_encoder`.*Override its `build_\*`"):
        model.shared_encoder = []
    model.note = "anything else is free"
    san = SAN(**SMALL)
    with pytest.raises(AttributeError, match=r"Override its `build_answer_module`"):
        san.answer_module = OneStepAnswer()
    ensemble = SpanEnsemble([san])
    with pytest.raises(AttributeError, match="of a finished SpanEnsemble"):
        ensemble.members = []


# === Parts that do not fit ===


class OneColumn(keras.layers.Layer):
    """Logits `[B, K, 1]`."""

    def call(self, passages, passage_mask):
        return ops.max(passages, (2, 3))[:, :, None]


def with_parts(base, **layers):
    """A subclass whose methods return these layers."""
    return type("Mine", (base,), {k: lambda self, *_, _x=v, **__: _x for k, v in layers.items()})


def test_outputs_of_another_shape_name_the_method():
    message = r"`build_passage_ranker` .*shape \(None, 3\). Received: shape=\(None, 3, 1\)"
    with pytest.raises(ValueError, match=message):
        small(with_parts(Masque, build_passage_ranker=OneColumn()), MASQUE)


def test_a_method_that_nothing_calls_names_the_nearest():
    layer = keras.layers.Identity()
    with pytest.raises(TypeError, match="`build_dual_atention` .*did you mean build_dual_attent"):
        with_parts(Masque, build_dual_atention=layer)
    mixin = type("Mixin", (), {"build_pointr": lambda self: None})
    with pytest.raises(TypeError, match="mean build_pointer.*Received: Mine.build_pointr"):
        type("Mine", (mixin, MaxoutPointerQG), {})


def test_the_guide_lists_every_part_of_every_model():
    page = (Path(__file__).parents[2] / "docs" / "replacing_parts.md").read_text("utf-8")
    for cls in (Masque, SAN, MaxoutPointerQG, DAANet):
        section = page.split(f"### {cls.__name__}\n")[1].split("\n### ")[0]
        listed = re.findall(r"^\| `(build_\w+)\(", section, re.MULTILINE)
        assert listed == [name for name in vars(cls) if name.startswith("build_")]


def test_the_guides_example_runs():
    page = (Path(__file__).parents[2] / "docs" / "replacing_parts.md").read_text("utf-8")
    names = {}
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(program.replace("**sizes)", "**sizes, hidden_dim=8, num_heads=2)"), names)
    assert float(names["model"].dual_attention.scale) == 1.0

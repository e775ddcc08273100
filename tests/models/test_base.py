"""What the base class gives every model: arguments, configuration, freezing, presets."""

import copy
import json
import pickle
import zipfile

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.models import duals, examples, questions
from tests.models.spans import SMALL, batch
from tests.training import toy
from tfmrc.models import SAN, DAANet, Masque, MaxoutPointerQG, Model
from tfmrc.models.freezing import trainable_flags

CLASSES = (Masque, SAN, MaxoutPointerQG, DAANet)
X = batch()
Y = {name: np.array([1, 2, 3]) for name in ("begin", "end")}


@keras.saving.register_keras_serializable(package="tests")
class NarrowSAN(SAN):
    """A subclass with an argument of its own, which fixes two of its base class."""

    def __init__(self, *, width=4, **kwargs):
        super().__init__(units=width, align_dim=width, **kwargs)


@keras.saving.register_keras_serializable(package="tests")
class FixedSAN(SAN):
    """A subclass that takes one argument and hands none on."""

    def __init__(self, *, vocabulary_size):
        super().__init__(**{**SMALL, "vocabulary_size": vocabulary_size}, name="fixed")


def array(x):
    return keras.ops.convert_to_numpy(x)


def compiled(model):
    loss = keras.losses.MeanSquaredError()
    model.compile(keras.optimizers.Adam(0.01), {"begin": loss, "end": loss}, run_eagerly=True)
    return model


def targets():
    return {name: np.zeros_like(X["passage_ids"], "float32") for name in ("begin", "end")}


def test_inputs_of_another_name_are_refused_instead_of_assigned_by_position():
    model = SAN(**SMALL)
    with pytest.raises(ValueError, match="needs it too: `encoder=`. Received also: encoder_ids"):
        model({**X, "encoder_ids": X["passage_ids"]})
    assert set(model(dict(reversed(X.items())))) == {"begin", "end"}


def test_the_configuration_is_complete_plain_and_makes_the_same_model():
    keras.utils.set_random_seed(1)
    model = duals.small(blocks=("lstm",), tasks=("ask",), num_lstm_layers=np.int64(1), name="one")
    config = json.loads(json.dumps(model.get_config()))
    assert config["blocks"] == ["lstm"] and config["num_lstm_layers"] == 1
    assert config["name"] == "one" and config["share_output"] is True
    again = DAANet.from_config(config)
    assert again.get_config() == model.get_config() and again.tasks == ("ask",)
    assert [v.shape for v in again.weights] == [v.shape for v in model.weights]
    assert model.arguments.blocks == ("lstm",) and model.arguments.dtype.name == "float32"


@pytest.mark.parametrize("policy", ["mixed_bfloat16", keras.DTypePolicy("float64")])
def test_the_precision_is_configured(policy):
    model = SAN(**SMALL, dtype=policy)
    again = SAN.from_config(model.get_config())
    assert again.dtype_policy == model.dtype_policy == keras.dtype_policies.get(policy)
    assert again.word_embedding.dtype_policy == model.dtype_policy


def test_a_subclass_keeps_its_own_arguments_and_hands_the_others_on(tmp_path):
    sizes = {"vocabulary_size": 12, "word_dim": 6, "dropout": 0.0}
    model = NarrowSAN(width=3, **sizes)
    config = model.get_config()
    assert config["width"] == 3 and not {"units", "align_dim", "kwargs"} & set(config)
    assert config["num_steps"] == 5 and model.arguments.units == 3
    with pytest.raises(TypeError, match="NarrowSAN has no argument `word_dimm`"):
        NarrowSAN(vocabulary_size=9, word_dimm=3)
    model.save(tmp_path / "narrow.keras")
    again = keras.models.load_model(tmp_path / "narrow.keras")
    assert type(again) is NarrowSAN and again.get_config() == config
    np.testing.assert_allclose(array(again(X)["end"]), array(model(X)["end"]), rtol=1e-6)
    fixed = FixedSAN(vocabulary_size=12)
    assert fixed.get_config() == {"vocabulary_size": 12}
    assert FixedSAN.from_config(fixed.get_config()).arguments.units == SMALL["units"]


def test_frozen_layers_and_the_optimizers_state_survive_a_keras_file(tmp_path):
    keras.utils.set_random_seed(2)
    model = SAN(**SMALL)
    for part in (model.contextual_encoding, model.memory_generation, model.lexicon_encoding):
        part.trainable = False
    compiled(model).fit(X, targets(), verbose=0)
    model.save(tmp_path / "frozen.keras")
    again = keras.models.load_model(tmp_path / "frozen.keras")
    assert again.get_config() == model.get_config()
    assert len(again.trainable_weights) == len(model.trainable_weights) < len(model.weights)
    assert len(again.optimizer.variables) == len(model.optimizer.variables)
    for found, right in zip(again.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(array(found), array(right))
    before = [array(v).copy() for v in again.memory_generation.weights]
    for one in (model, again):
        one.fit(X, targets(), verbose=0)
    for found, right in zip(again.weights, model.weights, strict=True):
        np.testing.assert_allclose(array(found), array(right), rtol=1e-5, atol=1e-6)
    for found, right in zip(again.memory_generation.weights, before, strict=True):
        np.testing.assert_array_equal(array(found), right)
    again.memory_generation.trainable = True  # thawed, it is saved as trainable
    assert "memory_generation" not in trainable_flags(again)
    assert len(SAN.from_config(again.get_config()).trainable_weights) == len(
        again.trainable_weights
    )


def test_flags_of_a_layer_inside_a_frozen_one_and_of_the_whole_model():
    model = examples.small()
    model.shared_encoder[0].trainable = False
    inner = next(layer for layer in model.shared_encoder[0]._layers if layer.weights)
    inner.trainable = True
    flags = json.loads(json.dumps(trainable_flags(model), sort_keys=True))
    again = Masque.from_config({**model.get_config(), "trainable_flags": flags})
    assert trainable_flags(again) == trainable_flags(model)
    assert [v.shape for v in again.trainable_weights] == [v.shape for v in model.trainable_weights]
    whole = SAN(**SMALL)
    whole.trainable = False
    assert not SAN.from_config(whole.get_config()).trainable_weights


SIZES = {
    Masque: {**examples.SIZES, "num_shared_blocks": 1, "num_passage_blocks": 1},
    SAN: {n: size for n, size in SMALL.items() if n != "num_steps"},
    MaxoutPointerQG: questions.SIZES,
    DAANet: duals.SIZES,
}


@pytest.mark.parametrize("cls", CLASSES)
def test_every_preset_makes_a_model_and_has_a_description(cls):
    assert set(cls.presets) == set(cls.PRESETS) <= set(Model.presets)
    for name, description in cls.presets.items():
        assert description.endswith(".")
        fixed = cls.PRESETS[name].arguments
        sizes = {n: size for n, size in SIZES[cls].items() if n not in fixed}
        small = sizes if not name.endswith("_demo") else SIZES[cls]
        model = Model.from_preset(name, **small)
        assert type(model) is cls
        for argument, value in fixed.items():
            if argument not in small:
                assert model.get_config()[argument] == value


def folder_of(model, path):
    """A predictor's folder, as far as the model goes."""
    path.mkdir()
    name = keras.saving.get_registered_name(type(model))
    entry = {"class": name, "config": model.get_config()}
    (path / "config.json").write_text(json.dumps({"model": entry}, sort_keys=True))
    model.save_weights(path / "model.weights.h5")
    return path


def test_a_folder_with_weights_loads_through_the_same_call(tmp_path):
    keras.utils.set_random_seed(3)
    model = NarrowSAN(width=3, vocabulary_size=12, word_dim=6, dropout=0.3)
    model.lexicon_encoding.trainable = False
    folder = folder_of(model, tmp_path / "saved")
    again = SAN.from_preset(folder, dropout=0.0)
    assert type(again) is NarrowSAN and again.arguments.dropout == 0.0
    np.testing.assert_allclose(array(again(X)["end"]), array(model(X)["end"]), rtol=1e-6)
    assert not again.lexicon_encoding.trainable


@pytest.mark.parametrize("given", ["auto", True])
def test_only_who_asks_gets_xla(given, monkeypatch):
    """Keras compiles by itself where it sees a GPU; the list of devices is all that it looks at."""
    gpu = tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU")
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda *_: [gpu])
    plain = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model = toy.Doubled()
    for each in (plain, model):
        each.compile("sgd", "mse", jit_compile=given)
    assert plain.jit_compile
    assert model.jit_compile == (given is True)


def test_a_policy_for_layers_whose_weights_their_constructors_create():
    policies = keras.dtype_policies.DTypePolicyMap("float32")
    parts = {"word_embedding", "answer_tagging"}
    for part in parts:
        policies[part] = "bfloat16"
    model = questions.small(dtype=policies)
    half = {w.path for w in model.weights if w.dtype == "bfloat16"}
    assert half == {w.path for w in model.weights if w.path.split("/")[0] in parts}
    for part in parts:
        assert model.get_layer(part).compute_dtype == "bfloat16"
    again = type(model).from_config(model.get_config())
    assert [w.dtype for w in again.weights] == [w.dtype for w in model.weights]


def test_a_copy_and_a_file_know_what_was_trained(tmp_path):
    model = SAN(**SMALL)
    model.save(tmp_path / "new.keras")
    assert keras.models.load_model(tmp_path / "new.keras").trained_outputs is None
    model.trained_outputs = ("begin",)
    model.save(tmp_path / "trained.keras")
    for again in (
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        keras.models.load_model(tmp_path / "trained.keras"),
    ):
        assert again.trained_outputs == ("begin",)
        np.testing.assert_array_equal(array(again(X)["begin"]), array(model(X)["begin"]))
    assert SAN.from_config(model.get_config()).trained_outputs is None  # has new weights


@pytest.mark.parametrize("save_freq", ["epoch", 1])
def test_a_file_of_the_first_fit_knows_what_was_trained(tmp_path, save_freq):
    model = toy.Doubled()
    model.compile("sgd", {"single": "mse"}, run_eagerly=True)
    file = tmp_path / "checkpoint.keras"
    known = []

    class Saved(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            with zipfile.ZipFile(file) as members:
                known.append(json.loads(members.read("assets/trained_outputs.json")))

    saving = keras.callbacks.ModelCheckpoint(str(file), save_freq=save_freq)
    callbacks = [saving, Saved()] if save_freq == "epoch" else [[saving], Saved()]
    model.fit(np.ones((2, 2)), {"single": np.ones((2, 1))}, verbose=0, callbacks=callbacks)
    assert known == [["single"]] and model.trained_outputs == ("single",)


class Two(Model):
    """Two layers of the same sizes."""

    def __init__(self, *, name="two", dtype=None):
        x = keras.Input((2,), name="x")
        hidden = keras.layers.Dense(2, name="first")(x)
        super().__init__({"x": x}, {"y": keras.layers.Dense(2, name="second")(hidden)}, name=name)


def test_layers_that_are_frozen_after_compile_do_not_get_the_averages_of_others():
    model, x, y = Two(), {"x": np.ones((2, 2))}, {"y": np.ones((2, 2))}
    model.compile(keras.optimizers.SGD(0.0, use_ema=True), {"y": "mse"}, run_eagerly=True)
    model.fit(x, y, verbose=0)
    model.get_layer("first").trainable = False
    before = model.get_layer("second").get_weights()
    with pytest.raises(ValueError, match="Received: 2 trained weights, 4"):
        model.fit(x, y, verbose=0)
    for value, weight in zip(before, model.get_layer("second").get_weights(), strict=True):
        np.testing.assert_array_equal(weight, value)
    model.compile(keras.optimizers.SGD(0.0, use_ema=True), {"y": "mse"}, run_eagerly=True)
    model.fit(x, y, verbose=0)


@keras.saving.register_keras_serializable(package="tests")
class Wrapping(keras.layers.Wrapper):
    """A contextual embedding around another layer, its attribute `layer`."""

    def call(self, ids, mask=None):
        return 2.0 * self.layer(ids)

    def compute_output_shape(self, ids_shape):
        return (*ids_shape, self.layer.output_dim)


@keras.saving.register_keras_serializable(package="tests")
class Headed(SAN):
    """A model with layers of its own in a dict."""

    def __init__(self, *, heads, **kwargs):
        self.heads = heads
        super().__init__(**kwargs)


def test_a_layer_that_wraps_another_and_a_dict_of_layers_are_saved_whole(tmp_path):
    contextual = Wrapping(keras.layers.Embedding(SMALL["vocabulary_size"], 2), name="contextual")
    heads = {"first": keras.layers.Dense(3, name="first")}
    model = Headed(**SMALL, contextual_embedding=contextual, heads=heads)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert type(loaded.contextual_embedding) is Wrapping
    assert loaded.arguments.heads["first"].units == 3

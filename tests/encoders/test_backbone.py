"""The encoder's layer: what KerasHub computes, layer by layer, with parts of it trained."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tfmrc import encoders
from tfmrc.encoders import BackboneEncoder, keras_hub_backbone as hub, presets

SIZES = {
    "bert": {},
    "distil_bert": {},
    "electra": {"embedding_dim": 6},
    "roberta": {},
    "albert": {"embedding_dim": 6, "num_groups": 1, "num_inner_repetitions": 1},
    "deberta_v3": {"bucket_size": 8},
    "modern_bert": {"local_attention": 2, "global_every": 2},
    "mobile_bert": {"bottleneck_dim": 4, "embedding_dim": 6, "num_feedforward": 2},
}
IDS = np.array([[[2, 7, 8, 3, 9, 3], [2, 7, 8, 3, 0, 0]], [[2, 5, 3, 6, 6, 3], [0] * 6]])
SEGMENTS = np.array([[[0, 0, 0, 0, 1, 1], [0] * 6], [[0, 0, 0, 1, 1, 1], [0] * 6]])


def make(family="bert", sizes=None, seed=3, **options):
    keras.utils.set_random_seed(seed)
    name = "vocab_size" if family == "electra" else "vocabulary_size"
    backbone = {
        name: 12,
        "num_layers": 2,
        "num_heads": 2,
        "hidden_dim": 8,
        "intermediate_dim": 12,
        "max_sequence_length": 16,
        **SIZES[family],
        **(sizes or {}),
    }
    layer = BackboneEncoder(family, backbone, **options)
    draw = np.random.default_rng(seed)
    for variable in layer.variables:
        if "seed" not in variable.path:
            variable.assign(variable.numpy() + draw.normal(0, 0.3, variable.shape))
    return layer


def gradients(layer, function, training=True, in_graph=True):
    """Each variable's gradient by path, and the value."""
    variables = layer.variables

    def step():
        with tf.GradientTape() as tape:
            value = function(layer(IDS, SEGMENTS, training=training))
        return value, tape.gradient(value, [v.value for v in variables if "seed" not in v.path])

    value, result = (tf.function(step, autograph=False) if in_graph else step)()
    paths = [v.path for v in variables if "seed" not in v.path]
    return float(value), {
        path: None if g is None else tf.convert_to_tensor(g).numpy()
        for path, g in zip(paths, result, strict=True)
    }


def weighted(states):
    weights = np.random.default_rng(0).normal(size=(*states.shape[:1], 12, 8))
    return tf.reduce_sum(tf.cast(states, tf.float32) * weights.astype("float32"))


def of_keras_hub(layer):
    """KerasHub's own backbone with the weights of the layer, and its states of IDS."""
    backbone = hub.build_backbone(layer.family, hub.sizes_of(layer.backbone))
    backbone.set_weights(layer.backbone.get_weights())
    flat = IDS.reshape(-1, 6)
    inputs = {"token_ids": flat, "padding_mask": (flat != 0).astype("int32")}
    if "segment_ids" in backbone.input:
        inputs["segment_ids"] = SEGMENTS.reshape(-1, 6)

    def states():
        result = backbone(inputs)
        if isinstance(result, dict):
            result = result["sequence_output"]
        return result * (flat != 0)[..., None]

    return backbone, states


@pytest.mark.parametrize("family", [name for name in SIZES if name not in hub.OWN])
def test_states_are_keras_hubs(family) -> None:
    layer = make(family)
    _, states = of_keras_hub(layer)
    result = np.array(layer(IDS, SEGMENTS)).reshape(-1, 6, 8)
    # CPUs sum in different orders: up to 3.2e-6 was seen in three layers of DeBERTa.
    np.testing.assert_allclose(result, states(), rtol=1e-5, atol=1e-5)
    assert not result[3].any()


@pytest.mark.parametrize("training", [False, True])
def test_gradients_are_keras_hubs(training) -> None:
    layer = make("bert", {"dropout": 0.0}, activation="gelu")
    backbone, states = of_keras_hub(layer)
    hub.set_activation(backbone, "gelu")
    found = []
    for function, owner in (
        (lambda: layer(IDS, SEGMENTS, training=training), layer.backbone),
        (states, backbone),
    ):
        with tf.GradientTape() as tape:
            value = weighted(tf.reshape(function(), [2, 12, 8]))
        variables = [v.value for v in owner.trainable_variables if "pooled" not in v.path]
        found.append(tape.gradient(value, variables))
    for ours, theirs in zip(*found, strict=True):
        ours, theirs = tf.convert_to_tensor(ours), tf.convert_to_tensor(theirs)
        np.testing.assert_allclose(ours, theirs, atol=2e-5)


@pytest.mark.parametrize("family", ["bert", "deberta_v3", *hub.OWN])
def test_padding_changes_nothing(family) -> None:
    layer = make(family, layers="mix")
    wide = np.zeros((2, 3, 9), int)
    wide[:, :2, :6] = IDS
    segments = np.zeros((2, 3, 9), int)
    segments[:, :2, :6] = SEGMENTS
    result = np.array(layer(wide, segments)).reshape(2, 3, 9, 8)
    np.testing.assert_allclose(
        result[:, :2, :6], np.array(layer(IDS, SEGMENTS)).reshape(2, 2, 6, 8), atol=2e-6
    )
    assert not result[:, 2].any() and not result[:, :, 6:].any()


@pytest.mark.parametrize(
    "family, layers",
    [("bert", "last"), ("deberta_v3", "mix"), ("modern_bert", "last"), ("mobile_bert", "mix")],
)
def test_computing_twice_gives_the_same_gradients_under_dropout(family, layers) -> None:
    result = []
    for remat in (False, True):
        layer = make(family, {"dropout": 0.3}, layers=layers, remat=remat)
        result.append(gradients(layer, weighted, in_graph=remat))
    (value, plain), (other, twice) = result
    assert value == pytest.approx(other, rel=1e-6)
    assert plain.keys() == twice.keys()
    for path, gradient in plain.items():
        if gradient is None:
            assert twice[path] is None, path
        else:
            np.testing.assert_allclose(twice[path], gradient, rtol=1e-4, atol=1e-4, err_msg=path)


def test_dropout_differs_between_steps_and_is_off_outside_training() -> None:
    layer = make("bert", {"dropout": 0.3})
    first, second = (np.array(layer(IDS, SEGMENTS, training=True)) for _ in range(2))
    assert abs(first - second).max() > 0.01
    first, second = (np.array(layer(IDS, SEGMENTS)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def trained(layer):
    return {path.split("/")[1] for path in (v.path for v in layer.trainable_variables)}


EMBEDDINGS = {"token_embedding", "position_embedding", "segment_embedding", "embeddings_layer_norm"}
LAYERS = [f"transformer_layer_{number}" for number in range(3)]


@pytest.mark.parametrize(
    "count, expected", [("all", {*EMBEDDINGS, *LAYERS}), ("none", set()), (2, set(LAYERS[1:]))]
)
def test_what_is_trained(count, expected) -> None:
    layer = make("bert", {"dropout": 0.3, "num_layers": 3}, trainable_layers=count)
    assert trained(layer) == expected
    _, result = gradients(layer, weighted, in_graph=False)
    assert {path.split("/")[1] for path, g in result.items() if g is not None} == expected
    again = BackboneEncoder.from_config(layer.get_config())
    assert trained(again) == expected


@pytest.mark.parametrize(
    ("count", "expected"), [("none", set()), (1, {"transformer_layer_1", "final_norm"})]
)
def test_the_last_normalization_of_modern_bert_is_trained_with_the_top_layer(
    count, expected
) -> None:
    layer = make("modern_bert", trainable_layers=count)
    assert trained(layer) == expected


def test_kept_layers_of_modern_bert_stay_local_and_global() -> None:
    layer = make("modern_bert", {"num_layers": 5})
    smaller = presets._with_layers(layer, [0, 3, 4])
    assert smaller.num_layers == 3
    with pytest.raises(ValueError, match="local and global"):
        presets._with_layers(layer, [0, 2])


def test_frozen_parts_have_no_dropout() -> None:
    frozen = make("bert", {"dropout": 0.5}, trainable_layers="none")
    np.testing.assert_array_equal(
        np.array(frozen(IDS, SEGMENTS, training=True)), np.array(frozen(IDS, SEGMENTS))
    )


def test_layers_after_a_frozen_encoder_still_train() -> None:
    @keras.saving.register_keras_serializable(package="tests")
    class Follower(keras.layers.Layer):
        """Its `call` knows nothing of training, the layer in it does."""

        def __init__(self):
            super().__init__()
            self.dropout = keras.layers.Dropout(0.5)

        def call(self, x):
            return self.dropout(x)

    ids = keras.Input((None, None), dtype="int32")
    layer = make("bert", trainable_layers="none")
    model = keras.Model(ids, Follower()(layer(ids)))
    assert (np.array(model(IDS, training=True))[0] == 0).any()
    assert not (np.array(model(IDS, training=False))[0, :4] == 0).any()


def test_shared_layers_are_trained_as_a_whole() -> None:
    assert make("albert", {"num_layers": 3}).num_layers == 3
    with pytest.raises(ValueError, match="trainable_layers=1"):
        make("albert", trainable_layers=1)


def test_mix_of_the_layers() -> None:
    layer = make("bert", {"num_layers": 3}, layers="mix")
    layer.mix_weights.assign([0.0, 1.0, -1.0, 2.0])
    layer.mix_gamma.assign(0.5)
    flat, mask = IDS.reshape(-1, 6), IDS.reshape(-1, 6) != 0
    x, _ = hub.embed(layer.backbone, flat, SEGMENTS.reshape(-1, 6), flat != 0, False)
    outputs = [np.array(x, "float64")]
    for part in hub.transformer_layers(layer.backbone):
        x = part(x, padding_mask=mask)
        outputs.append(np.array(x, "float64"))
    weights = np.exp([0.0, 1.0, -1.0, 2.0])
    weights /= weights.sum()
    expected = 0.5 * sum(w * o for w, o in zip(weights, outputs, strict=True)) * mask[..., None]
    result = np.array(layer(IDS, SEGMENTS)).reshape(-1, 6, 8)
    np.testing.assert_allclose(result, expected, atol=2e-6)


def test_activation_and_epsilon() -> None:
    exact, approximate = make("bert", activation="gelu"), make("bert", activation="gelu_new")
    default = make("bert")
    states = [np.array(layer(IDS, SEGMENTS)) for layer in (exact, approximate, default)]
    assert abs(states[0] - states[1]).max() > 1e-5
    np.testing.assert_array_equal(states[1], states[2])
    rough = make("bert", epsilon=0.1)
    assert abs(np.array(rough(IDS, SEGMENTS)) - states[2]).max() > 1e-3


@pytest.mark.parametrize("family", ["bert", "deberta_v3", *hub.OWN])
def test_saved_with_its_model(family, tmp_path) -> None:
    layer = make(family, layers="mix", trainable_layers=1, pooling="mean", preset={"name": "x"})
    ids = keras.Input((None, None), dtype="int32")
    segments = keras.Input((None, None), dtype="int32")
    pieces = keras.Input((None, 2), dtype="int32")
    model = keras.Model([ids, segments, pieces], layer.words(layer(ids, segments), pieces))
    assert model.output.shape == (None, None, 8)
    batch = [IDS, SEGMENTS, np.array([[[1, 2], [3, 1]], [[1, 3], [0, 0]]])]
    expected = np.array(model(batch))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(np.array(loaded(batch)), expected, atol=1e-6)
    own = next(part for part in loaded.layers if isinstance(part, BackboneEncoder))
    assert own.get_config() == layer.get_config()
    assert len(own.trainable_variables) == len(layer.trainable_variables)
    keras.backend.clear_session()


def test_bfloat16_keeps_float32_weights() -> None:
    layer = make("bert", dtype="mixed_bfloat16", layers="mix")
    states = layer(IDS, SEGMENTS)
    assert states.dtype == tf.bfloat16
    assert {v.dtype for v in layer.trainable_variables} == {"float32"}
    plain = make("bert", layers="mix")
    difference = np.array(tf.cast(states, tf.float32)) - np.array(plain(IDS, SEGMENTS))
    assert abs(difference).max() < 0.1


def test_windows_without_subwords_are_left_out() -> None:
    sure = {"dropout": 0.0}
    plain, skipping = make("bert", sure, skip_padding=False), make("bert", sure)
    assert plain.supports_jit and not skipping.supports_jit
    sizes = []
    compute = skipping.compute
    skipping.compute = lambda ids, *others: sizes.append(ids.shape[0]) or compute(ids, *others)
    np.testing.assert_allclose(
        np.array(skipping(IDS, SEGMENTS)), np.array(plain(IDS, SEGMENTS)), atol=2e-6
    )
    assert sizes == [3]
    _, expected = gradients(plain, weighted, in_graph=False)
    _, result = gradients(skipping, weighted)
    for path, gradient in expected.items():
        if gradient is not None:
            np.testing.assert_allclose(result[path], gradient, atol=1e-4, err_msg=path)
    assert not np.array(skipping(np.zeros_like(IDS))).any()


def test_rates_of_the_layers() -> None:
    layer = make("bert", {"num_layers": 3}, layers="mix")
    rates = encoders.learning_rate_multipliers(layer, 0.5, 0.1)
    assert list(rates.values()) == pytest.approx([0.5, 0.05, 0.005, 0.5, 0.0005])
    shared = encoders.learning_rate_multipliers(make("albert"), 1.0, 0.5)
    assert len(shared) == 3
    modern = encoders.learning_rate_multipliers(make("modern_bert"), 1.0, 0.5)
    assert modern["(^|/)encoder/final_norm/"] == 1.0

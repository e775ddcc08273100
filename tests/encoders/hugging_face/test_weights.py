"""Encoders of Hugging Face's files: weights to and fro, and what is refused."""

import json

import keras
import numpy as np
import pytest

from tests.encoders.hugging_face import cases, transformers_process
from tests.text.subwords.odd_strings import real_strings
from tfmrc.encoders import BackboneEncoder
from tfmrc.encoders.hugging_face.config import config_of_encoder, encoder_config
from tfmrc.encoders.hugging_face.folder import load_layer, read_weights
from tfmrc.encoders.hugging_face.weights import assign_weights, weights_of_encoder

CONFIGS = cases.CONFIGS


def layer_of(kind, **changes):
    known = encoder_config({**CONFIGS[kind], **changes})
    keras.utils.set_random_seed(1)
    return BackboneEncoder(
        known.family, known.sizes, pad_id=1, activation=known.activation, epsilon=known.epsilon
    )


@pytest.mark.parametrize("kind", CONFIGS)
def test_weights_and_config_to_and_fro(kind):
    layer, other = layer_of(kind), layer_of(kind)
    generator = np.random.default_rng(2)
    for weight in layer.weights:
        weight.assign(generator.normal(size=weight.shape))
    arrays = weights_of_encoder(layer)
    assign_weights(other, arrays)
    again = weights_of_encoder(other)
    assert arrays.keys() == again.keys() and len(arrays) > 20
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    stated = config_of_encoder(layer)
    assert {n: v for n, v in CONFIGS[kind].items() if stated.get(n) != v} == {}
    assert encoder_config(stated) == encoder_config(CONFIGS[kind])


def test_a_kernel_is_transposed_and_heads_are_joined():
    layer = layer_of("bert")
    kernel = layer.backbone.transformer_layers[0]._self_attention_layer.query_dense.kernel
    values = np.arange(64.0).reshape(8, 2, 4)
    kernel.assign(values)
    query = weights_of_encoder(layer)["bert.encoder.layer.0.attention.self.query.weight"]
    assert query[5, 3] == values[3, 1, 1]


def test_the_one_segment_of_roberta_is_part_of_its_positions():
    layer = layer_of("roberta")
    arrays = weights_of_encoder(layer)
    name = "roberta.embeddings.position_embeddings.weight"
    assert arrays[name].shape == (10, 8)
    segment = np.full((1, 8), 0.5, np.float32)
    assign_weights(layer, {**arrays, "roberta.embeddings.token_type_embeddings.weight": segment})
    np.testing.assert_allclose(weights_of_encoder(layer)[name][2:], arrays[name][2:] + 0.5)


def test_names_of_the_first_releases_and_no_prefix():
    layer = layer_of("bert")
    arrays = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): array + 1
        for name, array in weights_of_encoder(layer).items()
    }
    assign_weights(layer, {**arrays, "pooler.dense.weight": np.zeros((8, 8))})
    result = weights_of_encoder(layer)["bert.encoder.layer.0.output.LayerNorm.bias"]
    assert result.tolist() == [1.0] * 8


def test_missing_and_unknown_weights_are_refused():
    layer = layer_of("bert")
    arrays = weights_of_encoder(layer)
    one = next(iter(arrays))
    with pytest.raises(ValueError, match="1 missing .embeddings.word_embeddings.weight"):
        assign_weights(layer, {name: array for name, array in arrays.items() if name != one})
    with pytest.raises(ValueError, match="1 unknown .encoder.layer.2.x"):
        assign_weights(layer, {**arrays, "bert.encoder.layer.2.x": np.zeros(2)})


@pytest.mark.slow
@pytest.mark.torch
def test_scores_of_transformers(tmp_path):
    """States of each kind, with its head, on sequences up to 500 subwords."""
    kinds = ("Bert", "DistilBert", "Electra", "Roberta", "XLMRoberta", "Camembert", "MPNet",
             "Albert", "DebertaV2", "MobileBert")  # fmt: skip
    cases.make_readers(tmp_path, real_strings(300), *kinds)
    program = cases.PROGRAM
    generator = np.random.default_rng(0)
    for kind in kinds:
        folder = tmp_path / kind
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        ids = generator.integers(5, 900, (2, 500))
        ids[1, 300:] = config["pad_token_id"]
        mask = ids != config["pad_token_id"]
        segments = np.broadcast_to(np.arange(500) > 12, ids.shape) & mask
        batch = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
        np.savez(tmp_path / "in.npz", **{n: v.astype("int64") for n, v in batch.items()})
        out = tmp_path / "out.npz"
        transformers_process.run(program, "scores", folder, tmp_path / "in.npz", out)
        weights = read_weights(folder)
        layer = load_layer(folder, config, config["pad_token_id"], weights)
        states = np.array(layer(ids[:, None], segments[:, None].astype("int32")))
        scores = states @ weights["qa_outputs.weight"].T + weights["qa_outputs.bias"]
        with np.load(out) as archive:
            for column, name in enumerate(("begin", "end")):
                difference = np.abs(scores[..., column] - archive[name])[mask]
                assert difference.max() < 1e-4, (kind, name)
                assert np.ptp(archive[name][mask]) > 1, kind

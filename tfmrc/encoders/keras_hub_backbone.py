"""Backbones layer by layer; uses KerasHub's private names, as `hugging_face.weights` does."""

import contextlib
from collections.abc import Iterator
from typing import Any, TypeAlias

import keras
import numpy as np
from keras import ops

from tfmrc.encoders.flat_transformer import layer_norm
from tfmrc.encoders.hugging_face.families import FAMILIES, family_of_backbone
from tfmrc.encoders.mobile_bert import MobileBertBackbone
from tfmrc.encoders.modern_bert import ModernBertBackbone
from tfmrc.layers.base import Layer
from tfmrc.layers.regularization.dropout import replica_seed
from tfmrc.ops.gelu import exact_gelu
from tfmrc.ops.typing import Tensor
from tfmrc.utils import keras_private
from tfmrc.utils.optional import optional_import

# The classes of KerasHub, an optional package without types: `keras_hub.models.Backbone`, whose
# parts `keras_hub.layers.TransformerEncoder` and so on have private names.
Backbone: TypeAlias = Any


# Backbones that KerasHub lacks.
OWN = {"modern_bert": ModernBertBackbone, "mobile_bert": MobileBertBackbone}


def import_keras_hub() -> Any:
    """Imports `keras_hub`.

    Raises:
        ImportError: If keras-hub is not installed.
    """
    with optional_import("tfmrc[encoders]"):
        import keras_hub
    return keras_hub


def build_backbone(family: str, config: dict[str, Any], dtype: Any = None) -> Backbone:
    """Builds a backbone of the given sizes, with random weights."""
    if family in OWN:
        return OWN[family](**config, dtype=dtype)
    return getattr(import_keras_hub().models, FAMILIES[family].backbone)(**config, dtype=dtype)


def sizes_of(backbone: Backbone) -> dict[str, Any]:
    """Returns the sizes of a backbone as arguments of its constructor."""
    others = ("name", "trainable", "dtype")
    return {name: value for name, value in backbone.get_config().items() if name not in others}


def embed(
    backbone: Backbone, ids: Tensor, segment_ids: Tensor | None, mask: Tensor, training: bool
) -> tuple[Tensor, dict[str, Tensor]]:
    """Computes the input of the first transformer layer.

    Args:
        backbone: KerasHub backbone, or one of `OWN`.
        ids: int `[N, P]`.
        segment_ids: int `[N, P]`; None for zeros.
        mask: boolean `[N, P]`, False at padding.
        training: bool. Whether to apply dropout.

    Returns:
        `[N, P, hidden_dim]`, and a dict of further arguments of every transformer layer.
    """
    if isinstance(backbone, ModernBertBackbone):
        return backbone.embed(ids, training), {}
    segments = ops.zeros_like(ids) if segment_ids is None else segment_ids
    if isinstance(backbone, MobileBertBackbone):
        return backbone.embed(ids, segments, mask, training), {}
    family = family_of_backbone(type(backbone).__name__)
    if FAMILIES[family].segments:
        tokens = backbone.token_embedding(ids)  # [N, P, embedding_dim]
        x = backbone.embeddings_add(
            (tokens, backbone.position_embedding(tokens), backbone.segment_embedding(segments))
        )
    else:
        x = (backbone.token_embedding if family == "deberta_v3" else backbone.embeddings)(ids)
    x = layer_norm(backbone.embeddings_layer_norm, x)
    x = backbone.embeddings_dropout(x, training=training)
    if hasattr(backbone, "embeddings_projection"):
        x = backbone.embeddings_projection(x)  # [N, P, hidden_dim]
    if family == "deberta_v3":
        return x, {"rel_embeddings": backbone.relative_embeddings(x)}
    return x, {}


def embedding_layers(backbone: Backbone) -> list[Any]:
    """Returns the layers before the first transformer layer."""
    names = (
        "token_embedding", "position_embedding", "segment_embedding", "embeddings",
        "embeddings_layer_norm", "embeddings_projection", "relative_embeddings",
    )  # fmt: skip
    layers = (getattr(backbone, name, None) for name in names)
    return [layer for layer in layers if isinstance(layer, keras.layers.Layer)]


def final_layers(backbone: Backbone) -> list[Any]:
    """Returns the layers after the last transformer layer."""
    return [backbone.final_norm] if hasattr(backbone, "final_norm") else []


def subword_rows(backbone: Backbone) -> np.ndarray:
    """Returns the embeddings of the subwords, float array `[subwords, dim]`."""
    return ops.convert_to_numpy(backbone.token_embedding.embeddings)


def transformer_layers(backbone: Backbone) -> list[Any]:
    """Returns the transformer layers in call order; ALBERT's shared layers are repeated."""
    layers = list(backbone.transformer_layers)
    if layers and isinstance(layers[0], (list, tuple)):
        calls = backbone.num_layers // backbone.num_groups
        layers = [layer for group in layers for _ in range(calls) for layer in group]
    return layers


def set_activation(backbone: Backbone, activation: str) -> None:
    """Sets the activation of the feed-forward layers.

    KerasHub's BERT, ELECTRA and ALBERT use the approximate GELU of the first release. `config.json`
    of Hugging Face states the activation that a model was trained with.
    """
    function = keras.activations.get(_ACTIVATIONS[activation])
    for layer in transformer_layers(backbone):
        layer.activation = function
        if not isinstance(layer, Layer):
            layer._feedforward_intermediate_dense.activation = function


def _approximate_gelu(x):
    return keras.activations.gelu(x, approximate=True)


_ACTIVATIONS = {
    "gelu": exact_gelu,
    "gelu_new": _approximate_gelu,
    "gelu_pytorch_tanh": _approximate_gelu,
    "gelu_fast": _approximate_gelu,
    "relu": "relu",
}


def set_epsilon(backbone: Backbone, epsilon: float) -> None:
    """Sets the epsilon of all layer normalizations."""
    for layer in keras_private.all_sublayers(backbone):
        if isinstance(layer, keras.layers.LayerNormalization):
            layer.epsilon = epsilon


@contextlib.contextmanager
def given_seeds(generators: list[Any], seeds: list[Any]) -> Iterator[None]:
    """Temporarily makes seed generators return the given seeds without changing their state.

    A layer that is recomputed for its gradient must drop the same values again, but Keras'
    generators would draw new ones.
    """
    for generator, seed in zip(generators, seeds, strict=True):
        generator.next = lambda ordered=True, seed=seed: seed
    try:
        yield
    finally:
        for generator in generators:
            del generator.next


def draw_seeds(generators: list[Any]) -> list[Any]:
    """Returns the next seed of each generator, different on every replica."""
    return [replica_seed(generator.next()) for generator in generators]

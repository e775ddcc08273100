"""Weights of encoders in Hugging Face's files, to and from KerasHub's variables.

Each variable of a backbone has one name in the file, and one rule between the two shapes, which is
used for loading and for saving. `keras_hub_backbone` and this module use KerasHub's private names.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import keras
import numpy as np
from keras import ops

from tfmrc.encoders.backbone import BackboneEncoder
from tfmrc.encoders.hugging_face.families import FAMILIES, OF_ROBERTA
from tfmrc.encoders.keras_hub_backbone import Backbone

_UNUSED = ("pooler.", "embeddings.position_ids", "embeddings.token_type_ids")
_NORM = {"gamma": "weight", "beta": "bias"}


class Weight(NamedTuple):
    """A variable and its place in a file.

    Attributes:
        name: str. Name in the file, without the prefix of the encoder.
        variable: Keras variable.
        rule: str. `same`, `kernel` (transposed and reshaped) or `flat` (reshaped).
    """

    name: str
    variable: keras.Variable
    rule: str = "same"

    def from_file(self, array: np.ndarray) -> np.ndarray:
        """Returns an array of the file in the shape of the variable."""
        array = array.T if self.rule == "kernel" else array
        return array if self.rule == "same" else np.reshape(array, self.variable.shape)

    def to_file(self) -> np.ndarray:
        """Returns the variable's value in the shape of the file."""
        value = ops.convert_to_numpy(self.variable)
        if self.rule == "flat":
            return np.reshape(value, -1)
        if self.rule == "kernel":
            # The side of the heads has two axes: [in, heads, size] or [heads, size, out].
            rows = value.shape[0] if value.ndim < 3 or self.is_input else -1
            columns = value.shape[-1] if rows == -1 else -1
            return np.ascontiguousarray(np.reshape(value, (rows, columns)).T)
        return value

    @property
    def is_input(self) -> bool:
        """True if the heads are the output of the kernel: queries, keys and values."""
        return not self.name.endswith(("dense.weight", "out_lin.weight", "attn.o.weight"))


def encoder_weights(backbone: Backbone, family: str) -> list[Weight]:
    """Returns all variables of a backbone that take part in its states.

    Args:
        backbone: KerasHub backbone.
        family: str. A key of `tfmrc.encoders.hugging_face.families.FAMILIES`.
    """
    if family in _OWN:
        return [*_OWN[family](backbone)]
    return [*_embeddings(backbone, family), *_layers(backbone, family)]


def norm_weights(name: str, layer: Any) -> Iterator[Weight]:
    """Yields the variables of a layer normalization with this name in the file."""
    for ours, theirs in _NORM.items():
        if (variable := getattr(layer, ours)) is not None:
            yield Weight(f"{name}.{theirs}", variable)


def dense_weights(name: str, layer: Any) -> Iterator[Weight]:
    """Yields the variables of a linear layer with this name in the file."""
    yield Weight(f"{name}.weight", layer.kernel, "kernel")
    if layer.bias is not None:
        yield Weight(f"{name}.bias", layer.bias, "flat")


def _embeddings(backbone: Backbone, family: str) -> Iterator[Weight]:
    yield Weight("embeddings.word_embeddings.weight", backbone.token_embedding.embeddings)
    if family in ("distil_bert", *OF_ROBERTA):
        positions = backbone.embeddings.position_embedding
    else:
        positions = getattr(backbone, "position_embedding", None)
    if positions is not None:
        yield Weight("embeddings.position_embeddings.weight", positions.position_embeddings)
    if family in ("bert", "electra", "albert"):
        rows = backbone.segment_embedding.embeddings
        yield Weight("embeddings.token_type_embeddings.weight", rows)
    yield from norm_weights("embeddings.LayerNorm", backbone.embeddings_layer_norm)
    if family == "albert":
        yield from dense_weights(
            "encoder.embedding_hidden_mapping_in", backbone.embeddings_projection
        )
    elif hasattr(backbone, "embeddings_projection"):
        yield from dense_weights("embeddings_project", backbone.embeddings_projection)
    if family == "deberta_v3":
        relative = backbone.relative_embeddings
        yield Weight("encoder.rel_embeddings.weight", relative.rel_embeddings)
        yield from norm_weights("encoder.LayerNorm", relative.layer_norm)


class _Names(NamedTuple):
    """Names of a transformer layer's parts in a file."""

    query: str = "attention.self.query"
    key: str = "attention.self.key"
    value: str = "attention.self.value"
    output: str = "attention.output.dense"
    attention_norm: str = "attention.output.LayerNorm"
    inner: str = "intermediate.dense"
    outer: str = "output.dense"
    norm: str = "output.LayerNorm"


_NAMES = {
    "distil_bert": _Names(
        "attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin",
        "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
    ),
    "mpnet": _Names(
        "attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o",
        "attention.LayerNorm",
    ),
    "albert": _Names(
        "attention.query", "attention.key", "attention.value", "attention.dense",
        "attention.LayerNorm", "ffn", "ffn_output", "full_layer_layer_norm",
    ),
    "deberta_v3": _Names(
        "attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"
    ),
}  # fmt: skip


def _layers(backbone: Backbone, family: str) -> Iterator[Weight]:
    names = _NAMES.get(family, _Names())
    if family == "albert":
        layers = {
            f"encoder.albert_layer_groups.{group}.albert_layers.{number}": layer
            for group, inner in enumerate(backbone.transformer_layers)
            for number, layer in enumerate(inner)
        }
    else:
        room = "transformer" if family == "distil_bert" else "encoder"
        layers = {
            f"{room}.layer.{number}": layer
            for number, layer in enumerate(backbone.transformer_layers)
        }
    mark = "_" if family == "deberta_v3" else ""
    for prefix, layer in layers.items():
        attention = layer._self_attention_layer
        for part in ("query", "key", "value", "output"):
            dense = getattr(attention, f"{mark}{part}_dense")
            yield from dense_weights(f"{prefix}.{getattr(names, part)}", dense)
        yield from norm_weights(
            f"{prefix}.{names.attention_norm}", layer._self_attention_layer_norm
        )
        yield from dense_weights(f"{prefix}.{names.inner}", layer._feedforward_intermediate_dense)
        yield from dense_weights(f"{prefix}.{names.outer}", layer._feedforward_output_dense)
        yield from norm_weights(f"{prefix}.{names.norm}", layer._feedforward_layer_norm)


def _modern_bert(backbone: Backbone) -> Iterator[Weight]:
    yield Weight("embeddings.tok_embeddings.weight", backbone.token_embedding.embeddings)
    yield from norm_weights("embeddings.norm", backbone.embeddings_layer_norm)
    for number, layer in enumerate(backbone.transformer_layers):
        begin = f"layers.{number}"
        if layer.attention_norm is not None:
            yield from norm_weights(f"{begin}.attn_norm", layer.attention_norm)
        yield from norm_weights(f"{begin}.mlp_norm", layer.feedforward_norm)
        for name, dense in {
            "attn.Wqkv": layer.query_key_value,
            "attn.Wo": layer.attention_output,
            "mlp.Wi": layer.feedforward_inner,
            "mlp.Wo": layer.feedforward_output,
        }.items():
            yield from dense_weights(f"{begin}.{name}", dense)
    yield from norm_weights("final_norm", backbone.final_norm)


def _mobile_bert(backbone: Backbone) -> Iterator[Weight]:
    for name, kind in {"word": "token", "position": "position", "token_type": "segment"}.items():
        rows = getattr(backbone, f"{kind}_embedding").embeddings
        yield Weight(f"embeddings.{name}_embeddings.weight", rows)
    yield from dense_weights("embeddings.embedding_transformation", backbone.embeddings_projection)
    yield from norm_weights("embeddings.LayerNorm", backbone.embeddings_layer_norm)
    for number, layer in enumerate(backbone.transformer_layers):
        names = {
            "input": ("bottleneck.input.dense", "bottleneck.input.LayerNorm"),
            "shared": ("bottleneck.attention.dense", "bottleneck.attention.LayerNorm"),
            **{part: (f"attention.self.{part}", "") for part in ("query", "key", "value")},
            "attention_output": ("attention.output.dense", "attention.output.LayerNorm"),
            "output": ("output.bottleneck.dense", "output.bottleneck.LayerNorm"),
        }
        for index in range(layer.num_feedforward):
            begin = f"ffn.{index}." if index < layer.num_feedforward - 1 else ""
            names[f"inner_{index}"] = (f"{begin}intermediate.dense", "")
            names[f"outer_{index}"] = (f"{begin}output.dense", f"{begin}output.LayerNorm")
        for part, (dense, norm) in names.items():
            yield from dense_weights(f"encoder.layer.{number}.{dense}", layer.dense[part])
            if norm:
                yield from norm_weights(f"encoder.layer.{number}.{norm}", layer.norms[part])


# Backbones with names of their own.
_OWN = {"modern_bert": _modern_bert, "mobile_bert": _mobile_bert}


def assign_weights(layer: BackboneEncoder, arrays: Mapping[str, np.ndarray]) -> None:
    """Assigns the weights of a file to an encoder.

    Every variable must be in the file, and every array of the encoder in the file must be known,
    so that no file of another arithmetic is loaded.

    Args:
        layer: `tfmrc.encoders.BackboneEncoder`.
        arrays: dict from name to array, with or without the encoder's prefix, such as `bert.`.

    Raises:
        ValueError: If weights are missing or unknown, or have a wrong shape.
    """
    family, prefix = layer.family, f"{FAMILIES[layer.family].prefix}."
    prefix = prefix if any(name.startswith(prefix) for name in arrays) else ""
    given = {n.removeprefix(prefix): array for n, array in arrays.items() if n.startswith(prefix)}
    given = _modern(_without_segments(given, family))
    weights = _weights_of(layer)
    known = {weight.name for weight in weights}
    missing = sorted(known - given.keys())
    others = sorted(n for n in given.keys() - known if prefix and not n.startswith(_UNUSED))
    if missing or others:
        raise ValueError(
            f"The file must have exactly the weights of a {family} encoder. Received: "
            f"{len(missing)} missing ({', '.join(missing[:3])}), "
            f"{len(others)} unknown ({', '.join(others[:3])})"
        )
    for weight in weights:
        weight.variable.assign(weight.from_file(given[weight.name]))


def weights_of_encoder(layer: BackboneEncoder) -> dict[str, np.ndarray]:
    """Returns the weights of an encoder by their names in Hugging Face's files."""
    family, prefix = layer.family, f"{FAMILIES[layer.family].prefix}."
    arrays = {w.name: w.to_file() for w in _weights_of(layer)}
    if family in OF_ROBERTA:
        rows = arrays["embeddings.position_embeddings.weight"]
        reserved = np.zeros((2, rows.shape[1]), rows.dtype)
        arrays["embeddings.position_embeddings.weight"] = np.concatenate([reserved, rows])
        if family != "mpnet":
            arrays["embeddings.token_type_embeddings.weight"] = reserved[:1]
    return {prefix + name: array for name, array in arrays.items()}


def _weights_of(layer: BackboneEncoder) -> list[Weight]:
    weights = encoder_weights(layer.backbone, layer.family)
    if layer.distance_weights is not None:
        weights.append(Weight("encoder.relative_attention_bias.weight", layer.distance_weights))
    return weights


def _modern(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Renames the parameters of layer normalizations in files of the first releases."""
    return {
        f"{name.rpartition('.')[0]}.{_NORM[name.rpartition('.')[2]]}"
        if name.endswith(("LayerNorm.gamma", "LayerNorm.beta"))
        else name: array
        for name, array in arrays.items()
    }


def _without_segments(arrays: dict[str, np.ndarray], family: str) -> dict[str, np.ndarray]:
    """Adds the one segment of RoBERTa to its positions, without the reserved ones.

    MPNet has no segments.
    """
    segments, positions = (
        f"embeddings.{name}_embeddings.weight" for name in ("token_type", "position")
    )
    needed = {positions} if family == "mpnet" else {segments, positions}
    if family not in OF_ROBERTA or not needed <= arrays.keys():
        return arrays
    arrays = dict(arrays)
    segment = 0.0 if family == "mpnet" else arrays.pop(segments)[0]
    arrays[positions] = arrays[positions][2:] + segment
    return arrays

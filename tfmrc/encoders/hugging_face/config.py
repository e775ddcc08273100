"""Sizes of encoders in `config.json` of Hugging Face, to and from KerasHub's arguments."""

import re
from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

from tfmrc.encoders.backbone import BackboneEncoder
from tfmrc.encoders.hugging_face.families import FAMILIES, OF_ROBERTA

_TRANSFORMER = {
    "vocabulary_size": "vocab_size", "num_layers": "num_hidden_layers",
    "num_heads": "num_attention_heads", "hidden_dim": "hidden_size",
    "intermediate_dim": "intermediate_size", "dropout": "hidden_dropout_prob",
    "max_sequence_length": "max_position_embeddings",
}  # fmt: skip
_SEGMENTS = {"num_segments": "type_vocab_size"}
_SIZES = {
    "bert": _TRANSFORMER | _SEGMENTS,
    "electra": {
        ours.replace("vocabulary", "vocab"): theirs for ours, theirs in _TRANSFORMER.items()
    } | {"embedding_dim": "embedding_size"} | _SEGMENTS,
    "distil_bert": {
        "vocabulary_size": "vocab_size", "num_layers": "n_layers", "num_heads": "n_heads",
        "hidden_dim": "dim", "intermediate_dim": "hidden_dim", "dropout": "dropout",
        "max_sequence_length": "max_position_embeddings",
    },
    "roberta": _TRANSFORMER,
    "xlm_roberta": _TRANSFORMER,
    "camembert": _TRANSFORMER,
    "mpnet": _TRANSFORMER,
    "albert": _TRANSFORMER | _SEGMENTS | {
        "embedding_dim": "embedding_size", "num_groups": "num_hidden_groups",
        "num_inner_repetitions": "inner_group_num",
    },
    "deberta_v3": _TRANSFORMER | {"bucket_size": "position_buckets"},
    "mobile_bert": _TRANSFORMER | _SEGMENTS | {
        "bottleneck_dim": "intra_bottleneck_size", "embedding_dim": "embedding_size",
        "num_feedforward": "num_feedforward_networks",
    },
    "modern_bert": _TRANSFORMER | {
        "dropout": "mlp_dropout", "global_every": "global_attn_every_n_layers",
        "local_attention": "local_attention", "global_base": "global_rope_theta",
        "local_base": "local_rope_theta", "norm_bias": "norm_bias",
    },
}  # fmt: skip
# What files may leave out, because transformers has these defaults.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "": {
        "hidden_dropout_prob": 0.1, "dropout": 0.1, "max_position_embeddings": 512,
        "type_vocab_size": 2, "num_hidden_groups": 1, "inner_group_num": 1, "embedding_size": 128,
        "hidden_act": "gelu", "layer_norm_eps": 1e-12,
    },
    "albert": {"hidden_dropout_prob": 0.0, "hidden_act": "gelu_new"},
    "deberta_v3": {"layer_norm_eps": 1e-7},
    "mobile_bert": {
        "hidden_dropout_prob": 0.0, "hidden_act": "relu", "intra_bottleneck_size": 128,
        "num_feedforward_networks": 4,
    },
    "modern_bert": {
        "max_position_embeddings": 8192, "mlp_dropout": 0.0, "local_attention": 128,
        "norm_bias": False, "norm_eps": 1e-5, "hidden_activation": "gelu",
    },
}  # fmt: skip
# Values that the arithmetic here has; a config that lacks the name has this value by default.
_REQUIRED: dict[str, dict[str, Any]] = {
    "": {"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False},
    "mpnet": {"relative_attention_num_buckets": 32},
    "mobile_bert": {
        "trigram_input": True, "use_bottleneck": True, "use_bottleneck_attention": False,
        "key_query_shared_bottleneck": True, "normalization_type": "no_norm",
    },
    "deberta_v3": {
        "relative_attention": True, "position_biased_input": False, "share_att_key": True,
        "norm_rel_ebd": "layer_norm", "pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0,
        "conv_kernel_size": 0,
    },
    "modern_bert": {
        "attention_bias": False, "mlp_bias": False, "classifier_bias": False,
        "classifier_activation": "gelu",
    },
}  # fmt: skip
# Those that transformers has other defaults of.
_STATED = {
    "deberta_v3": (
        "relative_attention", "position_biased_input", "share_att_key", "norm_rel_ebd",
        "pos_att_type",
    )
}  # fmt: skip
# Names of values that not all families have.
_ACTIVATION = {"distil_bert": "activation", "modern_bert": "hidden_activation"}
_EPSILON = {"modern_bert": "norm_eps"}
_RESERVED_POSITIONS = 2  # rows of RoBERTa's positions before the first one: padding_idx + 1


class EncoderConfig(NamedTuple):
    """An encoder's description in `config.json`.

    Attributes:
        family: str. A key of `FAMILIES`.
        sizes: dict. Arguments of KerasHub's backbone.
        activation: str. Name of the activation.
        epsilon: float. Epsilon of the layer normalizations.
    """

    family: str
    sizes: dict[str, Any]
    activation: str
    epsilon: float


def is_transformers(config: Mapping[str, Any]) -> bool:
    """Returns True for the content of a `config.json` that transformers wrote."""
    return "model_type" in config or "architectures" in config


def family_of_config(config: Mapping[str, Any]) -> str:
    """Returns the family that `model_type` names, or in old files `architectures`.

    Raises:
        ValueError: If the family is unknown.

    Example:
        >>> from tfmrc.encoders.hugging_face.config import family_of_config
        >>> family_of_config({"model_type": "deberta-v2"})
        'deberta_v3'
    """
    by_type = {facts.model_type: name for name, facts in FAMILIES.items()}
    known = by_type | {facts.transformers: name for name, facts in FAMILIES.items()}
    classes = config.get("architectures") or [""]
    kind = config.get("model_type") or re.split("For|Model", classes[0])[0]
    if kind not in known:
        raise ValueError(
            f"`model_type` must be one of {sorted(by_type)}. Received: model_type={kind!r}"
        )
    return known[kind]


def encoder_config(
    config: Mapping[str, Any], path: str | PathLike[str] = "config.json"
) -> EncoderConfig:
    """Returns the sizes of an encoder.

    Args:
        config: dict. The content of `config.json`.
        path: str or path. The file, for errors. Default: "config.json".

    Raises:
        ValueError: If the file lacks a size, or describes an encoder with other arithmetic.
    """
    family = family_of_config(config)
    if family == "modern_bert":
        required, config = _REQUIRED[family], _with_rotary_bases(config)
    else:
        required = {**_REQUIRED[""], **_REQUIRED.get(family, {})}
    for name, value in required.items():
        received = config.get(name, None if name in _STATED.get(family, ()) else value)
        if name == "pos_att_type" and received:
            received = sorted(received, reverse=True)
        if received != value:
            raise ValueError(
                f"Only encoders with {name}={value!r} are supported. "
                f"Received: {name}={config.get(name)!r}"
            )
    stated = {**_DEFAULTS[""], **_DEFAULTS.get(family, {}), **config}
    missing = [theirs for theirs in _SIZES[family].values() if theirs not in stated]
    if missing:
        raise ValueError(f"{path} must state `{missing[0]}`. Received: {', '.join(config)}")
    sizes = {ours: stated[theirs] for ours, theirs in _SIZES[family].items()}
    if family in OF_ROBERTA:
        if config.get("pad_token_id", 1) != _RESERVED_POSITIONS - 1:
            raise ValueError(
                "The padding of RoBERTa must have the id 1, because its positions are counted "
                f"from there. Received: pad_token_id={config['pad_token_id']!r}"
            )
        sizes["max_sequence_length"] -= _RESERVED_POSITIONS
    activation = stated.get(_ACTIVATION.get(family, "hidden_act")) or stated["hidden_act"]
    epsilon = float(stated[_EPSILON.get(family, "layer_norm_eps")])
    return EncoderConfig(family, sizes, activation, epsilon)


def _with_rotary_bases(config: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a description of ModernBERT by the names of transformers 4, from those of 5 too."""
    rotary = config.get("rope_parameters") or {}
    bases = {"global": (160_000.0, "full_attention"), "local": (10_000.0, "sliding_attention")}
    result = {"global_attn_every_n_layers": 3, **config}
    for name, (default, kind) in bases.items():
        parameters = {"rope_type": "default", **(rotary.get(kind) or {})}
        if parameters["rope_type"] != "default" or config.get("rope_scaling"):
            raise ValueError(f"Rotary positions must not be scaled. Received: {dict(config)}")
        stated = config.get(f"{name}_rope_theta") or default
        result[f"{name}_rope_theta"] = float(parameters.get("rope_theta", stated))
    types = config.get("layer_types") or []
    if types:
        others = [number for number, kind in enumerate(types) if kind == "full_attention"][1:]
        every = others[0] if others else len(types)
        expected = [
            "sliding_attention" if number % every else "full_attention"
            for number in range(len(types))
        ]
        if types != expected:
            raise ValueError(
                "Every n-th layer, from the first on, must attend to all subwords. "
                f"Received: layer_types={types}"
            )
        result["global_attn_every_n_layers"] = every
    return result


def config_of_encoder(layer: BackboneEncoder) -> dict[str, Any]:
    """Returns the entries of `config.json` that describe an encoder.

    Args:
        layer: `tfmrc.encoders.BackboneEncoder`.
    """
    settings = layer.get_config()
    family, sizes = settings["family"], settings["backbone"]
    config = {"model_type": FAMILIES[family].model_type, "pad_token_id": layer.pad_id}
    config |= {theirs: sizes[ours] for ours, theirs in _SIZES[family].items()}
    dropout = sizes["dropout"]
    activation = layer.activation or _DEFAULT_ACTIVATION.get(family, "gelu")
    config[_ACTIVATION.get(family, "hidden_act")] = activation
    if family == "distil_bert":
        config["attention_dropout"] = dropout
    elif family == "modern_bert":
        config["embedding_dropout"] = dropout
        config |= {"cls_token_id": None, "bos_token_id": None, "eos_token_id": None}
    else:
        config["attention_probs_dropout_prob"] = dropout
    if family != "distil_bert":
        name = _EPSILON.get(family, "layer_norm_eps")
        config[name] = layer.epsilon or _DEFAULT_EPSILON.get(family, 1e-12)
    if family in OF_ROBERTA:
        config["max_position_embeddings"] += _RESERVED_POSITIONS
        config["type_vocab_size"] = 1
    if family == "deberta_v3":
        config |= {name: _REQUIRED[family][name] for name in _STATED[family]}
        config |= {"type_vocab_size": 0, "max_relative_positions": -1}
    return config


# KerasHub's, where an encoder states none.
_DEFAULT_ACTIVATION = {
    **dict.fromkeys(("bert", "electra", "albert"), "gelu_new"), "mobile_bert": "relu",
}  # fmt: skip
_DEFAULT_EPSILON = {
    **dict.fromkeys(OF_ROBERTA, 1e-5), "deberta_v3": 1e-7, "modern_bert": 1e-5,
}  # fmt: skip

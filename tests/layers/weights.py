"""A layer's weights by name, in the shape that `tests.reference` takes them."""

import keras
import numpy as np

from tests.reference.basic import Array

Values = dict[str, Array]
EPSILON = 1e-5  # of every layer normalisation


def named(layer: keras.Layer | keras.Model, strip: bool = True) -> dict[str, keras.Variable]:
    """Path (without the layer's own name) to variable, for all weights."""
    return {v.path.split("/", 1)[1] if strip else v.path: v for v in layer.weights}


def values(layer: keras.Layer | keras.Model, strip: bool = True) -> Values:
    """Path to float64 array."""
    return {
        path: keras.ops.convert_to_numpy(v).astype(np.float64)
        for path, v in named(layer, strip).items()
    }


def randomise(layer: keras.Layer | keras.Model, seed: int = 1, scale: float = 0.5) -> None:
    """Large random weights, biases and normalisations included, so that no term goes unseen."""
    random = np.random.default_rng(seed)
    for variable in layer.weights:
        if variable.dtype != "float32":
            continue  # the state of a seed
        value = scale * random.normal(size=variable.shape)
        if variable.path.endswith("gamma"):
            value += 1.0
        variable.assign(value.astype("float32"))


def attention(v: Values, prefix: str) -> Values:
    return {
        f"{name}_{part}": v[f"{prefix}/{name}/{part}"]
        for name in ("query", "key", "value", "output")
        for part in ("kernel", "bias")
    }


def feed_forward(v: Values, prefix: str) -> Values:
    return {
        f"{name}_{part}": v[f"{prefix}/{name}/{part}"]
        for name in ("inner", "outer")
        for part in ("kernel", "bias")
    }


def norm(v: Values, prefix: str) -> Values:
    return {part: v[f"{prefix}/normalization/{part}"] for part in ("gamma", "beta")}


def below(v: Values, prefix: str) -> Values:
    """The weights whose path begins with `prefix/`, without it."""
    return {path[len(prefix) + 1 :]: a for path, a in v.items() if path.startswith(f"{prefix}/")}


def encoder_block(v: Values) -> dict[str, Values]:
    return {
        "self_attention": attention(v, "attention"),
        "self_attention_norm": norm(v, "attention_residual"),
        "feed_forward": feed_forward(v, "feed_forward"),
        "feed_forward_norm": norm(v, "second_residual"),
    }


def decoder_block(v: Values) -> dict[str, Values]:
    return {
        "self_attention": attention(v, "past"),
        "self_attention_norm": norm(v, "past_residual"),
        "question_attention": attention(v, "memory_attention_0"),
        "question_attention_norm": norm(v, "memory_residual_0"),
        "passage_attention": attention(v, "memory_attention_1"),
        "passage_attention_norm": norm(v, "memory_residual_1"),
        "feed_forward": feed_forward(v, "feed_forward"),
        "feed_forward_norm": norm(v, "feed_forward_residual"),
    }


def highway(v: Values, num_layers: int = 2) -> list[Values]:
    return [
        {
            f"{name}_{part}": v[f"{name}_{i}/{part}"]
            for name in ("transform", "gate")
            for part in ("kernel", "bias")
        }
        for i in range(num_layers)
    ]


def additive(v: Values) -> Values:
    return {
        "memory_kernel": v["memory/kernel"],
        "state_kernel": v["query/kernel"],
        "bias": v["memory/bias"],
        "score": v["score"],
    }


def linear(v: Values, prefix: str) -> Values:
    return {"kernel": v[f"{prefix}/kernel"], "bias": v[f"{prefix}/bias"]}

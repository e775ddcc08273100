"""Linear maps, layer normalisation, GELU, sigmoid and softmax under a mask."""

import math

import numpy as np

Array = np.ndarray


def linear(x: Array, kernel: Array, bias: Array | None = None) -> Array:
    """`x W + b` on the last axis."""
    result = np.asarray(x, np.float64) @ np.asarray(kernel, np.float64)
    return result if bias is None else result + np.asarray(bias, np.float64)


def gelu(x: Array) -> Array:
    """`x Phi(x)` with the normal distribution's own function, not its tanh approximation."""
    x = np.asarray(x, np.float64)
    return x * 0.5 * (1.0 + np.vectorize(math.erf, otypes=[np.float64])(x / math.sqrt(2.0)))


def sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`, without overflow on either side."""
    x = np.asarray(x, np.float64)
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def layer_norm(x: Array, gamma: Array, beta: Array, epsilon: float) -> Array:
    """Each vector less its mean, over its deviation, scaled and shifted."""
    x = np.asarray(x, np.float64)
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def softmax(scores: Array, mask: Array | None = None) -> Array:
    """Softmax over the last axis among the places where `mask` holds; zeros where none does."""
    scores = np.asarray(scores, np.float64)
    mask = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    result = np.zeros(scores.shape)
    for place in np.ndindex(scores.shape[:-1]):
        real = mask[place]
        if real.any():
            kept = scores[place][real]
            powers = np.exp(kept - kept.max())
            result[place][real] = powers / powers.sum()
    return result


def residual(inner: Array, x: Array, gamma: Array, beta: Array, epsilon: float) -> Array:
    """masque-01: `LN(f(x) + x)`, where `inner` is `f(x)`."""
    return layer_norm(np.asarray(inner, np.float64) + x, gamma, beta, epsilon)


def highway(x: Array, layers: list[dict[str, Array]]) -> Array:
    """Srivastava's `H(x) T(x) + x (1 - T(x))`, with `H` a rectified and `T` a sigmoid layer.

    Each layer is a dictionary of `transform_kernel, transform_bias, gate_kernel, gate_bias`.
    """
    x = np.asarray(x, np.float64)
    for layer in layers:
        transformed = np.maximum(linear(x, layer["transform_kernel"], layer["transform_bias"]), 0.0)
        gate = sigmoid(linear(x, layer["gate_kernel"], layer["gate_bias"]))
        x = transformed * gate + x * (1.0 - gate)
    return x


def positions(
    x: Array, gamma: Array, beta: Array, scale: Array, epsilon: float, base: float = 10000.0
) -> Array:
    """`LN(x) + scale * wave` for words `x` [N, d] in order: what stands in for ELMo's order.

    The wave of Vaswani et al., the sines of all frequencies before the cosines.
    """
    half = x.shape[-1] // 2
    wave = np.zeros(x.shape)
    for n in range(len(x)):
        for i in range(half):
            angle = n / base ** (i / half)
            wave[n, i], wave[n, half + i] = math.sin(angle), math.cos(angle)
    return layer_norm(x, gamma, beta, epsilon) + np.asarray(scale, np.float64) * wave

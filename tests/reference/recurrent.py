"""Recurrent networks word by word, in float64."""

import numpy as np

from tests.reference.basic import Array


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def lstm(
    x: Array, kernel: Array, recurrent: Array, bias: Array, hidden: Array, cell: Array
) -> tuple[Array, Array]:
    """All hidden and cell states `[n + 1, u]`, the first ones included; gates in Keras' order."""
    hiddens, cells = [hidden], [cell]
    for word in x:
        i, f, g, o = np.split(word @ kernel + hidden @ recurrent + bias, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        hiddens.append(hidden)
        cells.append(cell)
    return np.stack(hiddens), np.stack(cells)


def cove(values: dict[str, Array], x: Array) -> list[Array]:
    """All layers of CoVe for one sentence `[n, d]` in float64."""
    zeros, layers = np.zeros(values["weight_hh_l0"].shape[1]), []
    for layer in (0, 1):
        outputs = []
        for direction in ("", "_reverse"):
            w = {k: np.float64(values[f"{k}_l{layer}{direction}"]) for k in (
                "weight_ih", "weight_hh", "bias_ih", "bias_hh"
            )}  # fmt: skip
            bias = w["bias_ih"] + w["bias_hh"]
            words = x[::-1] if direction else x
            hidden, _ = lstm(words, w["weight_ih"].T, w["weight_hh"].T, bias, zeros, zeros)
            outputs.append(hidden[:0:-1] if direction else hidden[1:])
        x = np.concatenate(outputs, axis=1)
        layers.append(x)
    return layers

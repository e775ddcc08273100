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

"""ELMo sentence by sentence, in float64, from the authors' files."""

import json

import h5py
import numpy as np

from tests.reference.basic import Array
from tests.reference.recurrent import sigmoid


def character_ids(word: str) -> list[int]:
    """The authors' numbers plus 1."""
    encoded = list(word.encode("utf-8"))[:48]
    ids = [258, *encoded, 259]
    return [number + 1 for number in ids + [260] * (50 - len(ids))]


BEGIN = [259, 257, 260] + [261] * 47
END = [259, 258, 260] + [261] * 47


class Reference:
    """Reads `options.json` and `weights.hdf5`; `states` are carried by the caller."""

    def __init__(self, folder):
        self.options = json.loads((folder / "options.json").read_text())
        self.weights: dict[str, Array] = {}
        with h5py.File(folder / "weights.hdf5") as file:
            file.visititems(lambda name, x: self._add(name, x))

    def _add(self, name, x):
        if isinstance(x, h5py.Dataset):
            self.weights[name] = np.asarray(x[...], np.float64)

    def word(self, ids: list[int]) -> Array:
        cnn, w = self.options["char_cnn"], self.weights
        table = np.concatenate([np.zeros((1, cnn["embedding"]["dim"])), w["char_embed"]])
        rows = table[ids]
        found = []
        for number, (width, _) in enumerate(cnn["filters"]):
            kernel = w[f"CNN/W_cnn_{number}"][0]
            windows = np.stack([rows[t : t + width] for t in range(len(rows) - width + 1)])
            y = np.einsum("twd,wdn->tn", windows, kernel).max(0) + w[f"CNN/b_cnn_{number}"]
            found.append(np.tanh(y) if cnn["activation"] == "tanh" else np.maximum(y, 0))
        x = np.concatenate(found)
        for number in range(cnn.get("n_highway") or 0):
            high = {k: w[f"CNN_high_{number}/{k}"] for k in ("W_carry", "b_carry")}
            gate = sigmoid(x @ high["W_carry"] + high["b_carry"])
            new = x @ w[f"CNN_high_{number}/W_transform"] + w[f"CNN_high_{number}/b_transform"]
            x = gate * np.maximum(new, 0) + (1 - gate) * x
        if "CNN_proj/W_proj" in w:
            x = x @ w["CNN_proj/W_proj"] + w["CNN_proj/b_proj"]
        return x

    def direction(self, number: int, x: Array, states=None) -> tuple[list[Array], list]:
        """Outputs of each layer in the order of `x`, and `(cell, hidden)` at the end."""
        options, outputs, ends = self.options["lstm"], [], []
        for layer in range(options["n_layers"]):
            name = f"RNN_{number}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            kernel, bias = self.weights[f"{name}/W_0"], self.weights[f"{name}/B"]
            units = bias.size // 4
            project = self.weights.get(f"{name}/W_P_0")
            cell = np.zeros(units)
            hidden = np.zeros(options["projection_dim"])
            if states is not None:
                cell, hidden = states[layer]
            ys = []
            for word in x:
                i, j, f, o = np.split(np.concatenate([word, hidden]) @ kernel + bias, 4)
                cell = sigmoid(f + 1.0) * cell + sigmoid(i) * np.tanh(j)
                if options.get("cell_clip"):
                    cell = np.clip(cell, -options["cell_clip"], options["cell_clip"])
                hidden = sigmoid(o) * np.tanh(cell)
                if project is not None:
                    hidden = hidden @ project
                    if options.get("proj_clip"):
                        hidden = np.clip(hidden, -options["proj_clip"], options["proj_clip"])
                residual = options["use_skip_connections"] and layer > 0
                ys.append(hidden + word if residual else hidden)
            x = np.stack(ys)
            outputs.append(x)
            ends.append((cell, hidden))
        return outputs, ends

    def layers(self, words: list[str], states=None) -> tuple[Array, list]:
        """All layers `[L + 1, n, 2 p]` of a sentence, and the states of both directions."""
        x = np.stack([self.word(i) for i in [BEGIN, *map(character_ids, words), END]])
        states = states or [None, None]
        forward, first = self.direction(0, x, states[0])
        backward, second = self.direction(1, x[::-1], states[1])
        layers = [np.concatenate([x, x], axis=1)]
        layers += [
            np.concatenate([a, b[::-1]], axis=1) for a, b in zip(forward, backward, strict=True)
        ]
        return np.stack(layers)[:, 1:-1], [first, second]

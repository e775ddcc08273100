"""Tiny ELMo models in the authors' format."""

import json

import h5py
import numpy as np

OPTIONS = {
    "lstm": {
        "cell_clip": 0.5,
        "proj_clip": 0.3,
        "use_skip_connections": True,
        "n_layers": 2,
        "projection_dim": 3,
        "dim": 5,
    },
    "char_cnn": {
        "embedding": {"dim": 4},
        "filters": [[1, 3], [2, 4], [4, 2]],
        "n_highway": 2,
        "n_characters": 262,
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}


def changed(lstm=None, cnn=None):
    """Other options."""
    return {"lstm": OPTIONS["lstm"] | (lstm or {}), "char_cnn": OPTIONS["char_cnn"] | (cnn or {})}


def write(folder, options=OPTIONS, seed=0):
    """Writes `options.json` and `weights.hdf5` with random weights; returns both paths."""
    random = np.random.default_rng(seed)
    lstm, cnn = options["lstm"], options["char_cnn"]
    dim, units = lstm["projection_dim"], lstm["dim"]
    width = sum(number for _, number in cnn["filters"])
    shapes = {"char_embed": (261, cnn["embedding"]["dim"])}
    for i, (size, number) in enumerate(cnn["filters"]):
        shapes[f"CNN/W_cnn_{i}"] = (1, size, cnn["embedding"]["dim"], number)
        shapes[f"CNN/b_cnn_{i}"] = (number,)
    for i in range(cnn.get("n_highway") or 0):
        for part in ("carry", "transform"):
            shapes[f"CNN_high_{i}/W_{part}"] = (width, width)
            shapes[f"CNN_high_{i}/b_{part}"] = (width,)
    if dim != width:
        shapes |= {"CNN_proj/W_proj": (width, dim), "CNN_proj/b_proj": (dim,)}
    for direction in (0, 1):
        for layer in range(lstm["n_layers"]):
            name = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{name}/W_0": (2 * dim, 4 * units), f"{name}/B": (4 * units,)}
            if dim < units:
                shapes[f"{name}/W_P_0"] = (units, dim)
    paths = folder / "options.json", folder / "weights.hdf5"
    paths[0].write_text(json.dumps(options))
    with h5py.File(paths[1], "w") as file:
        for name, shape in shapes.items():
            scale = 0.7 if name.startswith("RNN") else 0.3  # so that the limits are reached
            file[name] = random.normal(0, scale, shape).astype("float32")
    return paths

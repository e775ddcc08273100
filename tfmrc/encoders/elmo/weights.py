"""Loader of ELMo from its authors' files."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfmrc.encoders.elmo.elmo import ELMo

FORGET_BIAS = 1.0  # TensorFlow 1 adds it to the forget gate, in addition to the bias


def load_elmo(
    options: str | os.PathLike[str], weights: str | os.PathLike[str], **arguments: Any
) -> ELMo:
    """Loads ELMo from the authors' files, without running code from the files.

    Args:
        options: str or path. The file `options.json`.
        weights: str or path. The file `weights.hdf5`.
        **arguments: Further arguments of `ELMo`, such as `encoder_trainable`, `name` or `dtype`.

    Returns:
        The layer, with the weights of the files.

    Example:
        >>> from tfmrc.encoders import load_elmo
        >>> elmo = load_elmo(
        ...     "elmo_2x4096_512_2048cnn_2xhighway_options.json",
        ...     "elmo_2x4096_512_2048cnn_2xhighway_weights.hdf5",
        ... )  # doctest: +SKIP

    Reference: Peters et al. 2018; github.com/allenai/bilm-tf.
    """
    import h5py

    layer = ELMo(**{**_sizes(Path(options)), **arguments})
    with h5py.File(weights, "r") as file:
        _assign(layer, file)
    return layer


def _sizes(path: Path) -> dict[str, Any]:
    options = json.loads(path.read_text(encoding="utf-8"))
    lstm, cnn = options["lstm"], options["char_cnn"]
    # Files for training state 261 characters, files for inference 262, including the mask.
    return {
        "filters": cnn["filters"],
        "projection_dim": lstm["projection_dim"],
        "lstm_dim": lstm["dim"],
        "num_lstm_layers": lstm["n_layers"],
        "character_dim": cnn["embedding"]["dim"],
        "num_highways": cnn.get("n_highway") or 0,
        "activation": cnn["activation"],
        "cell_clip": lstm.get("cell_clip"),
        "proj_clip": lstm.get("proj_clip"),
        "use_skip_connections": bool(lstm.get("use_skip_connections")),
    }


def _assign(layer: ELMo, file: Mapping[str, Any]) -> None:
    def read(name: str) -> np.ndarray:
        return np.asarray(file[name], np.float32)

    def put(variable: keras.Variable, name: str) -> None:
        variable.assign(read(name))

    words = layer.words
    put(words.characters, "char_embed")
    for number, (kernel, bias) in enumerate(zip(words.kernels, words.biases, strict=True)):
        kernel.assign(read(f"CNN/W_cnn_{number}")[0])
        put(bias, f"CNN/b_cnn_{number}")
    for number, highway in enumerate(words.highways):
        # The authors' "carry" is the gate of the transformed part.
        put(highway["gate_kernel"], f"CNN_high_{number}/W_carry")
        put(highway["gate_bias"], f"CNN_high_{number}/b_carry")
        put(highway["transform_kernel"], f"CNN_high_{number}/W_transform")
        put(highway["transform_bias"], f"CNN_high_{number}/b_transform")
    if words.projection is not None:
        put(words.projection, "CNN_proj/W_proj")
        put(words.projection_bias, "CNN_proj/b_proj")
    for direction, lstms in enumerate(layer.directions):
        for number, lstm in enumerate(lstms):
            name = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
            both = _gates(read(f"{name}/W_0"))
            split = len(both) - lstm.recurrent_kernel.shape[0]
            lstm.kernel.assign(both[:split])
            lstm.recurrent_kernel.assign(both[split:])
            bias = _gates(read(f"{name}/B"))
            bias[len(bias) // 4 : len(bias) // 2] += FORGET_BIAS
            lstm.bias.assign(bias)
            if lstm.projection is not None:
                put(lstm.projection, f"{name}/W_P_0")


def _gates(value: np.ndarray) -> np.ndarray:
    """Reorders gates from TensorFlow 1 (input, candidate, forget, output) to Keras' order."""
    i, g, f, o = np.split(value, 4, axis=-1)
    return np.concatenate([i, f, g, o], axis=-1)

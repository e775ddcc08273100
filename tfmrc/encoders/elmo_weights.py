"""Loader of ELMo from its authors' files."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.encoders.elmo import ELMo

FORGET_BIAS = 1.0  # TensorFlow 1 adds it to the forget gate, in addition to the bias

__all__ = ["load_elmo"]


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

    Raises:
        ValueError: A file has a wrong format, or a weight is missing, has a wrong shape or is not
            finite. The message names the file and the weight.
        FileNotFoundError: A file is missing.

    Example:
        >>> from tfmrc.encoders import load_elmo
        >>> elmo = load_elmo(
        ...     "elmo_2x4096_512_2048cnn_2xhighway_options.json",
        ...     "elmo_2x4096_512_2048cnn_2xhighway_weights.hdf5",
        ... )  # doctest: +SKIP

    Reference: Peters et al. 2018; github.com/allenai/bilm-tf.
    """
    options, weights = Path(options), Path(weights)
    for path in (options, weights):
        if not path.is_file():
            raise FileNotFoundError(
                f"ELMo needs two files, options and weights. Received: {path}, which does not exist"
            )
    layer = ELMo(**{**_sizes(options), **arguments})
    import h5py

    try:
        file = h5py.File(weights, "r")
    except OSError as error:
        raise ValueError(f"{weights} is not an HDF5 file, or is truncated: {error}") from error
    with file:
        _assign(layer, file, weights)
    return layer


def _sizes(path: Path) -> dict[str, Any]:
    try:
        options = json.loads(path.read_text(encoding="utf-8"))
        lstm, cnn = options["lstm"], options["char_cnn"]
        # Files for training state 261 characters, files for inference 262, including the mask.
        return {
            "filters": [[int(width), int(number)] for width, number in cnn["filters"]],
            "projection_dim": int(lstm["projection_dim"]),
            "lstm_dim": int(lstm["dim"]),
            "num_lstm_layers": int(lstm["n_layers"]),
            "character_dim": int(cnn["embedding"]["dim"]),
            "num_highways": int(cnn.get("n_highway") or 0),
            "activation": cnn["activation"],
            "cell_clip": lstm.get("cell_clip"),
            "proj_clip": lstm.get("proj_clip"),
            "use_skip_connections": bool(lstm.get("use_skip_connections")),
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} does not contain the options of an ELMo model over characters: "
            f"{type(error).__name__}: {error}"
        ) from error


def _assign(layer: ELMo, file: Any, path: Path) -> None:
    def read(name: str) -> np.ndarray:
        result = file.get(name)
        if result is None or not hasattr(result, "dtype"):
            raise ValueError(f"{path} lacks the weight {name}.")
        try:
            value = np.asarray(result[...], np.float32)
        except (OSError, ValueError, TypeError) as error:
            raise ValueError(f"{path}, {name}: damaged: {error}") from error
        if not np.isfinite(value).all():
            raise ValueError(f"{path}, {name}: numbers must be finite.")
        return value

    def put(variable: Any, name: str, value: np.ndarray | None = None) -> None:
        value = read(name) if value is None else value
        if tuple(variable.shape) != value.shape:
            raise ValueError(
                f"{path}, {name}: expected the shape {tuple(variable.shape)} of the options. "
                f"Received: shape={value.shape}"
            )
        variable.assign(value)

    words = layer.words
    put(words.characters, "char_embed")
    for number, (kernel, bias) in enumerate(zip(words.kernels, words.biases, strict=True)):
        name = f"CNN/W_cnn_{number}"
        value = read(name)
        put(kernel, name, value[0] if value.ndim == 4 and len(value) == 1 else value)
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
            put(lstm.kernel, f"{name}/W_0", both[:split])
            put(lstm.recurrent_kernel, f"{name}/W_0", both[split:])
            bias = _gates(read(f"{name}/B"))
            bias[len(bias) // 4 : len(bias) // 2] += FORGET_BIAS
            put(lstm.bias, f"{name}/B", bias)
            if lstm.projection is not None:
                put(lstm.projection, f"{name}/W_P_0")


def _gates(value: np.ndarray) -> np.ndarray:
    """Reorders gates from TensorFlow 1 (input, candidate, forget, output) to Keras' order."""
    if value.shape[-1] % 4:
        return value
    i, g, f, o = np.split(value, 4, axis=-1)
    return np.concatenate([i, f, g, o], axis=-1)

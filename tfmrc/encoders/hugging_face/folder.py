"""Encoders from folders in Hugging Face's form."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc.encoders.backbone import BackboneEncoder
from tfmrc.encoders.hugging_face.config import encoder_config
from tfmrc.encoders.hugging_face.tokenizer import read_optional_json
from tfmrc.encoders.hugging_face.weights import assign_weights
from tfmrc.encoders.torch_state_dict import read_state_dict

INDEX = "model.safetensors.index.json"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
SCALE = ".scale"  # of a matrix in int8, a factor for each row


def read_weights(folder: Path) -> dict[str, np.ndarray]:
    """Reads all tensors of a folder; no code of a pickle is run.

    The tensors are those of `model.safetensors`, of the files that `model.safetensors.index.json`
    lists, or of `pytorch_model.bin`, which `tfmrc.encoders.read_state_dict` reads. A matrix
    `[m, n]` with a tensor `NAME.scale` `[m, 1]` beside it is returned as their product.

    Raises:
        FileNotFoundError: If none of these files exists.
        ValueError: If a file is damaged, or would run code.
    """
    index = read_optional_json(folder / INDEX)
    if index:
        names = sorted({str(name) for name in (index.get("weight_map") or {}).values()})
        outside = [name for name in names if Path(name).name != name]
        if outside:
            raise ValueError(f"{folder / INDEX} must name files beside it. Received: {outside[0]}")
        tensors: dict[str, np.ndarray] = {}
        for name in names:
            tensors |= read_state_dict(folder / name)
        return tensors
    name = next((name for name in WEIGHTS if (folder / name).is_file()), WEIGHTS[0])
    return scaled(read_state_dict(folder / name))


def scaled(tensors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns tensors in which each `NAME` with a tensor `NAME.scale` is their product."""
    return {
        name: tensor * tensors[name + SCALE] if name + SCALE in tensors else tensor
        for name, tensor in tensors.items()
        if not name.endswith(SCALE)
    }


def load_layer(
    folder: Path,
    config: Mapping[str, Any],
    pad_id: int,
    weights: Mapping[str, np.ndarray] | None = None,
    **options: Any,
) -> BackboneEncoder:
    """Builds the layer of an encoder and assigns its weights.

    Args:
        folder: path. The folder, for errors.
        config: dict. The content of `config.json`.
        pad_id: int. Id of padding.
        weights: dict. Tensors by name; None to keep random weights. Default: None.
        **options: Arguments of `BackboneEncoder`.

    Raises:
        ValueError: If the encoder is not supported, or the weights do not fit.
    """
    known = encoder_config(config, folder / "config.json")
    stated = {"activation": known.activation, "epsilon": known.epsilon}
    layer = BackboneEncoder(known.family, known.sizes, pad_id=pad_id, **{**stated, **options})
    if weights is not None:
        assign_weights(layer, weights)
    return layer

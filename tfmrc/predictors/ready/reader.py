"""The ready reader: an extractive reader of English that comes with tfmrc.

tfmrc ships the difference between its weights and those of MiniLM, which `tfmrc.encoders` ships: of
each matrix a product of two narrow ones, of each vector the whole.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfmrc.utils.files import read_json, sha256_of

if TYPE_CHECKING:
    from tfmrc.predictors import ExtractiveReaderPredictor

READY = "ready"
FILES = Path(__file__).with_name("files")
DIFFERENCE, CARD = "difference.safetensors", "card.json"
LEFT, RIGHT = ":left", ":right"
CANDIDATES = 20  # spans of the export, of which those that overlap are left out for documents


def ready_folder() -> Path:
    """Returns the ready reader as the folder of a saved predictor, which the first call writes.

    It is in `tfmrc` of the user's cache folder (XDG_CACHE_HOME, by default `~/.cache`).

    Raises:
        OSError: If the folder cannot be written.
    """
    from filelock import FileLock

    import tfmrc
    from tfmrc.storage.parts import is_saved_predictor

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tfmrc")
    folder = cache / f"{tfmrc.__version__}-{sha256_of(FILES / DIFFERENCE)[:12]}" / READY
    if not is_saved_predictor(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(".making.lock")):
            if not is_saved_predictor(folder):
                load_ready().save(folder)
    return folder


def ready_exports() -> Path:
    """Returns a folder with the export `ready/1` of the ready reader, which the first call writes.

    Raises: as `ready_folder`.
    """
    from tfmrc.predictors import Predictor

    saved = ready_folder()
    folder = saved.parent / "exports"
    if not (folder / READY / "1").is_dir():
        print(f"Exporting the ready reader to {folder / READY / '1'}, once.", flush=True)
        Predictor.load(saved).export(folder / READY / "1", num_return_sequences=CANDIDATES)
    return folder


def load_ready() -> "ExtractiveReaderPredictor":
    """Builds the ready reader from MiniLM and the shipped difference.

    Returns:
        A `tfmrc.predictors.ExtractiveReaderPredictor`.
    """
    from safetensors.numpy import load_file

    from tfmrc import encoders, models, predictors, preprocessing
    from tfmrc.predictors.calibration import Calibration
    from tfmrc.storage.parts import CALIBRATION

    encoder = encoders.from_preset("minilm")
    preprocessor = preprocessing.ExtractiveReaderPreprocessor(
        encoder=encoder, **read_json(FILES / CARD)["preprocessor"]
    )
    model = models.ExtractiveReader(encoder=encoder)
    add_difference(model, load_file(FILES / DIFFERENCE))
    predictor = predictors.ExtractiveReaderPredictor(model, preprocessor)
    if (FILES / CALIBRATION).is_file():
        predictor.calibration = Calibration.from_json(read_json(FILES / CALIBRATION))
    return predictor


def add_difference(model: keras.Model, difference: Mapping[str, np.ndarray]) -> None:
    """Adds a difference to the weights of a model.

    Args:
        model: `keras.Model`. A reader on MiniLM.
        difference: dict. Arrays by the path of the weight; of a matrix `[m, n]` two, `PATH:left`
            `[m, r]` and `PATH:right` `[r, n]`.
    """
    for weight in model.weights:
        change: Any = difference.get(weight.path)
        if weight.path + LEFT in difference:
            left, right = (difference[weight.path + side] for side in (LEFT, RIGHT))
            change = left.astype("float32") @ right.astype("float32")
        if change is not None:
            weight.assign(first_values(weight) + change.reshape(weight.shape))


def first_values(weight: keras.Variable) -> np.ndarray:
    """Returns what a difference is added to: MiniLM's values, and 0 outside the encoder."""
    values: np.ndarray = weight.numpy()
    return values if weight.path.startswith("encoder/") else np.zeros_like(values)

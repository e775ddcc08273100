"""The ready models, of English, that come with tfmrc.

tfmrc ships what their weights differ from MiniLM's, which `tfmrc.encoders` ships: of each matrix of
the encoder a product of two narrow ones, all else whole, matrices in int8.
"""

import os
import shutil
from collections.abc import Mapping
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import keras
import numpy as np

from tfmrc.ops.ids import NUM_SPECIAL
from tfmrc.utils.files import user_path

READY = "ready"
FILES = Path(__file__).with_name("files")
EVIDENCE = "ready-evidence"
ALL = (READY, "ready-san", EVIDENCE, "ready-masque", "ready-daanet", "ready-qg")
NAMES = tuple(name for name in ALL if (FILES / name).is_dir())
DIFFERENCE, CARD = "difference.safetensors", "card.json"
LEFT, RIGHT, ROWS = ":left", ":right", ":rows"
SPANS = (READY, "ready-san")
CANDIDATES = 20  # spans of their exports, of which those that overlap are left out for documents
WORD_PIECES = "encoder/vocab.txt"  # below the assets: MiniLM's own


def model_folder(name: str | PathLike[str]) -> Path:
    """Returns the folder of a model: that of a ready model in the cache, or the path itself."""
    return ready_folder(str(name)) if name in NAMES else user_path(name)


def cache_folder() -> Path:
    """Returns the folder of written ready models, which may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tfmrc")


def ready_folder(name: str = READY) -> Path:
    """Returns a ready model as the folder of a saved predictor, which the first call writes.

    It is in `tfmrc` of the user's cache folder (XDG_CACHE_HOME, by default `~/.cache`).

    Raises:
        OSError: If the folder cannot be written.
    """
    from filelock import FileLock

    import tfmrc
    from tfmrc.storage.parts import is_saved_predictor

    small = b"".join(path.read_bytes() for path in sorted((FILES / name).rglob("*.json")))
    folder = cache_folder() / f"{tfmrc.__version__}-{sha256(small).hexdigest()[:12]}" / name
    if not is_saved_predictor(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".making-{name}.lock")):
            if not is_saved_predictor(folder):
                _write(FILES / name, folder)
    return folder


def ready_exports(name: str = READY) -> Path:
    """Returns a folder with the export `NAME/1` of a ready model, which the first call writes.

    Raises: as `ready_folder`.
    """
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.openvino import chooses_openvino, is_useful

    saved = ready_folder(name)
    folder = saved.parent / f"exports-{name}{'-openvino' if is_useful() else ''}"
    if not (folder / name / "1").is_dir():
        print(f"Exporting {name} to {folder / name / '1'}, once.", flush=True)
        options: Any = {"num_return_sequences": CANDIDATES} if name in SPANS else {}
        predictor: Any = Predictor.load(saved)
        options["openvino"] = chooses_openvino("auto", predictor.model)
        predictor.export(folder / name / "1", **options)
    return folder


def _write(shipped: Path, folder: Path) -> None:
    """Writes the folder of a saved predictor from the shipped files."""
    from safetensors.numpy import load_file

    from tfmrc.encoders.hugging_face.folder import scaled
    from tfmrc.encoders.presets import MINILM
    from tfmrc.models.folder import WEIGHTS, build_model
    from tfmrc.storage.folders import new_folder
    from tfmrc.storage.parts import ASSETS

    model = build_model(shipped)
    add_difference(model, start_of(model, shipped), scaled(load_file(shipped / DIFFERENCE)))
    with new_folder(folder, 4 * model.count_params()) as part:
        shutil.copytree(shipped, part, dirs_exist_ok=True)
        (part / DIFFERENCE).unlink()
        shutil.copyfile(MINILM / "vocab.txt", part / ASSETS / WORD_PIECES)
        keras.saving.save_weights(model, part / WEIGHTS)


def start_of(model: keras.Model, folder: Path) -> dict[str, np.ndarray]:
    """Returns what a difference is added to, by the path of the weight.

    It is MiniLM's values in the encoder, or those of `ready` if the model does not train it, the
    means of MiniLM's subwords in the rows of words, and 0 elsewhere. The model gets these values.

    Args:
        model: `keras.Model`. A model on MiniLM.
        folder: path. A saved predictor, whose vocabulary is read.
    """
    from tfmrc import encoders
    from tfmrc.predictors import Predictor
    from tfmrc.storage.parts import ASSETS
    from tfmrc.text import Vocabulary

    for weight in model.weights:
        weight.assign(np.zeros(weight.shape, weight.dtype))
    encoder = encoders.from_preset("minilm")
    is_trained = bool(model.encoder.trainable_weights)
    layer = encoder.layer if is_trained else Predictor.load(ready_folder()).model.encoder
    model.encoder.set_weights(layer.get_weights())
    if (embedding := getattr(model, "word_embedding", None)) is not None:
        words = Vocabulary.load(folder / ASSETS / "vocabulary.txt", model.arguments.num_oov_buckets)
        rows = encoder.word_vectors(words.words[NUM_SPECIAL:])
        encoders.set_vectors(embedding, words, rows, verbose=False)
    return {weight.path: weight.numpy() for weight in model.weights}


def add_difference(
    model: keras.Model, start: Mapping[str, np.ndarray], difference: Mapping[str, np.ndarray]
) -> None:
    """Gives a model its weights: those of its start and a difference.

    Args:
        model: `keras.Model`. The model.
        start: dict. Arrays by the path of the weight (`start_of`).
        difference: dict. Arrays by the path of the weight; of a matrix `[m, n]` also two,
            `PATH:left` `[m, r]` and `PATH:right` `[r, n]`, or some rows `[k, n]` and their numbers
            `PATH:rows` `[k]`.
    """
    for weight in model.weights:
        path, value = weight.path, start[weight.path]
        if path + LEFT in difference:
            product = difference[path + LEFT] @ difference[path + RIGHT]
            value = value + product.reshape(value.shape)
        elif path + ROWS in difference:
            value = value.copy()
            value[difference[path + ROWS]] += difference[path]
        elif path in difference:
            value = value + difference[path].reshape(value.shape)
        weight.assign(value)

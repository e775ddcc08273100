"""Loads a folder as a predictor: what tfmrc wrote, or a reader of Hugging Face."""

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmrc.predictors.exported.versions import versions_of
from tfmrc.storage.manifest import EXTRA, SAVED_MODEL
from tfmrc.utils.files import user_path, version_of

if TYPE_CHECKING:
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.openvino import Runtime

SHOWN = 5  # models that an error names
PREDICTOR = "predictor"  # the folder of a run that holds its predictor


def load(
    folder: str | PathLike[str],
    *,
    verify: bool = True,
    dtype: Any = None,
    runtime: "Runtime" = "auto",
) -> Any:
    """Loads a predictor, or an export as a predictor, from a folder.

    No code from the folder is run, except the graph of an export: load exports only from sources
    that you trust.

    Args:
        folder: str or path. A model of English that comes with tfmrc ("ready", "ready-san",
            "ready-evidence", "ready-masque", "ready-daanet" or "ready-qg"); a saved predictor, a
            run, or an export or one of its versions; or a model for question answering in Hugging
            Face's form (a folder, or `hf://owner/name`), see `tfmrc.predictors.load_hugging_face`.
        verify: bool. Whether every file is compared with its digest first. False saves the time of
            reading very large folders twice. Default: True.
        dtype: Keras dtype or policy of a reader of Hugging Face, such as "bfloat16". Any other
            model has that of its configuration. Default: None.
        runtime: str. What computes the model: "tensorflow"; "openvino", the networks of extractive
            and evidence readers, at the first answer (`pip install tfmrc[openvino]`); or
            "auto", OpenVINO where it is installed and faster: readers in float32 on CPUs of x86,
            and exports that were written for it. It leaves a model that is compiled for training
            to TensorFlow. Default: "auto".

    Returns:
        A `tfmrc.Predictor`, or a `tfmrc.predictors.ExportedPredictor` for an export.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If it is damaged or was written by another version, `dtype` is given for
            another model than a reader of Hugging Face, or OpenVINO does not compute the model.

    Example:

    >>> import tfmrc
    >>> tfmrc.load("nowhere")
    Traceback (most recent call last):
    ...
    FileNotFoundError: There is no saved predictor, run or export in nowhere.
    """
    from tfmrc.predictors import ExportedPredictor, Predictor
    from tfmrc.predictors.hugging_face.folder import is_hugging_face, load_hugging_face
    from tfmrc.predictors.ready.shipped import model_folder
    from tfmrc.storage.parts import CONFIG, WEIGHTS

    if is_hugging_face(folder):
        return _computed(load_hugging_face(folder, verify=verify, dtype=dtype), runtime)
    if dtype is not None:
        raise ValueError(
            "`dtype` is for readers of Hugging Face; other models have that of their "
            f"configuration. Received: dtype={dtype!r}, folder={str(folder)!r}"
        )
    folder = model_folder(folder)
    for candidate in (folder, folder / PREDICTOR):
        if (candidate / CONFIG).is_file() or (candidate / WEIGHTS).is_file():
            return _computed(Predictor.load(candidate, verify=verify), runtime)
    if versions_of(folder):
        return ExportedPredictor(folder, verify=verify, runtime=runtime)
    raise FileNotFoundError(not_a_model(folder))


def _computed(predictor: "Predictor[Any]", runtime: "Runtime") -> "Predictor[Any]":
    predictor.runtime = runtime
    return predictor


def not_a_model(folder: str | PathLike[str]) -> str:
    """Returns the sentence for a folder that is not a model's, with the models near it.

    Args:
        folder: str or path. The folder.
    """
    return (
        f"There is no saved predictor, run or export in {user_path(folder)}.{models_near(folder)}"
    )


def models_near(folder: str | PathLike[str]) -> str:
    """Returns a sentence that names the models near a folder, after a space; "" without any.

    If the folder does not exist, those of the folder above are named; if that does not exist
    either, the name may be one of Hugging Face's hub.

    Args:
        folder: str or path. The folder.
    """
    folder = user_path(folder)
    is_parent = not folder.is_dir() and folder.name not in ("", "..")
    if is_parent and folder.parent in (Path(), Path("/")):
        return ""  # any folder of a shell
    if not folder.parent.is_dir() and re.fullmatch(r"[\w.-]+/[\w.-]+", folder.as_posix()):
        return f" Did you mean hf://{folder.as_posix()}, a model of Hugging Face's hub?"
    above = folder.parent if is_parent else folder
    models = _models_below(above)
    shown = [*map(str, models[:SHOWN]), *(["..."] if len(models) > SHOWN else [])]
    return f" Models in {above}: {', '.join(shown)}." if models else ""


def _models_below(folder: Path) -> list[Path]:
    """Returns the models up to three levels below a folder."""
    from tfmrc.storage.parts import WEIGHTS

    models: set[Path] = set()
    for depth in ("*", "*/*", "*/*/*"):
        for file in (*folder.glob(f"{depth}/{SAVED_MODEL}"), *folder.glob(f"{depth}/{WEIGHTS}")):
            model = file.parent
            if model.name == PREDICTOR or version_of(model.name) is not None:
                model = model.parent
            parts = model.relative_to(folder).parts
            if EXTRA not in parts and not any(part.startswith(".") for part in parts):
                models.add(model)
    return sorted(models)

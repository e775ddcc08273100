"""Loads a folder as a predictor: what tfmrc wrote, or a reader of Hugging Face."""

from os import PathLike
from pathlib import Path
from typing import Any

__all__ = ["load"]

PREDICTOR = "predictor"  # the folder of a run that holds its predictor


def load(folder: str | PathLike[str], *, verify: bool = True, dtype: Any = None) -> Any:
    """Loads a predictor, or an export as a predictor, from a folder.

    No code from the folder is run, except the graph of an export: load exports only from sources
    that you trust.

    Args:
        folder: str or path. A saved predictor, a run, or an export or one of its versions; or a
            model for question answering in Hugging Face's form (a folder, or `hf://owner/name`),
            see `tfmrc.predictors.load_hugging_face`.
        verify: bool. Whether every file is compared with its digest first. False saves the time of
            reading very large folders twice. Default: True.
        dtype: Keras dtype or policy of a reader of Hugging Face, such as "bfloat16". Any other
            model has that of its configuration. Default: None.

    Returns:
        A `tfmrc.Predictor`, or a `tfmrc.serving.ExportedPredictor` for an export.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If it is damaged or was written by another version, or `dtype` is given for
            another model than a reader of Hugging Face.

    Example:

    >>> import tfmrc
    >>> tfmrc.load("nowhere")
    Traceback (most recent call last):
    ...
    FileNotFoundError: There is no saved predictor, run or export in nowhere.
    """
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.hugging_face import is_hugging_face, load_hugging_face
    from tfmrc.predictors.storage import CONFIG, WEIGHTS

    if is_hugging_face(folder):
        return load_hugging_face(folder, verify=verify, dtype=dtype)
    if dtype is not None:
        raise ValueError(
            "`dtype` is for readers of Hugging Face; other models have that of their "
            f"configuration. Received: dtype={dtype!r}, folder={str(folder)!r}"
        )
    folder = Path(folder)
    for candidate in (folder, folder / PREDICTOR):
        if (candidate / CONFIG).is_file() or (candidate / WEIGHTS).is_file():
            return Predictor.load(candidate, verify=verify)
    if any(
        True for pattern in ("saved_model.pb", "*/saved_model.pb") for _ in folder.glob(pattern)
    ):
        from tfmrc.serving import ExportedPredictor

        return ExportedPredictor(folder, verify=verify)
    raise FileNotFoundError(f"There is no saved predictor, run or export in {folder}.")

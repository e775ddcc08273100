"""The files that an experiment reads: of its sources, vectors, embeddings and other models."""

import os
from pathlib import Path
from typing import Any

from tfmrc.data.formats.registry import find_format
from tfmrc.experiments.run_folder import trained_folder
from tfmrc.experiments.settings import Experiment, Source
from tfmrc.utils.files import user_path

PARTS = ("train", "validation", "test")


def data_folder(given: str | Path | None, experiment: Experiment | None = None) -> Path:
    """Returns the folder of `--data`, or of the environment variable TFMRC_DATA.

    Args:
        given: str, path or None. The folder.
        experiment: `Experiment` or None. The experiment. No folder is needed if all its sources
            are shipped with tfmrc or named by absolute paths. Default: None.

    Raises:
        ValueError: If neither is given.
    """
    folder = given or os.environ.get("TFMRC_DATA")
    if not folder:
        if experiment is not None and not any(map(_needs_folder, experiment.sources)):
            return Path()
        raise ValueError(
            "No data folder. Pass --data FOLDER, or set the environment variable TFMRC_DATA."
        )
    return user_path(folder)


def _needs_folder(source: Source) -> bool:
    named = [name for name in (source.train, source.test) if name is not None]
    is_file = find_format(source.format).is_file
    return is_file and not all(Path(name).is_absolute() for name in named)


def input_files(experiment: Experiment, folder: Path) -> list[Path]:
    """Returns the files that a run is trained on, each once.

    Args:
        experiment: `Experiment`. The settings.
        folder: Path. The data folder.

    Raises:
        ValueError: If one of them, or the folder of a model that training needs, does not exist.
    """
    files: list[Path] = []
    split = experiment.split
    for source in experiment.sources:
        if source.train is not None:
            files += _files_of(source, source.train, folder, source.train_options)
        if source.test is not None:
            tested = _files_of(source, source.test, folder, source.test_options)
            files += tested if split.takes_of_test else []
    if split.ids is not None:
        files += [Path(split.ids) / f"{part}.txt" for part in PARTS]
    vectors = experiment.vocabulary.vectors
    named = (*experiment.contextual.files, *([] if vectors is None else [vectors]))
    files += [folder / name for name in named]
    for file in files:
        if not file.is_file():
            raise ValueError(f"A file of the experiment does not exist. Received: {file}")
    for model in _models(experiment):
        files += sorted(path for path in model.iterdir() if path.is_file())
    return list(dict.fromkeys(files))


def _files_of(source: Source, name: str, folder: Path, options: dict[str, Any]) -> list[Path]:
    """Returns a source's file and further files that belong to it."""
    known = find_format(source.format)
    if not known.is_file:
        return []
    return [folder / name, *known.besides(folder / name, source.options | options).values()]


def _models(experiment: Experiment) -> list[Path]:
    """Returns the folders of the models that training starts from or learns from."""
    folders = []
    for setting, named in (
        ("start_from", experiment.start_from),
        ("training.teacher", experiment.training.teacher),
        ("encoder.preset", experiment.encoder.get("preset")),
    ):
        if named is None or "://" in named:  # of a hub
            continue
        folder = trained_folder(named) or (None if setting == "start_from" else user_path(named))
        if folder is not None and folder.is_dir():
            folders.append(folder)
        elif setting != "encoder.preset" or "/" in named:  # others are names of presets
            raise ValueError(
                f"`{setting}` must be the folder of a trained model; that of a run is there once "
                f"it is trained. Received: {setting}={named!r}"
            )
    return folders

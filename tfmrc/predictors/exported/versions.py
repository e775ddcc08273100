"""Exports in folders: their names and their versions."""

from os import PathLike
from pathlib import Path

from tfmrc.storage.manifest import SAVED_MODEL
from tfmrc.utils.files import user_path, version_of


def versions_of(path: str | PathLike[str]) -> dict[int, Path]:
    """Returns the folders of a model's versions, newest first; {} if there is none.

    A folder that is itself a SavedModel is one version: the number that it is named, or 1.

    Args:
        path: str or path. The folder of the versions, or of one version.

    Example:

    >>> from tfmrc.predictors.exported.versions import versions_of
    >>> versions_of("nowhere")
    {}
    """
    path = user_path(path).absolute()
    if (path / SAVED_MODEL).is_file():
        number = version_of(path.name)
        return {1 if number is None else number: path}
    versions = {
        number: file.parent
        for file in path.glob(f"*/{SAVED_MODEL}")
        if (number := version_of(file.parent.name)) is not None
    }
    return dict(sorted(versions.items(), reverse=True))


def newest_version(path: str | PathLike[str]) -> Path:
    """Returns the folder of the newest version: the path itself, or the greatest number below it.

    Args:
        path: str or path. The folder of the versions, or of one version.

    Raises:
        FileNotFoundError: If there is no SavedModel; names those of a folder of models.
    """
    versions = versions_of(path)
    if not versions:
        models = ", ".join(map(str, find_models(path).values())) if Path(path).is_dir() else ""
        raise FileNotFoundError(
            f"There is no SavedModel in {path}, nor in a numbered folder below it. "
            + (f"SavedModels below it: {models}." if models else "`tfmrc export` makes one.")
        )
    return next(iter(versions.values()))


def find_models(folder: str | PathLike[str]) -> dict[str, Path]:
    """Returns the folders of all exports `<name>/<version>/` below a folder, by name.

    Args:
        folder: str or path. The folder. It may also be the folder of one model or one version.

    Raises:
        FileNotFoundError: If the folder does not exist.
    """
    folder = user_path(folder).absolute()
    if (folder / SAVED_MODEL).is_file():
        name = folder.name if version_of(folder.name) is None else folder.parent.name
        return {name: folder}
    if versions_of(folder):
        return {folder.name: folder}
    return {
        path.name: path
        for path in sorted(folder.iterdir())
        if not path.name.startswith(".") and versions_of(path)
    }

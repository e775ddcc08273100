"""Models that a server serves, and which of their versions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

from tfmrc.utils.files import version_of

__all__ = ["ModelConfig", "find_models", "read_model_config"]

#: Names that the paths of the REST API can hold.
NAME = re.compile(r"[^/:\x00-\x1f]+")


@dataclass(frozen=True)
class ModelConfig:
    """A model: its name, its folder, and the versions to serve.

    Attributes:
        name: str. The name in requests.
        path: path. The folder of its versions, or the folder of one version.
        num_versions: int. Number of versions that are served, newest first. Default: 1.
        versions: tuple of int or None. These versions only. Default: None.
        labels: dict. Versions by label. Default: {}.

    Raises:
        ValueError: If the name is empty, or has a colon or a slash.

    Example:

    >>> from tfmrc.predictors.model_config import ModelConfig
    >>> ModelConfig("hills", Path("nowhere")).found()
    {}
    """

    name: str
    path: Path
    num_versions: int = 1
    versions: tuple[int, ...] | None = None
    labels: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise ValueError(
                "A model's name must have a character, and neither a colon nor a slash. "
                f"Received: name={self.name!r}"
            )

    def found(self) -> dict[int, Path]:
        """Returns the folders of all complete versions, newest first.

        A folder that is itself a SavedModel is one version: the number that it is named, or 1.
        """
        if (self.path / "saved_model.pb").is_file():
            number = version_of(self.path.name)
            return {1 if number is None else number: self.path}
        try:
            folders = list(self.path.iterdir())
        except OSError:
            return {}
        versions = {
            number: folder
            for folder in folders
            if (number := version_of(folder.name)) is not None
            and (folder / "saved_model.pb").is_file()
        }
        return dict(sorted(versions.items(), reverse=True))

    def selected(self) -> dict[int, Path]:
        """Returns the folders of the versions to serve, newest first."""
        found = self.found()
        if self.versions is not None:
            return {number: path for number, path in found.items() if number in self.versions}
        return dict(list(found.items())[: self.num_versions])


def find_models(folder: str | PathLike[str]) -> list[ModelConfig]:
    """Returns the models of all exports `<name>/<version>/` below a folder.

    Args:
        folder: str or path. The folder. It may also be the folder of one model or one version.

    Raises:
        FileNotFoundError: If the folder does not exist.
    """
    folder = Path(folder).absolute()
    if not folder.is_dir():
        raise FileNotFoundError(f"There is no folder {folder}.")
    if (folder / "saved_model.pb").is_file():
        name = folder.parent.name if version_of(folder.name) is not None else folder.name
        return [ModelConfig(name, folder)]
    if ModelConfig("model", folder).found():
        return [ModelConfig(folder.name, folder)]
    models = [
        ModelConfig(path.name, path)
        for path in sorted(folder.iterdir())
        if path.is_dir() and not path.name.startswith(".") and NAME.fullmatch(path.name)
    ]
    return [model for model in models if model.found()]


def read_model_config(path: str | PathLike[str]) -> list[ModelConfig]:
    """Reads a `models.config` of TensorFlow Serving: names, folders, version policies and labels.

    Args:
        path: str or path. The file, a ModelServerConfig message as text. Relative paths in it
            start from its folder.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is no such file.
    """
    from google.protobuf import text_format
    from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

    path = Path(path)
    message = ModelServerConfig()
    try:
        text_format.Parse(path.read_text(encoding="utf-8"), message)
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no model configuration: {error}") from error
    models = []
    for each in message.model_config_list.config:
        policy = each.model_version_policy
        kind = policy.WhichOneof("policy_choice")
        count = {"all": 2**31, "latest": policy.latest.num_versions or 1}.get(kind, 1)
        models.append(
            ModelConfig(
                each.name,
                path.parent.absolute() / each.base_path,
                num_versions=count,
                versions=tuple(policy.specific.versions) if kind == "specific" else None,
                labels=dict(each.version_labels),
            )
        )
    check_names_differ(models)
    if not models:
        raise ValueError(f"{path} names no model: it has no model_config_list with a config.")
    return models


def check_names_differ(models: Sequence[ModelConfig]) -> None:
    """Raises a ValueError if two models have one name."""
    names = [model.name for model in models]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Two models have the name {name!r}; names must differ.")

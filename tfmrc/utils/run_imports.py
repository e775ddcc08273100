"""Modules that define a user's own classes."""

import importlib
import sys
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import yaml

CONFIG = "config.yaml"  # the settings in the folder of a run


def run_imports(folder: str | PathLike[str]) -> tuple[str, ...]:
    """Returns the modules in the setting `imports` of a run.

    Args:
        folder: str or path. The run, or the folder of its predictor.

    Returns:
        The names; `()` if the folder is not a run, or its settings name none or cannot be read.

    Example:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "config.yaml").write_text("imports: [my_package.my_paper]")
    ...     run_imports(folder), run_imports(pathlib.Path(folder, "predictor"))
    (('my_package.my_paper',), ('my_package.my_paper',))
    """
    for candidate in (Path(folder), Path(folder).absolute().parent):
        try:
            settings = yaml.safe_load((candidate / CONFIG).read_text(encoding="utf-8"))
        except (OSError, ValueError, yaml.YAMLError):
            continue
        names = settings.get("imports") if isinstance(settings, dict) else None
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            return tuple(names)
    return ()


def import_modules(names: Iterable[str]) -> None:
    """Imports a user's modules, which register their classes; the current folder is searched too.

    Raises:
        ValueError: If a module cannot be imported.
    """
    here = str(Path.cwd())
    for name in names:
        if here not in sys.path:
            sys.path.append(here)
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise ValueError(
                f"imports: {error} (searched: {here}, PYTHONPATH and installed packages). "
                f"Received: {name!r}"
            ) from error

"""The modules that define a run's own classes."""

from os import PathLike
from pathlib import Path

import yaml

__all__ = ["CONFIG", "run_imports"]

CONFIG = "config.yaml"  # the settings in the folder of a run


def run_imports(folder: str | PathLike[str]) -> tuple[str, ...]:
    """Returns the modules that the settings of a run name in `imports`.

    Args:
        folder: str or path. The run, or the folder of its predictor.

    Returns:
        The names; `()` for another folder, and where the settings name none or cannot be read.

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

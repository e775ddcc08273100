"""Exports a trained run, or any saved predictor, as a SavedModel on plain strings."""

from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.grid import single_run
from tfmrc.experiments.predictor import load_run
from tfmrc.experiments.settings import Experiment

__all__ = ["export", "export_predictor"]


def export(
    experiment: Experiment,
    run: str | Path | None = None,
    to: str | Path | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Writes a run's predictor as a SavedModel on plain strings.

    Args:
        experiment: Names the export and says how answers are searched for.
        run: The run's folder; `runs/NAME` unless given.
        to: `FOLDER/NAME/VERSION`; the next version below `savedmodels/NAME` unless given.
        overwrite: Whether a version that exists is replaced.

    Returns:
        The folder of the version.

    Raises:
        ValueError: The run is not trained.
        FileExistsError: The version exists.
    """
    folder = folders.run_folder(experiment, run)
    predictor = load_run(single_run(experiment, folder))
    scores = {
        path.parent.name: folders.read_json(path, "evaluate")
        for path in sorted((folder / folders.EVALUATION).glob("*/metrics.json"))
    }
    path = Path(to) if to is not None else _next_version(Path("savedmodels", experiment.name))
    path = predictor.export(
        path,
        overwrite=overwrite,
        metrics={**predictor.metrics, **scores},
        **experiment.evaluation.options,
    )
    print(f"Exported {path}")
    return path


def export_predictor(
    folder: str | Path, name: str, to: str | Path | None = None, *, overwrite: bool = False
) -> Path:
    """Writes any saved predictor as a SavedModel on plain strings.

    Args:
        folder: The predictor's folder, or one that holds it as `predictor`.
        name: Name of the export.
        to: `FOLDER/NAME/VERSION`; the next version below `savedmodels/NAME` unless given.
        overwrite: Whether a version that exists is replaced.

    Returns:
        The folder of the version.

    Raises:
        FileNotFoundError: The folder is not a saved predictor.
        FileExistsError: The version exists.
    """
    import tfmrc

    inner = Path(folder) / folders.PREDICTOR
    predictor: Any = tfmrc.Predictor.load(inner if inner.is_dir() else folder)
    path = Path(to) if to is not None else _next_version(Path("savedmodels", name))
    path = predictor.export(path, overwrite=overwrite)
    print(f"Exported {path}")
    return path


def _next_version(folder: Path) -> Path:
    found = [int(path.name) for path in folder.glob("*") if path.name.isdecimal()]
    return folder / str(max(found, default=0) + 1)

"""Exports a trained run, or any saved predictor, as a SavedModel on plain strings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.answering import run_digest
from tfmrc.experiments.grid import single_run
from tfmrc.experiments.predictor import load_run, load_saved
from tfmrc.experiments.reporting import MODEL, SEARCH, details_of
from tfmrc.experiments.settings import Experiment
from tfmrc.utils.files import version_of

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
        experiment: `Experiment`. The experiment, with the name of the export and the options of
            decoding.
        run: str, path or None. The run's folder. Default: `runs/NAME`.
        to: str, path or None. `FOLDER/NAME/VERSION`. Default: the next version below
            `savedmodels/NAME`.
        overwrite: bool. Whether an existing version is replaced. Default: False.

    Returns:
        The folder of the version.

    Raises:
        ValueError: If the run is not trained, or has other settings.
        FileExistsError: If the version exists.
    """
    folder = folders.run_folder(experiment, run)
    folders.check_trained(experiment, folder)
    predictor = load_run(single_run(experiment, folder))
    ranker = experiment.evaluation.ranker
    scores = {} if ranker is not None else _scores_of(experiment, folder)
    if ranker is not None:
        print(
            "The export gives all passages the same weight: `evaluation.ranker` is no part of it, "
            f"and the run's scores with it are not in its metrics. Received: ranker={ranker!r}",
            flush=True,
        )
    path = Path(to) if to is not None else _next_version(Path("savedmodels", experiment.name))
    path = predictor.export(
        path,
        overwrite=overwrite,
        metrics={**predictor.metrics, **scores},
        **experiment.evaluation.options,
    )
    print(f"Exported {path}")
    return path


def _scores_of(experiment: Experiment, folder: Path) -> dict[str, Any]:
    """Returns the reports of a run that are of its present model, with the given options."""
    scores = {}
    expected = details_of(experiment, [], model=run_digest(experiment, folder))
    for path in sorted((folder / folders.EVALUATION).glob("*/metrics.json")):
        report = folders.read_json(path, "evaluate")
        details = report.get("details", {})
        if all(details.get(name) == expected.get(name) for name in (MODEL, SEARCH)):
            scores[path.parent.name] = report
        else:
            print(
                f"{path} is of another model or of other options and not exported: `tfmrc "
                "evaluate` scores this one.",
                flush=True,
            )
    return scores


def export_predictor(
    folder: str | Path,
    name: str,
    to: str | Path | None = None,
    *,
    overwrite: bool = False,
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Writes any saved predictor, or a reader of Hugging Face, as a SavedModel on plain strings.

    Args:
        folder: str or path. The predictor's folder, or one that contains it as `predictor`; or a
            reader in Hugging Face's form.
        name: str. Name of the export.
        to: str, path or None. `FOLDER/NAME/VERSION`. Default: the next version below
            `savedmodels/NAME`.
        overwrite: bool. Whether an existing version is replaced. Default: False.
        options: dict or None. Options of the predictor, fixed in the export; `dtype` for a reader
            of Hugging Face, such as "bfloat16". Default: None.

    Returns:
        The folder of the version.

    Raises:
        FileNotFoundError: If the folder is not a saved predictor.
        FileExistsError: If the version exists.
    """
    predictor, chosen = load_saved(folder, options)
    path = Path(to) if to is not None else _next_version(Path("savedmodels", name))
    path = predictor.export(path, overwrite=overwrite, **chosen)
    print(f"Exported {path}")
    return path


def _next_version(folder: Path) -> Path:
    versions = [version_of(path.name) for path in folder.glob("*")]
    return folder / str(max((each for each in versions if each is not None), default=0) + 1)

"""Exports a run or another predictor as a SavedModel on plain strings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.loaded import Loaded, open_model
from tfmrc.experiments.reporting import model_details
from tfmrc.experiments.tables.reading import read_questions
from tfmrc.utils.files import version_of

FOR_INT8 = 300  # questions that calibrate int8


def export(
    folder: str | Path,
    to: str | Path | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    openvino: bool = False,
    int8: str | Path | None = None,
) -> Path:
    """Writes a predictor as a SavedModel on plain strings.

    Args:
        folder: str or path. A run, a saved predictor or a reader of Hugging Face.
        to: str, path or None. `FOLDER/NAME/VERSION`. Default: the next version below
            `savedmodels/NAME`, with the name of the run or of the folder.
        options: dict or None. Options of the predictor, fixed in the export, beside those of a
            run's settings; `dtype` for a reader of Hugging Face. Default: None.
        overwrite: bool. Whether an existing version is replaced. Default: False.
        openvino: bool. Whether OpenVINO's file of a reader is written as well. Default: False.
        int8: str, path or None. A file of questions, as of `tfmrc.experiments.predict`, of which
            300 calibrate OpenVINO's file in int8; None for float32. Default: None.

    Returns:
        The folder of the version.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If the run is not trained.
        FileExistsError: If the version exists.
    """
    model = open_model(folder, options)
    metrics, name = dict(model.predictor.metrics), model.name
    if model.settings is not None:
        name, ranker = model.settings.name, model.settings.evaluation.ranker
        if ranker is None:
            metrics |= _scores_of(model)
        else:
            print(
                "The export gives all passages the same weight: it does not contain "
                "`evaluation.ranker`, and its metrics leave out the run's scores with it. "
                f"Received: ranker={ranker!r}",
                flush=True,
            )
    path = Path(to) if to is not None else _next_version(Path("savedmodels", name))
    more: dict[str, Any] = {"openvino": True} if openvino else {}
    if int8 is not None:
        rows, _ = read_questions(int8, labels="none", usual=model.table_options)
        found = list(rows.examples)
        more["int8"] = found[:: max(1, len(found) // FOR_INT8)][:FOR_INT8]
    path = model.predictor.export(
        path, overwrite=overwrite, metrics=metrics, **more, **model.options
    )
    print(f"Exported {path}")
    return path


def _scores_of(model: Loaded) -> dict[str, Any]:
    """Returns the reports of a run that are of its present model, with the given options."""
    scores = {}
    expected = model_details(model.digest, model.options)
    for path in sorted((model.folder / folders.EVALUATION).glob("*/metrics.json")):
        report = folders.read_json(path, "evaluate")
        details = report.get("details", {})
        if all(details.get(name) == expected.get(name) for name in ("Search", "Model")):
            scores[path.parent.name] = report
        else:
            print(
                f"The scores of {path} belong to another model or to other options and were left "
                f"out of the export. Run `tfmrc evaluate {model.folder}`.",
                flush=True,
            )
    return scores


def _next_version(folder: Path) -> Path:
    versions = (version_of(path.name) for path in folder.glob("*"))
    return folder / str(max((number for number in versions if number is not None), default=0) + 1)

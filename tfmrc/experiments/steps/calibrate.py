"""Calibrates a run or another predictor on the questions of a file."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from tfmrc.evaluation import CalibrationReport, plot_calibration
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.loaded import open_model
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.predictors.load import not_a_model
from tfmrc.storage.folders import new_folder
from tfmrc.storage.manifest import manifest_of
from tfmrc.storage.parts import CALIBRATION
from tfmrc.utils.files import write_text

__all__ = ["calibrate"]


def calibrate(
    folder: str | Path,
    questions: str | Path,
    *,
    precision: float = 0.9,
    options: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> CalibrationReport:
    """Fits the calibration of a predictor and writes it, with its report, into its folder.

    `calibration.json` has the map, the threshold and the scores, `calibration.md` the table, and
    `calibration.png` and `.svg` the reliability diagram and the risk-coverage curve.

    Args:
        folder: str or path. A run, a saved predictor or the folder of a reader of Hugging Face.
        questions: str or path. A file of any format of `tfmrc.data.read_file`, with answers to
            questions that the model was not trained on.
        precision: float. Share of right answers among the confident ones. Default: 0.9.
        options: dict or None. Options of the predictor, beside those of a run's settings.
            Default: None.
        **reading: As of `tfmrc.experiments.evaluate_file`.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If it is an export, or too few questions have known answers.
    """
    if not Path(folder).is_dir():  # also a name of Hugging Face's hub
        raise FileNotFoundError(not_a_model(folder))
    model = open_model(folder, options)
    usual = model.table_options
    rows, account = read_questions(questions, labels="texts", usual=usual, **reading)
    examples = list(rows.examples)
    account.print(Path(questions).name)
    print(f"answering {len(examples):,} questions", flush=True)
    report: CalibrationReport = model.predictor.calibrate(
        examples, precision=precision, **model.options
    )
    target = Path(folder).resolve()
    inner = target / folders.PREDICTOR
    _write(inner if inner.is_dir() else target, report, Path(questions).name)
    print(report.markdown())
    return report


def _write(target: Path, report: CalibrationReport, data: str) -> None:
    def write(place: Path) -> None:
        plot_calibration(report, place / "calibration", title=data)
        write_text(place / "calibration.md", f"{report.markdown()}\nData: {data}.\n")
        record = report.to_json() | {"data": data}  # the facts are the fields of the calibration
        write_text(place / CALIBRATION, json.dumps(record, indent=2) + "\n")

    if manifest_of(target) is None:  # a reader that another program wrote
        return write(target)
    size = sum(path.stat().st_size for path in target.rglob("*"))
    with new_folder(target, size) as part:  # whose manifest lists the new files
        shutil.copytree(target, part, dirs_exist_ok=True)
        write(part)

"""Calibrates a run or another predictor on questions that it was not trained on."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from tfmrc.data import Example
from tfmrc.evaluation import CalibrationReport, plot_calibration
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.rows import row_digest, trained_rows
from tfmrc.experiments.loaded import Loaded, open_model
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.predictors.ready.shipped import NAMES
from tfmrc.storage.folders import check_target, new_folder
from tfmrc.storage.manifest import manifest_of
from tfmrc.storage.parts import CALIBRATION, is_saved_predictor
from tfmrc.utils.files import write_text


def calibrate(
    folder: str | Path,
    questions: str | Path | None = None,
    to: str | Path | None = None,
    *,
    precision: float = 0.9,
    options: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> CalibrationReport:
    """Fits the calibration of a predictor and writes it, with its report, into its folder.

    `calibration.json` has the map, the threshold and the scores, `calibration.md` the table, and
    `calibration.png` and `.svg` the reliability diagram and the risk-coverage curve.

    Args:
        folder: str or path. A run, a saved predictor, a Hugging Face reader or a ready model.
        questions: str, path or None. A file of any format of `tfmrc.data.read_file`, with answers
            to questions that the model was not trained on. Default: None, the held-out rows of a
            run.
        to: str, path or None. A new folder for a copy of the model with the calibration. Ready
            models and those of the hub, which several projects share, need it. Default: None, the
            model's own folder.
        precision: float. Share of right answers among the confident ones. Default: 0.9.
        options: dict or None. Options of the predictor, beside those of a run's settings.
            Default: None.
        **reading: As of `tfmrc.experiments.evaluate_file`.

    Raises:
        FileNotFoundError: If there is no model in the folder.
        ValueError: If it is an export or shared by several projects, or too few questions have
            known answers that it was not trained on.
    """
    if to is None and (folder in NAMES or "://" in str(folder)):
        raise ValueError(
            f"{folder} is shared by projects and is not changed. Add --to FOLDER for a copy of it "
            "with the calibration."
        )
    model = open_model(folder, options)
    file = _held_out(model) if questions is None else Path(questions)
    examples = _untrained(model, file, reading)
    print(f"answering {len(examples):,} questions", flush=True)
    report: CalibrationReport = model.predictor.calibrate(
        examples, precision=precision, **model.options
    )
    inner = model.folder / folders.PREDICTOR
    source = (inner if inner.is_dir() else model.folder).resolve()
    target = source if to is None else check_target(to, is_saved_predictor)
    _write(source, target, report, file.name)
    name = target if to is not None else folder
    print(
        f"{report.markdown()}\nThe calibration is in {target / CALIBRATION}. Use it: "
        f'tfmrc answer {name} --question "..." --passage "..."'
    )
    return report


def _held_out(model: Loaded) -> Path:
    """Returns the table of the rows that the training of a run held out."""
    file = folders.shared_file(model.folder, folders.HELD_OUT)
    if not file.is_file():
        raise ValueError(
            f"{model.folder} has no held-out rows ({folders.HELD_OUT}). Add --input FILE with "
            "questions that the model was not trained on."
        )
    return file


def _untrained(model: Loaded, file: Path, reading: Reading) -> list[Example]:
    """Returns the rows of a file, without those that a run was trained on.

    On these its answers are better than on others, so their probabilities say nothing.
    """
    rows, account = read_questions(file, labels="texts", usual=model.table_options, **reading)
    known, trained = list(rows.examples), trained_rows(model.folder)
    examples = [example for example in known if row_digest(example) not in trained]
    if len(examples) < len(known):
        account.left_out[f"{model.folder} was trained on it"] = len(known) - len(examples)
        account.used = len(examples)
    account.print(file.name)
    if known and not examples:
        raise ValueError(
            f"{model.folder} was trained on all rows of {file}. Add --input FILE with others, or "
            "leave it out for the rows that the training held out."
        )
    return examples


def _write(source: Path, target: Path, report: CalibrationReport, data: str) -> None:
    def write(place: Path) -> None:
        plot_calibration(report, place / "calibration", title=data)
        write_text(place / "calibration.md", f"{report.markdown()}\nData: {data}.\n")
        record = report.to_json() | {"data": data}  # the facts are the fields of the calibration
        write_text(place / CALIBRATION, json.dumps(record, indent=2) + "\n")

    if manifest_of(source) is None and source == target:  # a reader that another program wrote
        return write(target)
    size = sum(path.stat().st_size for path in source.rglob("*"))
    with new_folder(target, size) as part:  # whose manifest lists the new files
        shutil.copytree(source, part, dirs_exist_ok=True)
        write(part)

"""Predicts the examples of a file with a trained run."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from tfmrc.evaluation import Prediction
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.answering import (
    answer_all,
    askable,
    folder_digest,
    prediction_of,
    run_digest,
)
from tfmrc.experiments.grid import single_run
from tfmrc.experiments.predictor import check_exists, load_run, load_saved
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.sources import read_questions, table_columns

Form = Literal["answers", "full", "squad"]

__all__ = ["predict", "predict_with"]


def predict(
    experiment: Experiment,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    task: str | None = None,
    form: Form | None = None,
    run: str | Path | None = None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Predicts the examples of a file.

    Args:
        experiment: `Experiment`. The experiment, with the options of decoding.
        questions: str or path. A file of any format of `tfmrc.data.read_file`: a table (CSV, TSV,
            JSON, Parquet) with `question` and `passage`, or with the columns that the run's own
            table has; tfmrc's JSON lines; or an official format.
        output: str, path or None. File of predictions, one JSON object per line. The file of an
            interrupted command is continued: predictions of the same model, options and examples
            are not computed again. A file with other content is left unchanged. Default: standard
            output.
        task: str or None. Name of a task of the predictor; for Masque a style. Default: the first
            one.
        form: str or None. Format of standard output: `answers` (only the texts), `full` (JSON
            lines) or `squad` (one JSON object from id to text). Default: the texts on a terminal,
            JSON lines elsewhere.
        run: str, path or None. The run's folder. Default: `runs/NAME`.
        columns: dict or None. Columns of a table with other names, as in
            `{"question": "Frage", "passages": "Text"}`. Default: None.

    Raises:
        ValueError: If the run is not trained or has other settings, the task is unknown, a line is
            broken, two examples have the same id, or `output` is the input or has other content.
    """
    folder = folders.run_folder(experiment, run)
    folders.check_trained(experiment, folder)
    examples = _read(questions, output, form, columns, table_columns(experiment))
    predictor = load_run(single_run(experiment, folder))
    settings = experiment.evaluation
    model = "" if output is None else run_digest(experiment, folder)
    _predict(
        predictor,
        examples,
        output,
        predictor.task(task).name,
        form,
        options=settings.options,
        batch_size=settings.batch_size,
        model=model,
    )


def predict_with(
    folder: str | Path,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    task: str | None = None,
    form: Form | None = None,
    options: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Predicts the examples of a file with a saved predictor or a reader of Hugging Face.

    Args:
        folder: str or path. What `tfmrc.load` loads as a `tfmrc.Predictor`.
        questions, output, task, form: As in `predict`.
        options: dict or None. Options of the predictor, such as `num_beams`, and `dtype` for a
            reader of Hugging Face. Default: None.
        columns: dict or None. As in `predict`.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: As `predict`.
    """
    check_exists(folder)
    examples = _read(questions, output, form, columns)
    predictor, chosen = load_saved(folder, options)
    _predict(
        predictor,
        examples,
        output,
        predictor.task(task).name,
        form,
        options=chosen,
        batch_size=32,
        model="" if output is None else folder_digest(folder, (options or {}).get("dtype")),
    )


def _read(
    questions: str | Path,
    output: str | Path | None,
    form: Form | None,
    columns: Mapping[str, Any] | None,
    usual: Mapping[str, Any] | None = None,
) -> list[Any]:
    if output is not None:
        if form not in (None, "full"):
            raise ValueError(f"A file holds the full form. Received: --format {form}")
        _check_output(Path(output), Path(questions))
    return read_questions(questions, columns, usual)


def _predict(
    predictor: Any,
    examples: list[Any],
    output: str | Path | None,
    name: str,
    form: Form | None,
    *,
    options: Mapping[str, Any],
    batch_size: int,
    model: str,
) -> None:
    """Writes the predictions of examples to a file or prints them."""
    examples = askable(predictor, name, examples)
    if output is not None:
        answer_all(
            predictor,
            examples,
            Path(output),
            task=name,
            options=options,
            batch_size=batch_size,
            model=model,
        )
        return
    results = predictor.predict(examples, task=name, batch_size=batch_size, **options)
    predictions = (
        prediction_of(example.id, result, name)
        for example, result in zip(examples, results, strict=True)
    )
    _print(predictions, form or ("answers" if sys.stdout.isatty() else "full"))


def _check_output(output: Path, questions: Path) -> None:
    if output.is_dir():
        raise ValueError(f"The output is a folder. Received: --output {output}")
    if output.exists() and not output.is_file():
        raise ValueError(
            "The output is read again to resume, which needs a file; without --output the "
            f"predictions are printed. Received: --output {output}"
        )
    if output.suffix == ".gz":
        raise ValueError(f"Predictions are not compressed. Received: --output {output}")
    if output.exists() and questions.exists() and output.samefile(questions):
        raise ValueError(f"The output would replace the input. Received: --output {output}")


def _print(predictions: Iterable[Prediction], form: Form) -> None:
    if form == "squad":
        texts: Mapping[str, str] = {prediction.id: prediction.answer for prediction in predictions}
        print(json.dumps(texts, ensure_ascii=False, indent=2))
        return
    for prediction in predictions:
        record: Any = prediction.to_json()
        print(prediction.answer if form == "answers" else json.dumps(record, ensure_ascii=False))
        sys.stdout.flush()

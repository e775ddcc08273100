"""Predicts the examples of a file with a run or another predictor."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from tfmrc.evaluation import Prediction
from tfmrc.experiments.answering import (
    answer_all,
    askable,
    folder_digest,
    prediction_of,
    run_digest,
)
from tfmrc.experiments.predictor import load_with, settings_of
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.sources import read_questions, table_columns

Form = Literal["answers", "full", "squad"]

__all__ = ["predict"]


def predict(
    folder: str | Path,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    settings: Experiment | None = None,
    options: Mapping[str, Any] | None = None,
    task: str | None = None,
    form: Form | None = None,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Predicts the examples of a file.

    Args:
        folder: str or path. A run, a saved predictor or a reader of Hugging Face.
        questions: str or path. A file of any format of `tfmrc.data.read_file`: a table (CSV, TSV,
            JSON, Parquet) with `question` and `passage`, or with the columns that the run's own
            table has; tfmrc's JSON lines; or an official format.
        output: str, path or None. File of predictions, one JSON object per line. The file of an
            interrupted command is continued: predictions of the same model, options and examples
            are not computed again. A file with other content is left unchanged. Default: standard
            output.
        settings: `Experiment` or None. Settings of the run, in place of those in its folder.
            Default: None.
        options: dict or None. Options of the predictor, such as `num_beams`, beside those of a
            run's settings; `dtype` for a reader of Hugging Face. Default: None.
        task: str or None. Name of a task of the predictor; for Masque a style. Default: the first
            one.
        form: str or None. Format of standard output: `answers` (only the texts), `full` (JSON
            lines) or `squad` (one JSON object from id to text). Default: the texts on a terminal,
            JSON lines elsewhere.
        columns: dict or None. Columns of a table with other names, as in
            `{"question": "Frage", "passages": "Text"}`. Default: None.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If the run is not trained or has other settings, the task is unknown, a line is
            broken, two examples have the same id, or `output` is the input or has other content.
    """
    if output is not None:
        if form not in (None, "full"):
            raise ValueError(f"A file holds the full form. Received: --format {form}")
        _check_output(Path(output), Path(questions))
    settings = settings_of(folder, settings)
    usual = None if settings is None else table_columns(settings)
    examples = read_questions(questions, columns, usual)
    predictor, chosen = load_with(folder, settings, options)
    name = predictor.task(task).name
    examples = askable(predictor, name, examples)
    batch_size = 32 if settings is None else settings.evaluation.batch_size
    if output is not None:
        answer_all(
            predictor,
            examples,
            Path(output),
            task=name,
            options=chosen,
            batch_size=batch_size,
            model=_digest(folder, settings, options),
        )
        return
    results = predictor.predict(examples, task=name, batch_size=batch_size, **chosen)
    predictions = (
        prediction_of(example.id, result, name)
        for example, result in zip(examples, results, strict=True)
    )
    _print(predictions, form or ("answers" if sys.stdout.isatty() else "full"))


def _digest(
    folder: str | Path, settings: Experiment | None, options: Mapping[str, Any] | None
) -> str:
    if settings is None:
        return folder_digest(folder, (options or {}).get("dtype"))
    return run_digest(settings, Path(folder))


def _check_output(output: Path, questions: Path) -> None:
    if output.exists() and not output.is_file():
        raise ValueError(
            "The output is read again to resume, which needs a file; without --output the "
            f"predictions are printed. Received: --output {output}"
        )
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

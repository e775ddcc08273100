"""Predicts the examples of a file with a run or another predictor."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Unpack

from tfmrc.data import Example, RecordError
from tfmrc.evaluation import Prediction
from tfmrc.experiments.answering import (
    WINDOW,
    askable,
    predictions_of,
    write_answers,
)
from tfmrc.experiments.loaded import open_model
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.predictors.results.result import best_guess
from tfmrc.utils.pipes import print_json, print_text
from tfmrc.utils.progress import show_progress

Form = Literal["answers", "full", "squad"]

__all__ = ["predict"]


@show_progress()
def predict(
    folder: str | Path,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    task: str | None = None,
    form: Form | None = None,
    **reading: Unpack[Reading],
) -> list[RecordError]:
    """Predicts the examples of a file, of which nothing but question and passages must be right.

    Args:
        folder: str or path. A run, a saved predictor or a reader of Hugging Face.
        questions: str or path. A file of any format of `tfmrc.data.read_file`: a table (CSV, TSV,
            JSON, Parquet) with `question` and `passage`, or with the columns that the run's own
            table has; tfmrc's JSON lines; or an official format.
        output: str, path or None. File of predictions, one JSON object per line. The file of an
            interrupted command is continued: predictions of the same model, options and examples
            are not computed again. A file with other content is left unchanged. Default: standard
            output.
        options: dict or None. Options of the predictor, such as `num_beams`, beside those of a
            run's settings; `dtype` for a reader of Hugging Face. Default: None.
        task: str or None. Name of a task of the predictor; for Masque a style. Default: the first
            one.
        form: str or None. Format of standard output: `answers` (only the texts), `full` (JSON
            lines) or `squad` (one JSON object from id to text). Default: the texts on a terminal,
            JSON lines elsewhere.
        **reading: As of `tfmrc.experiments.evaluate`; but by default a broken record gets an
            `error` in place of an answer (`on_error="skip"`).

    Returns:
        The first 20 errors of broken records; their number and the first five are also printed on
        standard error.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If the run is not trained, the task is unknown, a line is broken, two examples
            have the same id, or `output` is the input or has other content.
    """
    if output is not None:
        if form not in (None, "full"):
            raise ValueError(f"A file holds the full form. Received: --format {form}")
        _check_output(Path(output), Path(questions))
    model = open_model(folder, options)
    reading["on_error"] = reading.get("on_error") or "skip"
    usual = model.table_options
    rows, account = read_questions(questions, labels="none", usual=usual, **reading)
    predictor, name = model.predictor, model.predictor.task(task).name

    def read() -> Iterator[Example | RecordError]:
        return askable(predictor, name, rows)

    if output is not None:
        write_answers(
            predictor,
            read,
            Path(output),
            task=name,
            options=model.options,
            batch_size=model.batch_size,
            model=model.digest,
        )
    else:
        is_terminal = sys.stdout.isatty()
        window = None if is_terminal else WINDOW  # somebody waits
        predictions = predictions_of(
            predictor, read(), name, model.options, model.batch_size, window
        )
        with show_progress(not is_terminal):
            _print(predictions, form or ("answers" if is_terminal else "full"))
    account.print(Path(questions).name)
    return account.errors


def _check_output(output: Path, questions: Path) -> None:
    if output.exists() and not output.is_file():
        raise ValueError(
            "The output is read again to resume, which needs a file; without --output the "
            f"predictions are printed. Received: --output {output}"
        )
    if output.exists() and questions.exists() and output.samefile(questions):
        raise ValueError(f"The output would replace the input. Received: --output {output}")


def _print(predictions: Iterable[Prediction], form: Form) -> None:
    if form == "squad":  # where an empty text means "no answer"
        print_json({one.id: one.answer if _is_confident(one) else "" for one in predictions})
        return
    for one in predictions:
        if form == "answers":
            print_text(one.answer if _is_confident(one) else best_guess(one.answer))
        else:
            print_json(one.to_json(), indent=None)


def _is_confident(prediction: Prediction) -> bool:
    return bool(prediction.scores.get("is_confident", True))

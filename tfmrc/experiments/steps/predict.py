"""Predicts the examples of a file with a run or another predictor."""

import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from tfmrc.data import Example, RecordError
from tfmrc.data.formats.detect import has_questions
from tfmrc.documents import load as load_documents
from tfmrc.evaluation import Prediction
from tfmrc.experiments.answering import WINDOW, Asked, Predicts, predictions_of, write_answers
from tfmrc.experiments.loaded import Loaded, open_model
from tfmrc.experiments.steps.tables import ask_table, predict_table
from tfmrc.experiments.tables.reading import Reading, read_questions, without_passages
from tfmrc.experiments.tables.writing import SHEETS, new_table
from tfmrc.predictors.results.result import best_guess
from tfmrc.utils.pipes import print_json, print_text
from tfmrc.utils.progress import show_progress

if TYPE_CHECKING:
    from tfmrc.predictors.openvino import Runtime

Form = Literal["answers", "full", "squad"]


@show_progress()
def predict(
    folder: str | Path,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    task: str | None = None,
    form: Form | None = None,
    sort: bool = False,
    documents: str | Path | None = None,
    runtime: "Runtime" = "auto",
    **reading: Unpack[Reading],
) -> list[RecordError]:
    """Predicts the examples of a file; their labels are not read.

    A model that asks also takes a table of passages without questions. With documents,
    only the questions are read, and every answer has its place in a document.

    Args:
        folder: str or path. A run, a saved predictor or a reader of Hugging Face.
        questions: str or path. A file of any format of `tfmrc.data.read_file`: a table (CSV, TSV,
            JSON, Parquet) with `question` and `passage`, or with the columns that the run's own
            table has; tfmrc's JSON lines; or an official format.
        output: str, path or None. File of predictions, one JSON object per line, or a new table
            (`.csv`, `.tsv` or `.xlsx`), which `tfmrc init` reads as training data: see `row_of` of
            `tfmrc.experiments.tables.writing`. The file of an interrupted command is continued:
            predictions of the same model, options and examples are not computed again. A file with
            other content is left unchanged. Default: standard output.
        options: dict or None. Options of the predictor, such as `num_beams`, beside those of a
            run's settings; `dtype` for a reader of Hugging Face. Default: None.
        task: str or None. Name of a task of the predictor; for Masque a style. Default: the first
            one.
        form: str or None. Format of standard output: `answers` (only the texts), `full` (JSON
            lines) or `squad` (one JSON object from id to text). Default: the texts on a terminal,
            JSON lines elsewhere.
        sort: bool. Whether the least certain answers of a table come first. Default: False.
        documents: str, path or None. An index of documents to answer from, as of
            `tfmrc.documents.load`. Default: None.
        runtime: str. What computes the model, as of `tfmrc.load`. Default: "auto".
        **reading: As of `tfmrc.experiments.evaluate_file`; but by default a broken record gets an
            `error` in place of an answer (`on_error="skip"`).

    Returns:
        The first 20 errors of broken records; their number and the first five are also printed on
        standard error.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If the run is not trained, the task is unknown, a line is broken, two examples
            have the same id, or `output` is the input or has other content.
    """
    is_table = str(output).endswith(SHEETS)
    if sort and not is_table:
        raise ValueError(f"--sort needs a table: --output FILE.csv. Received: --output {output}")
    if output is not None and form not in (None, "full"):
        raise ValueError(
            "--format is for standard output; a file always has the full form. "
            f"Received: --format {form}"
        )
    target = None if output is None else _target(Path(output), Path(questions), is_table)
    model = open_model(folder, options, runtime=runtime)
    reading["on_error"] = reading.get("on_error") or "skip"
    usual = model.table_options
    columns = reading.get("columns") or usual.get("columns") or {}
    if documents is not None:
        reading["columns"] = without_passages(questions, columns)
    elif not has_questions(questions, columns):
        account = ask_table(model, questions, target, sort, reading)
        account.print(Path(questions).name)
        return account.errors
    rows, account = read_questions(questions, labels="none", usual=usual, **reading)
    task = model.predictor.task(task).name
    read = partial(rows.mapped, Asked.of(model.predictor, task))
    found = nullcontext() if documents is None else load_documents(documents, model.predictor)
    with found as collection:
        answerer: Predicts = collection or model.predictor
        if target is None:
            _print(answerer, model, read(), task, form)
        else:
            lines = target.with_name(f"{target.name}.jsonl") if is_table else target
            write_answers(
                answerer,
                read,
                lines,
                task=task,
                options=model.options,
                batch_size=model.batch_size,
                model=" ".join([model.digest, *([collection.digest] if collection else [])]),
            )
            if is_table:
                predict_table(rows, read(), lines, target, sort)
    account.print(Path(questions).name)
    return account.errors


def _target(output: Path, questions: Path, is_table: bool) -> Path:
    """Returns the path of the output, which must be a new table or a file of predictions."""
    if is_table:
        return new_table(output)
    if output.exists() and not output.is_file():
        raise ValueError(
            "The output is read again to resume, which needs a file; without --output the "
            f"predictions are printed. Received: --output {output}"
        )
    if output.exists() and questions.exists() and output.samefile(questions):
        raise ValueError(f"The output would replace the input. Received: --output {output}")
    return output


def _print(
    answerer: Predicts,
    model: Loaded,
    records: Iterable[Example | RecordError],
    task: str,
    form: Form | None,
) -> None:
    """Prints the predictions."""
    is_terminal = sys.stdout.isatty()
    window = None if is_terminal else WINDOW  # somebody waits
    form = form or ("answers" if is_terminal else "full")
    with show_progress(not is_terminal):
        predictions = predictions_of(
            answerer, records, task, model.options, model.batch_size, window
        )
        if form == "squad":  # where an empty text means "no answer"
            print_json({one.id: one.answer if _is_confident(one) else "" for one in predictions})
            return
        for one in predictions:
            if form == "answers":
                guess = best_guess(one.answer, one.scores.get("probability"))
                print_text(one.answer if _is_confident(one) else guess)
            else:
                print_json(one.to_json(), indent=None)


def _is_confident(prediction: Prediction) -> bool:
    return bool(prediction.scores.get("is_confident", True))

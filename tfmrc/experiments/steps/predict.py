"""Predicts the examples of a file with a trained run."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from tfmrc import data
from tfmrc.evaluation import Prediction
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.answering import answer_all, model_digest, prediction_of
from tfmrc.experiments.grid import single_run
from tfmrc.experiments.predictor import load_run
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.sources import unique

Form = Literal["answers", "full", "squad"]
FORMS: tuple[Form, ...] = ("answers", "full", "squad")

__all__ = ["FORMS", "predict"]


def predict(
    experiment: Experiment,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    task: str | None = None,
    form: Form | None = None,
    run: str | Path | None = None,
) -> None:
    """Predicts the examples of a file.

    Args:
        experiment: Says how answers are searched for.
        questions: Examples as JSON lines: `id`, `question`, `passages`.
        output: File of predictions, one JSON object per line; standard output unless given. A
            file that an interrupted command has begun is continued: what it holds of the same
            model, options and examples is not predicted again. A file that holds something else
            is left as it is.
        task: Name of a task of the predictor, of Masque a style; the first one unless given.
        form: Form on standard output: `answers` (the texts alone), `full` (JSON lines) or `squad`
            (one JSON object from id to text). By default the texts on a terminal and JSON lines
            elsewhere.
        run: The run's folder; `runs/NAME` unless given.

    Raises:
        ValueError: The run is not trained, the task is unknown, a line is broken, two examples
            have one id, or `output` is the input or holds something else.
    """
    folder = folders.run_folder(experiment, run)
    if output is not None:
        _check_output(Path(output), Path(questions))
    examples = list(unique(data.read_examples(questions), str(questions)))
    predictor = load_run(single_run(experiment, folder))
    name = predictor.task(task).name
    chosen = experiment.evaluation
    if output is not None:
        if form not in (None, "full"):
            raise ValueError(f"A file holds the full form. Received: --format {form}")
        answer_all(
            predictor,
            examples,
            Path(output),
            task=name,
            options=chosen.options,
            batch_size=chosen.batch_size,
            model=model_digest(folder / folders.PREDICTOR),
        )
        return
    results = predictor.predict(examples, task=name, batch_size=chosen.batch_size, **chosen.options)
    predictions = (
        prediction_of(example.id, result, name)
        for example, result in zip(examples, results, strict=True)
    )
    _print(predictions, form or ("answers" if sys.stdout.isatty() else "full"))


def _check_output(output: Path, questions: Path) -> None:
    if output.is_dir():
        raise ValueError(f"The output is a folder. Received: --output {output}")
    if output.exists() and questions.exists() and output.samefile(questions):
        raise ValueError(f"The output would replace the input. Received: --output {output}")


def _print(predictions: Iterable[Prediction], form: Form) -> None:
    if form == "squad":
        texts: Mapping[str, str] = {found.id: found.answer for found in predictions}
        print(json.dumps(texts, ensure_ascii=False, indent=2))
        return
    for found in predictions:
        record: Any = found.to_json()
        print(found.answer if form == "answers" else json.dumps(record, ensure_ascii=False))
        sys.stdout.flush()

"""Scores a saved predictor, or a reader of Hugging Face, on the questions of a file."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tfmrc.data import Example
from tfmrc.evaluation import RULES, Report
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.answering import askable, folder_digest
from tfmrc.experiments.loading import load as load_settings
from tfmrc.experiments.predictor import check_exists, load_saved
from tfmrc.experiments.settings import Evaluation, Experiment, Source
from tfmrc.experiments.sources import Splits, read_questions, table_columns
from tfmrc.experiments.steps.evaluate import (
    Tested,
    add_baselines,
    compare_with_baselines,
    report_of,
    score_source,
)

__all__ = ["evaluate_with"]

RULE_NAMES = ("squad", "adversarial", *RULES)


def evaluate_with(
    folder: str | Path,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    rules: str = "plain",
    options: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] | None = None,
    batch_size: int = 32,
) -> Report:
    """Answers the questions of a file with a saved predictor and scores the answers.

    Baselines without a model are scored beside it. Where the file has questions without an answer
    and the model says how probable an answer is, SQuAD 2.0's scores are added, at the given
    threshold and at the one that is best on this file: chosen on held-out questions, that is the
    value of the option `no_answer_threshold`.

    Args:
        folder: str or path. A run, a saved predictor or a reader of Hugging Face.
        questions: str or path. A file of any format of `tfmrc.data.read_file`, with answers. A
            table is read with the columns of the run's own.
        output: str, path or None. Folder for `metrics.json`, `report.md` and the predictions, which
            an interrupted command continues. Default: None, nothing is written.
        rules: str. Rules of scoring: a name of `tfmrc.evaluation.RULES`, or `squad` for exact match
            and F1 alone, or `adversarial`. Default: "plain".
        options: dict or None. Options of the predictor, such as `num_beams`. Default: None, those
            of a run's settings.
        columns: dict or None. Columns of a table with other names, as in
            `{"question": "Frage", "passages": "Text"}`. Default: None.
        batch_size: int. Questions per batch. Default: 32.

    Returns:
        The report.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If the rules are unknown, no question has an answer, a line is broken, or two
            examples have the same id.
    """
    if rules not in RULE_NAMES:
        raise ValueError(f"The rules are one of {sorted(RULE_NAMES)}. Received: rules={rules!r}")
    questions = Path(questions)
    check_exists(folder)
    settings_of_run = Path(folder) / folders.CONFIG if folders.is_run(Path(folder)) else None
    before = None if settings_of_run is None else load_settings(settings_of_run)
    usual = None if before is None else table_columns(before)
    examples = read_questions(questions, columns, usual)
    predictor, chosen = load_saved(folder, options)
    digest = folder_digest(folder, (options or {}).get("dtype"))
    styles = tuple(dict.fromkeys(task.style for task in predictor.tasks if task.style is not None))
    examples = _in_style(examples, styles)
    source = Source("examples", styles, test=str(questions), title="own data", rules=rules)
    if not any(example.answers for example in examples):
        raise ValueError(f"Scores need answers. Received: none in {questions}")
    if all(task.target == "question" for task in predictor.tasks):
        examples = askable(predictor, predictor.tasks[0].name, examples)
    prefixes = {} if before is None else before.evaluation.prefixes
    settings = Evaluation(options=chosen, meteor=False, batch_size=batch_size, prefixes=prefixes)
    name = Path(folder).resolve().name
    title = f"{name} on {questions.name}"
    experiment = Experiment(name, (source,), {}, title=title, evaluation=settings)
    tested = Tested(0, Splits(source, test=examples), examples, examples)
    with TemporaryDirectory() as temporary:
        target = Path(temporary if output is None else output)
        target.mkdir(parents=True, exist_ok=True)
        scores = score_source(experiment, predictor, digest, tested, target, name)
        report = report_of(experiment, tested, [], scores.systems, None, model=digest)
        add_baselines(report, experiment, tested, scores.main)
        compare_with_baselines(report, [name], scores.systems, scores.written)
        if output is not None:
            report.write(target)
    print(report.markdown())
    return report


def _in_style(examples: list[Example], styles: tuple[str, ...]) -> list[Example]:
    """Returns the examples; answers of one other style are those of the predictor's one style."""
    written = {style for example in examples for style in example.answers}
    if len(styles) != 1 or len(written) != 1 or written == set(styles):
        return examples
    (style,) = styles
    return [
        replace(example, answers={style: next(iter(example.answers.values()))})
        if example.answers
        else example
        for example in examples
    ]

"""Scores runs, grids and other predictors on questions, beside baselines and the papers' figures.

Each goes one way: questions, predictions in files, scores, report.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from tfmrc.data import Example
from tfmrc.evaluation import Report, Scores, mean_of_runs, read_metrics, summary
from tfmrc.evaluation.metrics.rules import check_rules
from tfmrc.experiments import pictures, run_folder as folders
from tfmrc.experiments.answering import Asked
from tfmrc.experiments.examples.files import data_folder
from tfmrc.experiments.examples.sources import limited
from tfmrc.experiments.loaded import Loaded, ensemble_of, open_model
from tfmrc.experiments.plan import Plan, is_grid, members, trained_below
from tfmrc.experiments.reporting import (
    add_baselines,
    compare,
    facts_of,
    model_details,
    new_report,
    questions_digest,
    system_name,
    training_details,
    worst_of,
)
from tfmrc.experiments.scoring import (
    EvaluationSet,
    PredictionFile,
    SourceResults,
    TaskPredictions,
    evaluation_sets,
    option_sets,
    score_model,
    score_set,
)
from tfmrc.experiments.settings import Evaluation, Experiment, Source, read_settings
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.utils.progress import show_progress

START = "start"  # the folder of the answers of the model that training started from


# === Runs and grids ===


@show_progress()
def evaluate_run(
    folder: str | Path,
    *,
    settings: Experiment | None = None,
    data: str | Path | None = None,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Report]:
    """Answers the test examples of a trained run or grid and scores the answers.

    For each source with a test file, `evaluation/SOURCE/` in the run's folder gets `metrics.json`
    (each score with its scorer, version, tokenisation, size, split and seed), `report.md` (the
    table with the paper's figures), the predictions, and the figures that the model supports, as
    PNG and SVG. The model that training started from is one of the baselines.

    A grid also gets a table of its runs, with means and deviations over the seeds. It is made from
    the predictions in their folders; only runs that are not evaluated yet, or with another model,
    other options or other questions, are evaluated first.

    Args:
        folder: str or path. The run or the grid.
        settings: `Experiment` or None. Settings in place of those in the folder. Default: None.
        data: str, path or None. The data folder. Default: that of the training.
        variants: list of str or None. Variants of the grid; None for all that are trained.
            Default: None.
        seeds: list of int or None. Seeds; None for those of the grid that are trained.
            Default: None.

    Returns:
        A report for each source: of the run, or of the grid's table.

    Raises:
        ValueError: If no run is trained, settings of the trained model differ, the data does not
            exist, or there is nothing to score.
        RunLockedError: If another process evaluates one of the runs.
    """
    root = Path(folder)
    experiment = settings or read_settings(root / folders.CONFIG)
    place = data_folder(data or folders.remembered_data(root), experiment)
    runs = _trained(experiment, root, members(experiment, root, variants, seeds, place))
    with ExitStack() as locks:  # two processes would write the same files
        for path in dict.fromkeys((root, *(run.folder for run in runs))):
            (path / folders.EVALUATION).mkdir(parents=True, exist_ok=True)
            locks.enter_context(folders.locked(path / folders.EVALUATION))
        if is_grid(experiment) or seeds:
            return _evaluate_grid(experiment, runs, root)
        model = open_model(root, settings=experiment)
        return [_evaluate_member(runs[0], model, test)[0] for test in evaluation_sets(runs[0])]


def _trained(experiment: Experiment, root: Path, plans: Sequence[Plan]) -> list[Plan]:
    """Returns the trained runs among the plans, each with the variant that it was trained as."""
    runs = [plan for plan in plans if plan.is_trained]
    if not runs:
        others = ", ".join(path.name for path in trained_below(root))
        raise ValueError(
            f"{root} has the trained runs {others}; choose with `--variants` and `--seeds`."
            if others
            else f"{root} has no trained run: `tfmrc train` makes it."
        )
    folders.check_trained(experiment, root)
    return [replace(run, variant=facts_of(run)["variant"]) for run in runs]


def _evaluate_grid(experiment: Experiment, runs: Sequence[Plan], root: Path) -> list[Report]:
    """Evaluates the runs that are not evaluated yet, and writes the table of all.

    Variants that are tested on other examples than the first one are not in the table.
    """
    tables: dict[int, tuple[EvaluationSet, Variants]] = {}
    models: dict[str, list[Loaded]] = {}
    tests: list[EvaluationSet] = []
    for run in runs:
        tests = evaluation_sets(run, tests)
        model = open_model(run.folder, settings=run.experiment)
        if experiment.evaluation.ensemble:
            models.setdefault(run.variant, []).append(model)
        for test in tests:
            results = _saved_results(run, model, test)
            if results is None:
                results = _evaluate_member(run, model, test, in_grid=True)[1]
            first, variants = tables.setdefault(test.number, (test, {}))
            if first.examples == test.examples:
                variants.setdefault(run.variant, []).append(results)
            else:
                print(f"{run.folder} is tested on other questions and in no table.")
    for test, variants in tables.values():
        for variant, several in models.items():
            if variant in variants and len(several) > 1:
                folder = test.folder_in(root) / f"ensemble-{variant}".rstrip("-")
                name = system_name(experiment.name, variant, "ensemble")
                results = score_model(
                    ensemble_of(several), test, folder, name, experiment.evaluation
                )
                variants[f"{variant}\tensemble"] = [results]
    return [_write_table(experiment, runs, root, *table) for table in tables.values()]


def _evaluate_member(
    run: Plan, model: Loaded, test: EvaluationSet, in_grid: bool = False
) -> tuple[Report, SourceResults]:
    """Scores a run on a source and writes its report."""
    settings, folder = run.experiment, test.folder_in(run.folder)
    report, results = _evaluate(
        model,
        test,
        folder,
        settings.evaluation,
        system_name(settings.name, run.variant),
        start=None if in_grid else settings,
        title=settings.title or settings.name,
        details=_details(run, model),
        seed=run.seed,
    )
    pictures.draw_run(run, model.predictor, results, folder, report)
    report.write(folder)
    if not in_grid:
        _print(report, folder)
    return report, results


def _saved_results(run: Plan, model: Loaded, test: EvaluationSet) -> SourceResults | None:
    """Scores the predictions in a run's folder; returns None if they are not of its present model.

    `metrics.json` says of which model, options and questions they are.
    """
    folder, settings = test.folder_in(run.folder), run.experiment.evaluation
    if not (folder / "metrics.json").is_file():
        return None
    metrics = read_metrics(folder / "metrics.json")
    files = [PredictionFile(**facts) for facts in metrics.get("predictions", ())]
    details = {**_details(run, model), "Questions": questions_digest(test.examples)}
    system = system_name(run.experiment.name, run.variant)
    options = {system_name(system, name): given for name, given in option_sets(settings).items()}
    is_current = metrics["details"] == details and options == {f.system: f.options for f in files}
    if not is_current or not all((folder / file.file).is_file() for file in files):
        return None
    return score_set(files, test, folder, meteor=settings.meteor)


def _details(run: Plan, model: Loaded) -> dict[str, str]:
    training = training_details(run.experiment, [run])
    return {**training, **model_details(model.digest, run.experiment.evaluation.options)}


Variants = dict[str, list[SourceResults]]
"""Results by variant, one for each seed; "VARIANT\\tensemble" are those of an ensemble."""


def _write_table(
    experiment: Experiment,
    runs: Sequence[Plan],
    root: Path,
    test: EvaluationSet,
    variants: Variants,
) -> Report:
    """Writes means and deviations over the seeds of every variant, samples and figures."""
    means: dict[str, list[Scores]] = {}
    tasks: dict[str, list[TaskPredictions]] = {}
    settings = experiment.evaluation
    for results in variants.values():
        for name in results[0].systems:
            several = [run.systems[name] for run in results if name in run.systems]
            means.setdefault(name, _means(several))
        tasks = {**results[0].tasks, **tasks}
    runs = [run for run in runs if run.variant in variants]
    seeds, folder = {run.seed for run in runs}, test.folder_in(root)
    start = _start_scores(experiment, test, folder, settings)
    report = new_report(
        test,
        {**means, **start},
        title=f"{experiment.title or experiment.name}: {len(runs)} runs",
        details={**training_details(experiment, runs), **model_details("", settings.options)},
        seed=next(iter(seeds)) if len(seeds) == 1 else None,
        samples=settings.samples,
    )
    every = [task for several in tasks.values() for task in several]
    add_baselines(report, test, every, settings.samples)
    first, *others = [name for name in means if name in tasks]
    for name in others:
        report.compare(name, first)
    compare(report, tasks, [*(name for name in means if name not in tasks), *start])
    pictures.draw_table(runs, tasks, test, folder, report)
    report.write(folder)
    _print(report, folder)
    return report


def _means(runs: Sequence[Sequence[Scores]]) -> list[Scores]:
    """Returns the means of the scores of several runs; scores that a run lacks are left out."""
    first, *others = [{(s.rules, s.rows[0].name): s for s in run if s.rows} for run in runs]
    return [
        mean_of_runs([scores, *(run[kind] for run in others)])
        for kind, scores in first.items()
        if all(kind in run for run in others)
    ]


# === The questions of a file ===


@show_progress()
def evaluate_file(
    folder: str | Path,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    rules: str = "plain",
    limit: int | None = None,
    options: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> Report:
    """Scores any model on the questions of a file.

    Where some questions have no answer, exact match and F1 count refusals as SQuAD 2.0 does: an
    answer below the threshold, which is not confident, is one.

    Args:
        folder: str or path. A run, a saved predictor, a Hugging Face reader or a ready model.
        questions: str or path. A file of any format of `tfmrc.data.read_file`, with answers.
        output: str, path or None. Folder for the report and the predictions, which an interrupted
            command continues. Default: None, nothing is written.
        rules: str. Rules of scoring: a name of `tfmrc.evaluation.RULES`, or `squad` for exact match
            and F1 alone, or `adversarial`. Default: "plain".
        limit: int or None. Largest number of questions, drawn by id; None: all. Default: None.
        options: dict or None. Options of the predictor, such as `num_beams`. Default: None, those
            of a run's settings.
        **reading: `columns`, `blank_answers` and `on_error` of a table, see
            `tfmrc.experiments.tables.reading.read_questions`.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If there is nothing to score, or the rules are unknown.
    """
    check_rules(rules)
    model, file = open_model(folder, options), Path(questions)
    rows, account = read_questions(file, labels="texts", usual=model.table_options, **reading)
    examples = list(limited(rows.examples, limit))
    account.left_out["not drawn (--limit)"] = account.used - len(examples)
    account.used = len(examples)
    tasks = model.predictor.tasks
    styles = tuple(dict.fromkeys(task.style for task in tasks if task.style is not None))
    examples = _in_style(examples, styles)
    if all(task.target == "question" for task in tasks):
        asked = Asked.of(model.predictor, tasks[0].name)
        examples = [one for one in map(asked, examples) if isinstance(one, Example)]
        account.left_out[asked.reason] = account.used - len(examples)
        account.used = len(examples)
    account.print(file.name)
    if not any(example.answers for example in examples):
        raise ValueError(f"Scores need answers. Received: none in {questions}")
    source = Source("examples", styles, test=str(file), title="own data", rules=rules)
    drawn = ", drawn by id" if account.left_out["not drawn (--limit)"] else ""
    split = f"{file}, {len(examples):,} questions{drawn}"
    test = EvaluationSet(model.name, 0, source, examples, examples, split)
    prefixes = {} if model.settings is None else model.settings.evaluation.prefixes
    settings = Evaluation(options=model.options, meteor=False, prefixes=prefixes)
    with TemporaryDirectory() as temporary:
        target = Path(temporary if output is None else output)
        report, _ = _evaluate(
            model,
            test,
            target,
            settings,
            model.name,
            start=model.settings,
            title=f"{model.name} on {file.name}",
            details=model_details(model.digest, model.options),
        )
        if output is not None:
            report.write(target)
    _print(report, None if output is None else target)
    return report


def _in_style(examples: list[Example], styles: tuple[str, ...]) -> list[Example]:
    """Returns the examples; answers of one other style are those of the predictor's one style."""
    given = {style for example in examples for style in example.answers}
    if len(styles) != 1 or len(given) != 1:
        return examples
    (style,), (other,) = styles, given
    return [
        replace(example, answers={style: example.answers[other]}) if example.answers else example
        for example in examples
    ]


# === Both ===


def _evaluate(
    model: Loaded,
    test: EvaluationSet,
    folder: Path,
    settings: Evaluation,
    system: str,
    start: Experiment | None = None,
    **about: Any,
) -> tuple[Report, SourceResults]:
    """Answers and scores test examples, beside baselines.

    Args:
        model: `Loaded`. The model.
        test: `EvaluationSet`. The test examples.
        folder: Path. The folder of the predictions.
        settings: `Evaluation`. Options of the predictor and of scoring.
        system: str. Name of the model in the report.
        start: `Experiment` or None. Settings of a training; the model that it started from is a
            baseline. Default: None.
        **about: Title, details and seed, see `new_report`.

    Returns:
        The report, and the results that it was made from.
    """
    results = score_model(model, test, folder, system, settings)
    systems = {**results.systems, **_start_scores(start, test, folder, settings)}
    report = new_report(test, systems, samples=settings.samples, **about)
    report.predictions = [asdict(file) for file in results.files]
    if any(file.is_text for file in results.files):
        add_baselines(report, test, results.main, settings.samples)
    compare(report, [system], [name for name in systems if name not in results.tasks])
    report.worst = worst_of(report, system, results.main)
    return report, results


def _start_scores(
    experiment: Experiment | None, test: EvaluationSet, folder: Path, settings: Evaluation
) -> dict[str, list[Scores]]:
    """Returns the scores of the model that a training started from, by the name of the system."""
    start = None if experiment is None else experiment.start_from
    if start is None:
        return {}
    if folders.trained_folder(start) is None:
        print(f"{start}, from which training started, is not there and not compared.", flush=True)
        return {}
    name, settings = f"{Path(start).name} (before training)", replace(settings, also={})
    scored = score_model(open_model(start), test, folder / START, name, settings).systems
    return {name: scored[name]} if name in scored else {}


def _print(report: Report, folder: Path | None) -> None:
    """Prints the first scores of a report, and where all of them are."""
    where = "Write all scores with --output FOLDER."
    if folder is not None:
        where = f"Report: {folder / 'report.md'}"
    print("\n".join([*summary(report), where]))


# === Targets ===


def verdict(experiment: Experiment, reports: Iterable[Report]) -> tuple[list[str], bool]:
    """Compares scores with the targets of an experiment.

    Args:
        experiment: `Experiment`. The experiment, with `evaluation.targets`.
        reports: iterable of `Report`. Its reports.

    Returns:
        A line per target, and True if all are reached.
    """
    lines, reached = [], True
    variants = ("", *experiment.grid.variants)
    systems = {system_name(experiment.name, variant) for variant in variants}
    found = [report.systems[name] for report in reports for name in systems & {*report.systems}]
    for name, target in experiment.evaluation.targets.items():
        rows = [scores[name] for scores in found if name in scores]
        values = [value for row in rows for value in (row.values or (row.value,))]
        if not values:
            raise ValueError(f"There is no score of this name. Received: evaluation.targets.{name}")
        met = all(value is not None and value >= target for value in values)
        reached = reached and met
        shown = ", ".join(f"{value:.3f}" for value in values)
        lines.append(
            f"{name:<20}  {shown}   target {target:.2f}   {'reached' if met else 'MISSED'}"
        )
    return lines, reached

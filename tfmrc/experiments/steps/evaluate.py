"""Scores runs and saved predictors on test examples, with baselines and the papers' figures."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from tfmrc.data import Example
from tfmrc.evaluation import Report, Scores, mean_of_runs, summary
from tfmrc.evaluation.metrics.rules import check_rules
from tfmrc.experiments import pictures, run_folder as folders
from tfmrc.experiments.answering import Asked
from tfmrc.experiments.classes import check_experiment
from tfmrc.experiments.examples.files import data_folder
from tfmrc.experiments.loaded import Loaded, open_model
from tfmrc.experiments.plan import Plan, is_grid, members, trained_below
from tfmrc.experiments.reporting import (
    add_baselines,
    compare_with_baselines,
    report_of,
    system_name,
    worst_of,
)
from tfmrc.experiments.scoring import (
    EvaluationSet,
    SourceResults,
    TaskPredictions,
    evaluation_sets,
    has_decoder,
    score_source,
)
from tfmrc.experiments.settings import Evaluation, Experiment, Source, read_settings
from tfmrc.experiments.tables.reading import Reading, read_questions
from tfmrc.utils.progress import show_progress

__all__ = ["evaluate", "verdict"]


@show_progress()
def evaluate(
    folder: str | Path,
    questions: str | Path | None = None,
    output: str | Path | None = None,
    *,
    settings: Experiment | None = None,
    data: str | Path | None = None,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    rules: str = "plain",
    options: Mapping[str, Any] | None = None,
    **reading: Unpack[Reading],
) -> list[Report]:
    """Answers test examples and scores the answers.

    Without `questions`, those of a trained run or grid. For each source with a test file,
    `evaluation/SOURCE/` in the run's folder gets `metrics.json` (each score with its scorer,
    version, tokenisation, size, split and seed), `report.md` (the table with the paper's figures),
    the predictions, and the figures that the model supports, as PNG and SVG. A grid also gets a
    table of its runs, with means and deviations over the seeds.

    With `questions`, any predictor on the questions of a file. Where some have no answer and the
    model says how probable an answer is, SQuAD 2.0's scores are added: of the confident answers,
    and at the threshold on "no answer" that is best on this file.

    Args:
        folder: str or path. A run or a grid; with `questions` also a saved predictor or a reader of
            Hugging Face.
        questions: str, path or None. A file of any format of `tfmrc.data.read_file`, with answers.
            Default: None.
        output: str, path or None. Folder for the report and the predictions of `questions`, which
            an interrupted command continues. Default: None, nothing is written.
        settings: `Experiment` or None. Settings of the run, in place of those in its folder.
            Default: None.
        data: str, path or None. The data folder. Default: that of the training.
        variants: list of str or None. Variants of the grid; None for all that are trained.
            Default: None.
        seeds: list of int or None. Seeds; None for those of the grid that are trained.
            Default: None.
        rules: str. Rules of scoring `questions`: a name of `tfmrc.evaluation.RULES`, or `squad` for
            exact match and F1 alone, or `adversarial`. Default: "plain".
        options: dict or None. Options of the predictor for `questions`, such as `num_beams`.
            Default: None, those of a run's settings.
        **reading: How `questions` are read: `columns`, `blank_answers` and `on_error` of
            `tfmrc.experiments.tables.reading.read_questions`.

    Returns:
        The reports; those of a grid's table come last.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If no run is trained, settings of the trained model differ, the data does not
            exist, there is nothing to score, or the rules are unknown.
        RunLockedError: If another process evaluates one of the runs.
    """
    if questions is not None:
        return [_evaluate_file(folder, Path(questions), output, rules, options, reading)]
    root = Path(folder)
    experiment = read_settings(root / folders.CONFIG) if settings is None else settings
    check_experiment(experiment)
    runs = _trained_runs(experiment, root, variants, seeds)
    with ExitStack() as locks:  # two processes would write the same files
        for path in dict.fromkeys((root, *(member.folder for member in runs))):
            (path / folders.EVALUATION).mkdir(parents=True, exist_ok=True)
            locks.enter_context(folders.locked(path / folders.EVALUATION))
        place = data_folder(data or folders.remembered_data(root), experiment)
        is_table = is_grid(experiment) or bool(seeds)
        reports, results = _evaluate_runs(experiment, runs, root, place, is_table)
        for test, of_variants in results if is_table else ():
            reports.append(_write_table(experiment, runs, root, test, of_variants))
        return reports


def _trained_runs(
    experiment: Experiment,
    root: Path,
    variants: Sequence[str] | None,
    seeds: Sequence[int] | None,
) -> list[Plan]:
    runs = [m for m in members(experiment, root, variants, seeds) if m.is_trained]
    if not runs:
        others = ", ".join(path.name for path in trained_below(root))
        raise ValueError(
            f"{root} has the trained runs {others}; choose with `--variants` and `--seeds`."
            if others
            else f"{root} has no trained run: `tfmrc train` makes it."
        )
    folders.check_trained(experiment, root)
    if not is_grid(experiment) and not seeds:  # a run of a grid is known by its variant
        facts = folders.read_json(root / folders.TRAINING, "train")
        runs = [replace(runs[0], variant=facts["variant"])]
    return runs


Variants = dict[str, list[SourceResults]]
"""Results by variant, one for each seed; "VARIANT\tensemble" are those of an ensemble."""


def _evaluate_runs(
    experiment: Experiment, runs: Sequence[Plan], root: Path, data: Path, is_table: bool
) -> tuple[list[Report], list[tuple[EvaluationSet, Variants]]]:
    """Evaluates runs, whose folders are locked.

    Returns:
        A report for each run and source, and the results by source. Variants that are tested on
        other examples than the first one are not among the results.
    """
    reports: list[Report] = []
    results: dict[int, tuple[EvaluationSet, Variants]] = {}
    models: dict[str, list[Loaded]] = {}
    tests: list[EvaluationSet] = []
    for member in runs:
        tests = evaluation_sets(member.experiment, data, root, tests)
        if not tests:
            raise ValueError(
                "No source of the run has test questions. Score the run on a file of questions: "
                f"`tfmrc evaluate {root} --input FILE`. "
                "Received: sources.0.test=null, split.test_share=0"
            )
        model = open_model(member.folder, settings=member.experiment)
        if is_table and experiment.evaluation.ensemble:
            models.setdefault(member.variant, []).append(model)
        for test in tests:
            report, scores = _evaluate_run(experiment, member, model, test)
            reports.append(report)
            if not is_table:
                _print(report, member.folder / folders.EVALUATION / test.folder)
            first, of_variants = results.setdefault(test.number, (test, {}))
            if first.examples == test.examples:
                of_variants.setdefault(member.variant, []).append(scores)
            else:
                print(f"{member.folder} is tested on other questions and in no table.")
    for variant, ensemble in models.items():
        for test, of_variants in results.values():
            if variant in of_variants and len(ensemble) > 1:
                scores = _evaluate_ensemble(experiment, variant, ensemble, test, root)
                of_variants[f"{variant}\tensemble"] = [scores]
    return reports, list(results.values())


def _evaluate_run(
    experiment: Experiment, member: Plan, model: Loaded, test: EvaluationSet
) -> tuple[Report, SourceResults]:
    """Scores a run on a source and writes its report."""
    target = member.folder / folders.EVALUATION / test.folder
    target.mkdir(parents=True, exist_ok=True)
    system = system_name(experiment, member.variant)
    predictor, digest = model.predictor, model.digest
    results = score_source(member.experiment, predictor, digest, test, target, system)
    facts = folders.read_json(member.folder / folders.TRAINING, "train")
    report = report_of(member.experiment, test, [facts], results.systems, member.seed, model=digest)
    if has_decoder(predictor):
        add_baselines(report, experiment, test, results.main)
    compare_with_baselines(report, [system], results.systems, results.tasks)
    pictures.draw_run(member, predictor, test.examples, results.main, target, report.title)
    report.worst = worst_of(report, system, results.main)
    report.write(target)
    return report, results


def _evaluate_ensemble(
    experiment: Experiment,
    variant: str,
    ensemble: Sequence[Loaded],
    test: EvaluationSet,
    root: Path,
) -> SourceResults:
    """Scores the seeds of a variant as one predictor that averages their distributions."""
    from tfmrc.predictors import ensemble_predictor

    digest = " ".join(model.digest for model in ensemble)
    target = root / folders.EVALUATION / test.folder / f"ensemble-{variant}".rstrip("-")
    target.mkdir(parents=True, exist_ok=True)
    predictor = ensemble_predictor([model.predictor for model in ensemble])
    name = system_name(experiment, variant, "ensemble")
    return score_source(ensemble[0].settings or experiment, predictor, digest, test, target, name)


# === A grid's table ===


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
    for results in variants.values():
        for name in results[0].systems:
            several = [run.systems[name] for run in results if name in run.systems]
            means.setdefault(name, _means(several))
        tasks = {**results[0].tasks, **tasks}
    runs = [member for member in runs if member.variant in variants]
    facts = [
        {**folders.read_json(m.folder / folders.TRAINING, "train"), "variant": m.variant}
        for m in runs
    ]
    seeds = {member.seed for member in runs}
    seed = next(iter(seeds)) if len(seeds) == 1 else None
    title = f"{experiment.title or experiment.name}: {len(runs)} runs"
    report = report_of(experiment, test, facts, means, seed, title)
    add_baselines(
        report, experiment, test, [task for several in tasks.values() for task in several]
    )
    first, *others = [name for name in means if name in tasks]
    for name in others:
        report.compare(name, first)
    compare_with_baselines(report, tasks, means, tasks)
    target = root / folders.EVALUATION / test.folder
    pictures.draw_table(experiment, runs, means, tasks, test, target, report)
    report.write(target)
    _print(report, target)
    return report


def _print(report: Report, target: Path | None) -> None:
    """Prints the first scores of a report, and where all of them are."""
    where = "Write all scores with --output FOLDER." if target is None else target / "report.md"
    print("\n".join([*summary(report), f"Report: {where}" if target else str(where)]))


def _means(runs: Sequence[Sequence[Scores]]) -> list[Scores]:
    """Returns the means of the scores of several runs; scores that a run lacks are left out."""
    first, *others = [{(s.rules, s.rows[0].name): s for s in run if s.rows} for run in runs]
    return [
        mean_of_runs([scores, *(run[kind] for run in others)])
        for kind, scores in first.items()
        if all(kind in run for run in others)
    ]


# === The questions of a file ===


def _evaluate_file(
    folder: str | Path,
    questions: Path,
    output: str | Path | None,
    rules: str,
    options: Mapping[str, Any] | None,
    reading: Reading,
) -> Report:
    """Scores a predictor on the questions of a file; see `evaluate`."""
    check_rules(rules)
    model = open_model(folder, options)
    of_run, usual = model.settings, model.table_options
    rows, account = read_questions(questions, labels="texts", usual=usual, **reading)
    examples = list(rows.examples)
    predictor, chosen, digest = model.predictor, model.options, model.digest
    styles = tuple(dict.fromkeys(task.style for task in predictor.tasks if task.style is not None))
    examples = _in_style(examples, styles)
    if all(task.target == "question" for task in predictor.tasks):
        asked = Asked.of(predictor, predictor.tasks[0].name)
        examples = [one for one in map(asked, examples) if isinstance(one, Example)]
        account.left_out[asked.reason] = account.used - len(examples)
        account.used = len(examples)
    account.print(questions.name)
    if not any(example.answers for example in examples):
        raise ValueError(f"Scores need answers. Received: none in {questions}")
    source = Source("examples", styles, test=str(questions), title="own data", rules=rules)
    prefixes = {} if of_run is None else of_run.evaluation.prefixes
    name = model.name
    experiment = Experiment(
        name,
        (source,),
        {},
        title=f"{name} on {questions.name}",
        evaluation=Evaluation(options=chosen, meteor=False, prefixes=prefixes),
    )
    test = EvaluationSet(0, source, examples, examples)
    with TemporaryDirectory() as temporary:
        target = Path(temporary if output is None else output)
        target.mkdir(parents=True, exist_ok=True)
        results = score_source(experiment, predictor, digest, test, target, name)
        report = report_of(experiment, test, [], results.systems, None, model=digest)
        add_baselines(report, experiment, test, results.main)
        compare_with_baselines(report, [name], results.systems, results.tasks)
        report.worst = worst_of(report, name, results.main)
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
    systems = {system_name(experiment, variant) for variant in ("", *experiment.grid.variants)}
    found = [report.systems[name] for report in reports for name in systems & {*report.systems}]
    for name, target in experiment.evaluation.targets.items():
        values = [scores[name].value for scores in found if name in scores]
        if not values:
            raise ValueError(f"There is no score of this name. Received: evaluation.targets.{name}")
        met = all(value is not None and value >= target for value in values)
        reached = reached and met
        shown = ", ".join(f"{value:.3f}" for value in values)
        lines.append(
            f"{name:<20}  {shown}   target {target:.2f}   {'reached' if met else 'MISSED'}"
        )
    return lines, reached

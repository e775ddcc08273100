"""Scores trained runs on their test examples, with baselines and the papers' figures."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.evaluation import Prediction, Report, Scores, mean_of_runs
from tfmrc.experiments import pictures, run_folder as folders
from tfmrc.experiments.answering import answer_all, run_digest
from tfmrc.experiments.plan import (
    Plan,
    check_experiment,
    classes_of,
    is_grid,
    members,
    trained_below,
)
from tfmrc.experiments.predictor import load_run
from tfmrc.experiments.reporting import details_of, paper_figures, split_of
from tfmrc.experiments.scoring import (
    BASELINES,
    Written,
    baselines,
    prefix_of,
    references,
    score,
    score_abstention,
    score_parts,
)
from tfmrc.experiments.settings import Experiment, Source
from tfmrc.experiments.sources import (
    Splits,
    as_sequence,
    data_folder,
    reported,
    splits,
    unique,
)
from tfmrc.experiments.spans import MAX_LENGTH, nearest_texts, with_spans

UPPER_BOUND = "the nearest span (upper bound)"
NamedScores = list[tuple[str, Scores]]
"""Scores of one system, each with the prefix of its names."""


@dataclass(frozen=True)
class Tested:
    """The test examples of a source.

    Attributes:
        number: int. Index of the source.
        part: `Splits`. The source's examples.
        examples: list of `Example`. The examples that are reported on.
        all: list of `Example`. All examples of the test file, which determine the references of
            questions.
        settings: tuple. What determines the examples. Default: ().
    """

    number: int
    part: Splits
    examples: list[Example]
    all: list[Example]
    settings: tuple[Any, ...] = ()

    @property
    def folder(self) -> str:
        """Name of the folder of the source's report."""
        source = self.part.source
        stem = Path(str(source.test)).name.split(".")[0]
        return f"{self.number + 1}-{stem}-{'-'.join(source.styles)}"


@dataclass
class RunScores:
    """Scores and predictions of one run on one source.

    Attributes:
        systems: dict. Scores by system. Default: {}.
        written: dict. Predictions by system, one entry per task. Default: {}.
    """

    systems: dict[str, NamedScores] = field(default_factory=dict)
    written: dict[str, list[Written]] = field(default_factory=dict)

    @property
    def main(self) -> list[Written]:
        """The predictions with the main options."""
        return next(iter(self.written.values()), [])


def evaluate(
    experiment: Experiment,
    data: str | Path | None = None,
    run: str | Path | None = None,
    *,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Path]:
    """Answers the test examples of trained runs and scores the answers.

    For each source with a test file, `evaluation/SOURCE/` in the run's folder gets `metrics.json`
    (each score with its scorer, version, tokenisation, size, split and seed), `report.md` (the
    table with the paper's figures), the predictions, and the figures that the model supports, as
    PNG and SVG. A grid also gets a table of all its runs, with means and deviations over the seeds;
    variants that are tested on other questions get tables of their own.

    Args:
        experiment: `Experiment`. The experiment.
        data: str, path or None. The data folder. Default: that of the training.
        run: str, path or None. The run's folder. Default: `runs/NAME`.
        variants: list of str or None. Variants of the grid; None for all that are trained.
            Default: None.
        seeds: list of int or None. Seeds; None for those of the grid that are trained.
            Default: None.

    Returns:
        The folders that were written; those of a grid's table come last.

    Raises:
        ValueError: If no run is trained, settings of the trained model differ, the data does not
            exist, or no source has a test file.
        RunLockedError: If another process evaluates one of the runs.
    """
    check_experiment(experiment)
    root = folders.run_folder(experiment, run)
    runs = [m for m in members(experiment, root, variants, seeds) if m.is_trained]
    if not runs:
        others = ", ".join(path.name for path in trained_below(root))
        raise ValueError(
            f"{root} has the trained runs {others}, which `--variants` and `--seeds` choose."
            if others
            else f"{root} has no trained run: `tfmrc train` makes it."
        )
    folders.check_trained(experiment, root)
    if not is_grid(experiment) and not seeds:  # a run of a grid is known by its variant
        facts = folders.read_json(root / folders.TRAINING, "train")
        runs = [replace(runs[0], variant=facts["variant"])]
    with ExitStack() as locks:  # two processes would write the same files
        for folder in dict.fromkeys((root, *(member.folder for member in runs))):
            (folder / folders.EVALUATION).mkdir(parents=True, exist_ok=True)
            locks.enter_context(folders.locked(folder / folders.EVALUATION))
        return _evaluate_runs(experiment, data, root, runs, is_table=bool(seeds))


def _evaluate_runs(
    experiment: Experiment,
    data: str | Path | None,
    root: Path,
    runs: Sequence[Plan],
    *,
    is_table: bool,
) -> list[Path]:
    """Evaluates runs whose folders are locked; see `evaluate`."""
    source_folder = data_folder(data or folders.remembered_data(root), experiment)
    scores_of: dict[str, dict[int, list[RunScores]]] = {}
    tested: list[Tested] = []
    tested_of: dict[str, list[Tested]] = {}
    written: list[Path] = []
    loaded: dict[Path, Any] | None = {} if experiment.evaluation.ensemble else None
    for member in runs:
        tested = test_sets(member.experiment, source_folder, root, tested)
        if not tested:
            raise ValueError(
                "No source of the run names a test file. Score the run on a file of questions with "
                f"`tfmrc evaluate {root} --input FILE`, or name one: --set sources.0.test=FILE. "
                "Received: sources.0.test=null"
            )
        tested_of[member.variant] = tested
        for number, scores in evaluate_run(experiment, member, tested, loaded).items():
            scores_of.setdefault(member.variant, {}).setdefault(number, []).append(scores)
        written += [member.folder / folders.EVALUATION / each.folder for each in tested]
    if is_grid(experiment) or is_table:
        if loaded is not None:
            _evaluate_ensembles(experiment, root, runs, tested_of, scores_of, loaded)
        for each, variants in _tables(tested_of):
            target = root / folders.EVALUATION / each.folder
            if target in written:  # other questions of the same file
                target = target.with_name(f"{each.folder}-{variants[0]}")
            alike = [member for member in runs if member.variant in variants]
            alike_scores = {k: v for k, v in scores_of.items() if k.split("\t")[0] in variants}
            _write_table(experiment, each, alike, alike_scores, target)
            written.append(target)
        _remove_old_tables(tested_of, root / folders.EVALUATION, written)
    return written


def _remove_old_tables(
    tested_of: Mapping[str, Sequence[Tested]], folder: Path, written: Sequence[Path]
) -> None:
    """Removes the tables of variants that were tested on other questions before, and now are not.

    What is no table of ours stays.
    """
    for variant, tested in tested_of.items():
        for each in tested:
            old = folder / f"{each.folder}-{variant}"
            if old in written or old.is_symlink() or not (old / "metrics.json").is_file():
                continue
            try:
                evaluation.read_metrics(old / "metrics.json")
            except ValueError:
                continue
            shutil.rmtree(old)
            print(f"Removed {old}: `{variant}` is in another table now.", flush=True)


def _tables(tested_of: Mapping[str, Sequence[Tested]]) -> list[tuple[Tested, list[str]]]:
    """Returns the sets of test examples, each with the variants that were tested on it."""
    tables: list[tuple[Tested, list[str]]] = []
    for variant, tested in tested_of.items():
        for each in tested:
            for known, variants in tables:
                if (known.number, known.folder) == (each.number, each.folder) and (
                    known.examples is each.examples or known.examples == each.examples
                ):
                    variants.append(variant)
                    break
            else:
                tables.append((each, [variant]))
    if any(len(variants) < len(tested_of) for _, variants in tables):
        print("Not all variants are tested on the same questions: a table for each set of them.")
    return tables


def test_sets(
    experiment: Experiment, data: Path, root: Path, before: Sequence[Tested] = ()
) -> list[Tested]:
    """Returns the test examples of an experiment's sources.

    Args:
        experiment: `Experiment`. The experiment.
        data: Path. The data folder.
        root: Path. The folder of the experiment, with the file of spans.
        before: list of `Tested`. The test examples of another run, which are reused if the files
            and all settings of the test examples are the same. Default: none.
    """
    sets = []
    known = {each.number: each for each in before}
    for number, part in enumerate(
        splits(experiment, data, folders.shared_file(root, folders.SPANS))
    ):
        if part.test is None:
            continue
        old, settings = known.get(number), _test_settings(experiment, part.source)
        if old is not None and old.settings == settings:
            sets.append(replace(old, part=part))
            continue
        every = list(unique(part.test, str(part.source.test)))
        sets.append(Tested(number, part, reported(experiment, part, every), every, settings))
    return sets


def _test_settings(experiment: Experiment, source: Source) -> tuple[Any, ...]:
    """Returns the settings that the test examples of a source depend on."""
    free: dict[str, Any] = {"title": "", "rules": "", "paper": {}, "squad_scores": None}
    if experiment.split.ids is None:
        free |= {"train": None, "train_share": 1.0, "train_options": {}}
    asked = source.spans == "exact" and classes_of(experiment).predictor.only_asks
    return replace(source, **free), experiment.split, experiment.evaluation.limit, asked


test_sets.__test__ = False  # type: ignore[attr-defined]


def evaluate_run(
    experiment: Experiment,
    member: Plan,
    tested: Sequence[Tested],
    loaded: dict[Path, Any] | None = None,
) -> dict[int, RunScores]:
    """Scores one trained run and writes its reports.

    Args:
        experiment: `Experiment`. The whole experiment, which names the system.
        member: `Plan`. The run.
        tested: list of `Tested`. The test examples of its sources.
        loaded: dict or None. Keeps the predictor of the run by its folder, for an ensemble.
            Default: None.

    Returns:
        A dict of scores by index of the source.
    """
    training = folders.read_json(member.folder / folders.TRAINING, "train")
    predictor = load_run(member)
    if loaded is not None:
        loaded[member.folder] = predictor
    digest = run_digest(member.experiment, member.folder)
    results = {}
    for each in tested:
        target = member.folder / folders.EVALUATION / each.folder
        target.mkdir(parents=True, exist_ok=True)
        system = system_name(experiment, member.variant)
        scores = score_source(member.experiment, predictor, digest, each, target, system)
        results[each.number] = scores
        report = report_of(
            member.experiment, each, [training], scores.systems, member.seed, model=digest
        )
        if _writes(predictor):
            add_baselines(report, experiment, each, scores.main)
        compare_with_baselines(report, [system], scores.systems, scores.written)
        pictures.draw_run(member, predictor, each.examples, scores.main, target, report.title)
        report.write(target)
        print(report.markdown())
    return results


def system_name(experiment: Experiment, variant: str, more: str = "") -> str:
    """Returns the name of a run's system in reports and in `reproduction.yaml`."""
    return "_".join(part for part in (experiment.name, variant, more) if part)


def score_source(
    experiment: Experiment,
    predictor: Any,
    digest: str,
    tested: Tested,
    target: Path,
    system: str,
) -> RunScores:
    """Predicts and scores the examples of a source with every set of options."""
    settings, source = experiment.evaluation, tested.part.source
    result = RunScores()
    only_target = source.sequence is not None or len({t.target for t in predictor.tasks}) == 1
    for more, options in (("", {}), *settings.also.items()):
        name = f"{system}_{more}" if more else system
        named: NamedScores = []
        for task in predictor.tasks:
            goal = source.sequence or task.target
            if goal == "answer" and source.sequence is None:
                if task.style is not None and task.style not in source.styles:
                    continue
            style = None if source.sequence else task.style
            examples = shown = _examples_of(tested, predictor, task)
            if source.sequence is not None:
                shown = [as_sequence(each, source.sequence) for each in examples if each.answers]
            if not shown:
                continue
            suffix = f"-{more}" if more else ""
            predictions = answer_all(
                predictor,
                shown,
                target / f"predictions-{task.name}{suffix}.jsonl",
                task=task.name,
                options={**settings.options, **options},
                batch_size=settings.batch_size,
                model=digest,
            )
            prefix = prefix_of(experiment, source, goal, style, only_target=only_target)
            written = Written(source, goal, style, examples, predictions, prefix)
            result.written.setdefault(name, []).append(written)
            if _writes(predictor):
                known = known_of(tested, written)
                named += score(written, known, meteor=settings.meteor)
        if not more and result.main and result.main[-1].target == "answer":
            for other, scores in score_parts(tested.examples, result.main[-1].predictions):
                if other:
                    result.systems.setdefault(other, []).append(("", scores))
                else:
                    named.append(("", scores))
            named += score_abstention(result.main[-1])
        if named:
            result.systems[name] = named
    return result


def _writes(predictor: Any) -> bool:
    """Returns True if a predictor's model writes text; one without a decoder does not."""
    return bool(getattr(predictor.model, "has_decoder", True))


def _examples_of(tested: Tested, predictor: Any, task: Any) -> list[Example]:
    """Returns the test examples of a task.

    A model that can also answer is asked about the answers that are known, with `spans: exact`
    about those that a passage contains, in that passage.
    """
    source = tested.part.source
    if task.target != "question" or source.sequence is not None:
        return tested.examples
    if predictor.only_asks:
        return tested.examples
    answered = [example for example in tested.examples if example.answers]
    return list(with_spans(answered, source)) if source.spans == "exact" else answered


def known_of(tested: Tested, written: Written) -> dict[str, list[str]]:
    """Returns the references of a task's examples, by id."""
    every = tested.all if written.target == "question" else written.examples
    known = references(every, written.target, written.style)
    return {e.id: known[e.id] for e in written.examples if e.id in known}


def add_baselines(
    report: Report, experiment: Experiment, tested: Tested, written_texts: Iterable[Written]
) -> None:
    """Adds baselines without a model, repetition in human questions and the bound of spans."""
    meteor = experiment.evaluation.meteor
    for written in {(each.target, each.prefix): each for each in written_texts}.values():
        known = known_of(tested, written)
        if not known:
            continue
        for name, texts in baselines(written).items():
            _add_texts(report, name, written, texts, known, meteor)
        if tested.part.source.spans == "best" and written.target == "answer":
            longest = experiment.preprocessor.get("answer_length", MAX_LENGTH)
            style = tested.part.source.styles[0]
            bound = nearest_texts(tested.examples, style, longest)
            _add_texts(report, UPPER_BOUND, written, bound, known, meteor)
        if written.target == "question":
            own = {example.id: example.question for example in written.examples}
            name = system_name(experiment, "", "human")
            samples = experiment.evaluation.samples
            repeated = evaluation.score_repetition(own)
            report.add(name, repeated, prefix=written.prefix, samples=samples)


def compare_with_baselines(
    report: Report, systems: Iterable[str], scored: Iterable[str], written: Iterable[str]
) -> None:
    """Tests the scores of systems against those of each baseline without a model."""
    known = set(written)
    others = [*BASELINES, *(name for name in scored if name not in known)]
    for system in systems:
        for other in others:
            if system in report.systems and other in report.systems:
                report.compare(system, other)


def _add_texts(
    report: Report,
    name: str,
    written: Written,
    texts: Mapping[str, str],
    known: Mapping[str, Sequence[str]],
    meteor: bool,
) -> None:
    predictions = {key: Prediction(key, text) for key, text in texts.items()}
    answered = {key: answers for key, answers in known.items() if key in texts}
    for prefix, scores in score(replace(written, predictions=predictions), answered, meteor=meteor):
        report.add(name, scores, prefix=prefix)


def report_of(
    experiment: Experiment,
    tested: Tested,
    facts: Sequence[Mapping[str, Any]],
    systems: Mapping[str, NamedScores],
    seed: int | None,
    title: str = "",
    model: str = "",
) -> Report:
    """Creates a report with the paper's figures; `model` is the digest of the model."""
    source = tested.part.source
    dataset = source.title or source.format
    split = split_of(experiment, source, len(tested.examples))
    report = Report(
        title or experiment.title or experiment.name,
        dataset=dataset,
        split=split,
        seed=seed,
        details=details_of(experiment, facts, tested.examples, model),
        paper={**paper_figures(systems, f"{dataset}, {split}"), **source.paper},
    )
    for name, named in systems.items():
        for prefix, scores in named:
            report.add(name, scores, prefix=prefix, samples=experiment.evaluation.samples)
    return report


# === A grid's table ===


def _evaluate_ensembles(
    experiment: Experiment,
    root: Path,
    runs: Sequence[Plan],
    tested_of: Mapping[str, Sequence[Tested]],
    scores_of: dict[str, dict[int, list[RunScores]]],
    loaded: dict[Path, Any],
) -> None:
    """Scores the seeds of each variant as one predictor that averages their distributions.

    The predictors of `loaded` are those that scored the runs; a variant's are dropped after it.
    """
    from tfmrc.predictors import ensemble_predictor

    for variant in list(scores_of):
        ensemble = [member for member in runs if member.variant == variant]
        if len(ensemble) < 2:
            continue
        predictor = ensemble_predictor([loaded.pop(member.folder) for member in ensemble])
        digest = " ".join(run_digest(member.experiment, member.folder) for member in ensemble)
        for each in tested_of[variant]:
            target = root / folders.EVALUATION / each.folder / f"ensemble-{variant}".rstrip("-")
            target.mkdir(parents=True, exist_ok=True)
            name = system_name(experiment, variant, "ensemble")
            scores = score_source(ensemble[0].experiment, predictor, digest, each, target, name)
            scores_of.setdefault(f"{variant}\tensemble", {})[each.number] = [scores]


def _write_table(
    experiment: Experiment,
    tested: Tested,
    runs: Sequence[Plan],
    scores_of: Mapping[str, Mapping[int, Sequence[RunScores]]],
    target: Path,
) -> None:
    """Writes means and deviations over the seeds of every variant, samples and figures."""
    means: dict[str, NamedScores] = {}
    written: dict[str, list[Written]] = {}
    for by_source in scores_of.values():
        scores = by_source.get(tested.number, [])
        for name in scores[0].systems if scores else ():
            rows = [run.systems[name] for run in scores if name in run.systems]
            means.setdefault(name, _means(rows))
        for name, texts in scores[0].written.items() if scores else ():
            written.setdefault(name, texts)
    facts = [
        {**folders.read_json(m.folder / folders.TRAINING, "train"), "variant": m.variant}
        for m in runs
    ]
    seeds = {member.seed for member in runs}
    seed = next(iter(seeds)) if len(seeds) == 1 else None
    title = f"{experiment.title or experiment.name}: {len(runs)} runs"
    report = report_of(experiment, tested, facts, means, seed, title)
    add_baselines(report, experiment, tested, [each for of in written.values() for each in of])
    compare_with_baselines(report, written, means, written)
    pictures.draw_table(experiment, runs, means, written, tested, target, report)
    report.write(target)
    print(report.markdown())


def _means(runs: Sequence[NamedScores]) -> NamedScores:
    """Returns the means of the scores of several runs; scores that a run lacks are left out."""
    kinds: list[dict[tuple[str, str, int], Scores]] = []
    for run in runs:
        by_kind: dict[tuple[str, str, int], Scores] = {}
        for prefix, scores in run:
            number = sum(key[:2] == (prefix, scores.rules) for key in by_kind)
            by_kind[prefix, scores.rules, number] = scores
        kinds.append(by_kind)
    return [
        (key[0], mean_of_runs([by_kind[key] for by_kind in kinds]))
        for key in kinds[0]
        if all(key in by_kind for by_kind in kinds)
    ]


# === Targets ===


def verdict(experiment: Experiment, written: Iterable[Path]) -> tuple[list[str], bool]:
    """Compares scores with the targets of an experiment.

    Args:
        experiment: `Experiment`. The experiment, with `evaluation.targets`.
        written: iterable of path. Folders of its reports.

    Returns:
        A line per target, and True if all are reached.
    """
    lines, reached = [], True
    systems = {system_name(experiment, variant) for variant in ("", *experiment.grid.variants)}
    reports = [evaluation.read_metrics(folder / "metrics.json") for folder in written]
    for name, target in experiment.evaluation.targets.items():
        values = [
            part["scores"][name]["value"]
            for report in reports
            for system, part in report["systems"].items()
            if system in systems and name in part["scores"]
        ]
        if not values:
            raise ValueError(f"There is no score of this name. Received: evaluation.targets.{name}")
        met = all(value is not None and value >= target for value in values)
        reached = reached and met
        shown = ", ".join(f"{value:.3f}" for value in values)
        lines.append(
            f"{name:<20}  {shown}   target {target:.2f}   {'reached' if met else 'MISSED'}"
        )
    return lines, reached

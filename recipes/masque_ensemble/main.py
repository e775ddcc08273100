"""An ensemble of trained runs: the weighted majority vote over their answers, scored."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfmrc import evaluation
from tfmrc.evaluation import Prediction, PredictionWriter, read_predictions
from tfmrc.evaluation.files.references import answer_references
from tfmrc.experiments import read_settings, run_folder as folders
from tfmrc.experiments.examples.files import data_folder
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.reporting import new_report
from tfmrc.experiments.scoring import evaluation_sets, prefix_of
from tfmrc.training import vote_all


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the recipe."""
    program = argparse.ArgumentParser(
        prog="python -m recipes.masque_ensemble.main", description=__doc__, allow_abbrev=False
    )
    program.add_argument("runs", nargs="+", type=Path, help="runs that `tfmrc evaluate` scored")
    program.add_argument("--data", help="the data folder (default: that of the first run)")
    program.add_argument("--run", type=Path, help="the ensemble's folder (runs/NAME_ensemble)")
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    """Scores the vote of several evaluated runs of one recipe, weighted by their ROUGE-L.

    Args:
        arguments: list of str or None. The words of the command line. Default: those of the
            process.

    Returns:
        0, or 1 after a message on standard error.
    """
    options = parser().parse_args(arguments)
    try:
        for folder in ensemble(options.runs, options.data, options.run):
            print(folder)
    except (OSError, ValueError) as error:
        print(f"masque_ensemble: {error}", file=sys.stderr)
        return 1
    return 0


def ensemble(
    runs: Sequence[Path], data: str | Path | None = None, run: Path | None = None
) -> list[Path]:
    """Scores the vote of several runs on every source that they report on.

    Args:
        runs: list of Path. The runs' folders; the first one's settings determine the sources.
        data: str, path or None. The data folder. Default: that of the first run.
        run: Path or None. The folder to write, with `evaluation/SOURCE/` as from `tfmrc evaluate`.
            Default: `runs/NAME_ensemble`.

    Returns:
        The folders that were written.

    Raises:
        ValueError: If there are fewer than two runs, one is not evaluated, or they answered
            different questions.
    """
    if len(runs) < 2:
        raise ValueError(f"An ensemble needs at least two runs. Received: {len(runs)}")
    experiment = read_settings(runs[0] / folders.CONFIG)
    name = f"{experiment.name}_ensemble"
    source_folder = data_folder(data or folders.remembered_data(runs[0]), experiment)
    written = []
    for test in evaluation_sets(Plan(experiment, runs[0], data=source_folder)):
        source, subfolder = test.source, test.folder_in(Path())
        target = (run or Path("runs", name)) / subfolder
        systems: dict[str, list[evaluation.Scores]] = {}
        for style in source.styles:
            prefix = prefix_of(experiment.evaluation.prefixes, source, "answer", style)
            references = answer_references(test.examples, style)
            answers = [_answers(folder / subfolder, style, references) for folder in runs]
            weights = [_rouge_l(folder / subfolder, prefix) for folder in runs]
            votes = vote_all([[texts[key] for key in references] for texts in answers], weights)
            voted = dict(zip(references, votes, strict=True))
            with PredictionWriter(target / f"predictions-{style}.jsonl") as writer:
                for key, answer in voted.items():
                    writer.write(Prediction(key, answer, style))
            for system, texts in zip([name, *map(str, runs)], [voted, *answers], strict=True):
                scores = evaluation.score_answers(texts, references, source.rules, meteor=True)
                systems.setdefault(system, []).append(scores.prefixed(prefix))
        title = f"{experiment.title or experiment.name}: ensemble of {len(runs)}"
        report = new_report(test, systems, title, {"Runs": ", ".join(map(str, runs))})
        report.write(target)
        print(report.markdown())
        written.append(target)
    return written


def _answers(folder: Path, style: str, references: Mapping[str, object]) -> dict[str, str]:
    """Returns a run's answers to the questions that have a reference in a style."""
    file = folder / f"predictions-{style}.jsonl"
    if not file.is_file():
        raise ValueError(f"{folder}: no predictions of the style {style}: `tfmrc evaluate` the run")
    predictions = read_predictions(file, style)
    absent = [key for key in references if key not in predictions]
    if absent:
        raise ValueError(f"{file}: {len(absent)} questions unanswered, {absent[0]!r} first")
    return {key: predictions[key].answer for key in references}


def _rouge_l(folder: Path, prefix: str) -> float:
    """Returns the weight of a run: its ROUGE-L in a style, from its report."""
    name = f"{prefix}_rouge_l" if prefix else "rouge_l"
    metrics = evaluation.read_metrics(folder / "metrics.json")
    first = next(iter(metrics["systems"].values()))
    score = first["scores"].get(name, {}).get("value")
    if score is None:
        raise ValueError(f"{folder}: no score in metrics.json. Received: {name}={score}")
    return float(score)


if __name__ == "__main__":
    sys.exit(main())

"""An ensemble of trained runs: the weighted majority vote over their answers, scored."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfmrc import evaluation
from tfmrc.evaluation import Prediction, PredictionWriter, read_predictions
from tfmrc.experiments import load
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.reporting import paper_figures, split_of
from tfmrc.experiments.scoring import prefix_of
from tfmrc.experiments.sources import answer_references, data_folder
from tfmrc.experiments.steps.evaluate import test_sets
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
    """Lets several evaluated runs of one recipe vote, each with the weight of its ROUGE-L.

    Args:
        arguments: The words of the command line; by default those of the process.

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
        runs: The runs' folders; the first one's settings say what is reported on.
        data: The data folder; the one that the first run was trained with unless given.
        run: The folder to write, with `evaluation/SOURCE/` as `tfmrc evaluate` writes it;
            `runs/NAME_ensemble` unless given.

    Returns:
        The folders that were written.

    Raises:
        ValueError: There are fewer than two runs, one is not evaluated, or they answered different
            questions.
    """
    if len(runs) < 2:
        raise ValueError(f"An ensemble has at least two runs. Received: {len(runs)}")
    experiment = load(runs[0] / folders.CONFIG)
    name = f"{experiment.name}_ensemble"
    source_folder = data_folder(data or folders.remembered_data(runs[0]), experiment)
    written = []
    for tested in test_sets(experiment, source_folder, runs[0]):
        source, place = tested.part.source, Path(folders.EVALUATION, tested.folder)
        dataset = source.title or source.format
        split = split_of(experiment, source, len(tested.examples))
        report = evaluation.Report(
            f"{experiment.title or experiment.name}: ensemble of {len(runs)}",
            dataset=dataset,
            split=split,
            details={"Runs": ", ".join(map(str, runs))},
            paper={**paper_figures([name], f"{dataset}, {split}"), **source.paper},
        )
        target = (run or Path("runs", name)) / place
        for style in source.styles:
            prefix = prefix_of(experiment, source, "answer", style)
            references = answer_references(tested.examples, style)
            answers = [_answers(folder / place, style, references) for folder in runs]
            weights = [_rouge_l(folder / place, prefix) for folder in runs]
            votes = vote_all([[found[key] for key in references] for found in answers], weights)
            voted = dict(zip(references, votes, strict=True))
            with PredictionWriter(target / f"predictions-{style}.jsonl") as writer:
                for key, answer in voted.items():
                    writer.write(Prediction(key, answer, style))
            systems = {name: voted} | {str(f): a for f, a in zip(runs, answers, strict=True)}
            for system, texts in systems.items():
                scores = evaluation.score_answers(texts, references, source.rules, meteor=True)
                report.add(system, scores, prefix=prefix)
        report.write(target)
        print(report.markdown())
        written.append(target)
    return written


def _answers(folder: Path, style: str, references: Mapping[str, object]) -> dict[str, str]:
    """Returns a run's answers to the questions that have a reference in a style."""
    file = folder / f"predictions-{style}.jsonl"
    if not file.is_file():
        raise ValueError(f"{folder}: no predictions of the style {style}: `tfmrc evaluate` the run")
    found = read_predictions(file, style)
    absent = [key for key in references if key not in found]
    if absent:
        raise ValueError(f"{file}: {len(absent)} questions unanswered, {absent[0]!r} first")
    return {key: found[key].answer for key in references}


def _rouge_l(folder: Path, prefix: str) -> float:
    """Returns the weight of a run: its ROUGE-L in a style, from its report."""
    wanted = f"{prefix}_rouge_l" if prefix else "rouge_l"
    metrics = evaluation.read_metrics(folder / "metrics.json")
    first = next(iter(metrics["systems"].values()))
    score = first["scores"].get(wanted, {}).get("value")
    if score is None:
        raise ValueError(f"{folder}: no score in metrics.json. Received: {wanted}={score}")
    return float(score)


if __name__ == "__main__":
    sys.exit(main())

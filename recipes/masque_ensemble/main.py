"""An ensemble of trained runs: the weighted majority vote over their answers, scored."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfmrc import evaluation
from tfmrc.evaluation import Prediction, PredictionWriter, read_predictions
from tfmrc.experiments import configuration as settings
from tfmrc.experiments import evaluate as evaluating
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.configuration import Source
from tfmrc.experiments.sources import data_folder, limited, splits
from tfmrc.training import vote_all


def main(arguments: Sequence[str] | None = None) -> int:
    """Let several evaluated runs of one recipe vote, each with the weight of its ROUGE-L.

    Args:
        arguments: the words of the command line; by default the process's own.

    Returns:
        0, or 1 after a message on standard error.
    """
    parser = argparse.ArgumentParser(
        prog="python -m recipes.masque_ensemble.main",
        description=str(main.__doc__).partition("\n")[0],
    )
    parser.add_argument("runs", nargs="+", type=Path, help="runs that `tfmrc evaluate` scored")
    parser.add_argument("--data", help="the data folder (TFMRC_DATA)")
    parser.add_argument("--run", type=Path, help="the ensemble's folder (runs/NAME_ensemble)")
    chosen = parser.parse_args(arguments)
    try:
        for folder in ensemble(chosen.runs, chosen.data, chosen.run):
            print(folder)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def ensemble(
    runs: Sequence[Path], data: str | Path | None = None, run: Path | None = None
) -> list[Path]:
    """Score the vote of several runs on every source that they report on.

    Args:
        runs: the runs' folders; the first one's recipe says what is reported on.
        data: the data folder; TFMRC_DATA unless given.
        run: where `evaluation/SOURCE/` with `metrics.json`, `report.md` and the predictions is
            written; `runs/NAME_ensemble` unless given.

    Returns:
        The folders that were written.

    Raises:
        ValueError: there are fewer than two runs, one is not evaluated, or they answered different
            questions.
    """
    if len(runs) < 2:
        raise ValueError(f"An ensemble has two runs or more. Received: {len(runs)}")
    recipe = settings.load(runs[0] / places.CONFIG)
    name = f"{recipe.name}_ensemble"
    written = []
    for number, part in enumerate(splits(recipe, data_folder(data))):
        if part.test is None:
            continue
        place = Path(places.EVALUATION, evaluating.source_folder(number, part.source))
        examples = limited(part.test, recipe.evaluation.limit)
        report = evaluation.Report(
            f"{recipe.title or recipe.name}: ensemble of {len(runs)}",
            dataset=part.source.title or part.source.format,
            split=evaluating.split_of(part.source, recipe, len(examples)),
            details={"Runs": ", ".join(map(str, runs))},
            paper=part.source.paper,
        )
        target = (run or Path("runs", name)) / place
        for style in part.source.styles:
            prefix = evaluating.prefix_of(part.source, style)
            references = {e.id: list(e.answers[style]) for e in examples if style in e.answers}
            answers = [_answers(folder / place, style, references) for folder in runs]
            weights = [_rouge_l(folder / place, part.source, style) for folder in runs]
            voted = vote_all([[found[key] for key in references] for found in answers], weights)
            both = dict(zip(references, voted, strict=True))
            with PredictionWriter(target / f"predictions-{style}.jsonl") as writer:
                for key, answer in both.items():
                    writer.write(Prediction(key, answer, style))
            systems = {name: both} | {str(f): a for f, a in zip(runs, answers, strict=True)}
            for system, found in systems.items():
                report.add(
                    system,
                    evaluation.score_answers(found, references, part.source.rules, meteor=True),
                    prefix=prefix,
                )
        report.write(target)
        print(report.markdown())
        written.append(target)
    return written


def _answers(folder: Path, style: str, references: Mapping[str, object]) -> dict[str, str]:
    """A run's answers to the questions that have a reference in a style."""
    files = sorted(folder.glob(f"predictions-{style}-*.jsonl"), key=lambda f: f.stat().st_mtime)
    if not files:
        raise ValueError(f"{folder}: no predictions of the style {style}: `tfmrc evaluate` the run")
    found = read_predictions(files[-1], style)
    absent = [key for key in references if key not in found]
    if absent:
        raise ValueError(f"{files[-1]}: {len(absent)} questions unanswered, {absent[0]!r} first")
    return {key: found[key].answer for key in references}


def _rouge_l(folder: Path, source: Source, style: str) -> float:
    """The weight of a run: its ROUGE-L in a style, from its report."""
    prefix = evaluating.prefix_of(source, style)
    wanted = f"{prefix}_rouge_l" if prefix else "rouge_l"
    metrics = evaluation.read_metrics(folder / "metrics.json")
    first = next(iter(metrics["systems"].values()))
    score = first["scores"].get(wanted, {}).get("value")
    if score is None:
        raise ValueError(
            f"{folder}: no score {wanted} in metrics.json. Received: {json.dumps(score)}"
        )
    return float(score)


if __name__ == "__main__":
    sys.exit(main())

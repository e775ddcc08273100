"""SAN on MS MARCO: spans nearest to free answers, several passages weighted by a ranker.

    python -m recipes.san_msmarco.main spans                    # chooses spans, says their bound
    python -m recipes.san_msmarco.main train --answer stochastic
    python -m recipes.san_msmarco.main evaluate --answer stochastic
    python -m recipes.san_msmarco.main evaluate --ranker runs/masque_msmarco/predictor

A command makes what it needs and is not there yet; run again, it goes on where it was stopped.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recipes.san_msmarco import spans
from recipes.san_squad.settings import ANSWERS, Settings, references
from tfmrc import evaluation
from tfmrc.data import Example
from tfmrc.experiments import command
from tfmrc.experiments.run_folder import read_json, write_json

HERE = Path(__file__).parent
RULES = "msmarco"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; 0, or 1 where it cannot be done (the words say why)."""
    parser = command.parser("recipes.san_msmarco.main", __doc__, HERE / "config.yaml")
    parser.add_argument("command", choices=("spans", "train", "evaluate"))
    parser.add_argument("--answer", choices=ANSWERS, default="stochastic")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranker", type=Path, help="a saved Masque predictor (default: TF-IDF)")
    chosen = parser.parse_args(arguments)
    return command.status(lambda: _run(chosen))


def _run(chosen: argparse.Namespace) -> None:
    from recipes.san_squad.train import facts_of, train
    from tfmrc.experiments.sources import data_folder

    settings = Settings.load(chosen.config)
    if settings.tags:
        raise ValueError("This recipe has no tags. Received: tags=True")
    folder, runs = data_folder(chosen.data), chosen.runs or Path("runs", settings.name)
    facts = spans.prepare(settings, folder, runs)
    print(
        f"{facts['with_a_span']:,} of {facts['answers']:,} training answers share a word with a "
        f"passage; their nearest spans have ROUGE-L {100 * facts['rouge_l_of_spans']:.2f}",
        flush=True,
    )
    if chosen.command == "spans":
        return
    run = runs / f"{chosen.answer}-{chosen.seed}"
    if facts_of(run) is None:
        examples, validation = spans.training_examples(settings, runs)
        train(settings, chosen.answer, chosen.seed, examples, validation, run, folder)
    if chosen.command == "evaluate":
        print(evaluate(settings, folder, runs, run, chosen.ranker))


def evaluate(
    settings: Settings, folder: Path, runs: Path, run: Path, ranker: Path | None = None
) -> str:
    """Scores a run on the test questions beside the bound that spans put on the scores.

    Args:
        settings: names the data.
        folder: the data folder.
        runs: of all runs.
        run: the trained run's folder.
        ranker: a saved Masque predictor; TF-IDF without one.

    Returns:
        The report, which is written into the runs' `evaluation/` with `metrics.json`.
    """
    from recipes.san_squad.runs import details, paper
    from recipes.san_squad.train import facts_of

    examples = spans.test_examples(settings, folder)
    facts = facts_of(run)
    by = "tfidf" if ranker is None else f"{ranker.parent.name}-{ranker.name}"
    to = runs / "evaluation" / f"{run.name}-{by}"
    path = to / "answers.json"
    found = read_json(path, "evaluate") if path.is_file() else {}
    if found.keys() != {example.id for example in examples}:
        found = answer(settings, runs, run, examples, ranker)
        write_json(path, found)
    known = references(examples, spans.STYLE)
    report = evaluation.Report(
        f"{settings.name}: {run.name}, ranker {by}",
        dataset=settings.dataset,
        split=f"{settings.test}, {len(examples):,} questions with an answer",
        seed=facts and facts["seed"],
        details=details(settings, [run]),
        paper=paper("san-t7", settings.name, recipe="san_msmarco"),
    )
    system = f"{settings.name}_{run.name.rsplit('-', 1)[0]}"
    texts = {
        system: found,
        "the nearest span (upper bound)": spans.best_texts(settings, examples),
    }
    for name, answers in texts.items():
        report.add(name, evaluation.score_answers(answers, known, RULES))
    report.write(to)
    return report.markdown()


def answer(
    settings: Settings, runs: Path, run: Path, examples: Sequence[Example], ranker: Path | None
) -> dict[str, str]:
    """The best span of all passages, its probability times the passage's relevance."""
    from tfmrc import Predictor
    from tfmrc.predictors import MasqueRanker, TfIdfRanker

    relevance: Any
    if ranker is None:
        training, _ = spans.training_examples(settings, runs)
        relevance = TfIdfRanker(example.passages[0] for example in training)
    else:
        relevance = MasqueRanker(Predictor.load(ranker))
    predictor = Predictor.load(run / "predictor")
    predictor.ranker = relevance
    found = predictor.predict(examples)
    return {example.id: one.text for example, one in zip(examples, found, strict=True)}


if __name__ == "__main__":
    sys.exit(main())

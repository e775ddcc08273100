"""Score the trained model on the held-out questions of the shipped corpus."""

from pathlib import Path
from typing import Any

from tfmrc import evaluation
from tfmrc import experiments as recipes
from tfmrc.data import Example, read_examples
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.answer import answer_all
from tfmrc.experiments.environment import in_words
from tfmrc.experiments.sources import limited
from tfmrc.predictors import Predictor

TARGETS = {
    "concise_rouge_l": 0.90,
    "sentence_rouge_l": 0.90,
    "mrr": 0.95,
    "answerable_f1": 0.95,
}
"""What the demo is to reach on the test split."""

THRESHOLD = 0.5


def evaluate(recipe: recipes.Recipe, run: Path, data: Path) -> dict[str, float]:
    """Answer the test questions in both styles and score answers, ranker and classifier.

    ROUGE-L of the answerable questions, in both styles; MRR of the passages' relevance; F1 of the
    answer possibility, an answer being possible from 0.5 on. `evaluation/` in the run's folder
    gets `metrics.json` and `report.md`.

    Args:
        recipe: the recipe.
        run: the run's folder.
        data: the folder of the examples.

    Returns:
        The figures, by the names of `TARGETS`.
    """
    (source,) = recipe.sources
    trained = places.read_json(run / places.TRAINING, "train")
    predictor = Predictor.load(run / places.PREDICTOR)
    examples = limited(read_examples(data / str(source.test)), recipe.evaluation.limit)
    folder = run / places.EVALUATION
    folder.mkdir(exist_ok=True)
    report = evaluation.Report(
        recipe.title,
        dataset=source.title,
        split=f"{source.test}, {len(examples)} questions",
        seed=recipe.seed,
        details=_details(trained),
    )
    for style in source.styles:
        path = folder / f"predictions-{style}.jsonl"
        path.unlink(missing_ok=True)
        found = answer_all(predictor, examples, style, path, recipe.evaluation)
        references = {e.id: e.answers[style] for e in examples if e.answerable}
        answers = {key: found[key].answer for key in references}
        report.add(
            recipe.name,
            evaluation.score_answers(answers, references, source.rules, meteor=False),
            prefix=style,
        )
    _add_parts(report, recipe.name, examples, {key: p.scores for key, p in found.items()})
    report.write(folder)
    print(report.markdown())
    scores = report.to_json()["systems"][recipe.name]["scores"]
    return {name: scores[name]["value"] for name in TARGETS}


def _add_parts(
    report: evaluation.Report, system: str, examples: list[Example], scores: dict[str, Any]
) -> None:
    ranked = {e.id: scores[e.id]["relevance"][: len(e.passages)] for e in examples}
    relevance = {e.id: e.relevance for e in examples if e.relevance is not None}
    report.add(system, evaluation.score_ranking(ranked, relevance))
    possibility = {e.id: scores[e.id]["answerable_probability"] for e in examples}
    answerable = {e.id: bool(e.answerable) for e in examples}
    report.add(system, evaluation.score_answerability(possibility, answerable, threshold=THRESHOLD))


def _details(trained: dict[str, Any]) -> dict[str, str]:
    return {
        "Training": f"{trained['steps']:,} steps in {trained['seconds'] / 60:.1f} minutes",
        "Weights": f"{trained['weights']:,}",
        "Machine": in_words(trained["machine"]),
        "Versions": ", ".join(f"{k} {v}" for k, v in trained["machine"]["versions"].items()),
    }


def verdict(figures: dict[str, float]) -> list[str]:
    """A line for each figure: what it is, what it should be, whether that is so.

    Example:

    >>> print(verdict({"mrr": 0.97})[0])
    mrr               0.970   target 0.95   reached
    """
    return [
        f"{name:<16}  {value:.3f}   target {TARGETS[name]:.2f}   "
        + ("reached" if value >= TARGETS[name] else "MISSED")
        for name, value in figures.items()
    ]

"""Export the trained model as a SavedModel on plain strings, and pick questions to ask it."""

import json
from pathlib import Path

from tfmrc import experiments as recipes
from tfmrc.data import Example, load_corpus
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.answer import options_of
from tfmrc.predictors import Predictor


def export(recipe: recipes.Recipe, run: Path, to: Path) -> Path:
    """Write the run's predictor as `FOLDER/NAME/VERSION`; a version that is there is replaced.

    Args:
        recipe: says how answers are searched for.
        run: the run's folder.
        to: the version's folder.
    """
    predictor = Predictor.load(run / places.PREDICTOR)
    metrics = places.read_json(run / places.EVALUATION / "metrics.json", "evaluate")
    return predictor.export(to, overwrite=True, metrics=metrics, **options_of(recipe.evaluation))


def held_out_questions(count: int = 3) -> list[Example]:
    """Questions of the test split with different facts, the last one without an answer."""
    examples = list(load_corpus("test"))
    chosen: list[Example] = []
    for wanted in [True] * (count - 1) + [False]:
        asked = {example.query_type for example in chosen}
        groups = {example.group for example in chosen}
        chosen.append(
            next(
                e
                for e in examples
                if e.answerable is wanted and e.query_type not in asked and e.group not in groups
            )
        )
    return chosen


def write_questions(path: Path, examples: list[Example]) -> Path:
    """Write questions and passages, and nothing of the answers, as JSON lines."""
    rows = [{"question": e.question, "passages": list(e.passages)} for e in examples]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path

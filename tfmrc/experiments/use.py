"""Use a trained run: answer a file of questions, export a SavedModel."""

import json
from collections.abc import Iterator
from pathlib import Path

from tfmrc import data
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.answer import answer_all, options_of, prediction_of
from tfmrc.experiments.configuration import Recipe
from tfmrc.predictors import Predictor


def predict(
    recipe: Recipe,
    questions: str | Path,
    output: str | Path | None = None,
    *,
    style: str | None = None,
    run: str | Path | None = None,
) -> None:
    """Answer the questions of a file.

    Args:
        recipe: says how answers are searched for.
        questions: examples as JSON lines: `id`, `question`, `passages`.
        output: file for the answers, one JSON object a line; standard output unless given. A run
            that was stopped goes on with the questions that the file does not answer.
        style: of the answers; the first style unless given.
        run: the run's folder; `runs/NAME` unless given.

    Raises:
        ValueError: the run is not trained, the style is unknown, a line is broken.
    """
    predictor = _reader(recipe, run)
    chosen = style or recipe.styles[0]
    examples = data.read_examples(questions)
    if output is not None:
        answer_all(predictor, list(examples), chosen, Path(output), recipe.evaluation)
        return
    kept: list[str] = []

    def noted() -> Iterator[data.Example]:
        for example in examples:
            kept.append(example.id)
            yield example

    answers = predictor.predict(
        noted(),
        task=chosen,
        batch_size=recipe.evaluation.batch_size,
        **options_of(recipe.evaluation),
    )
    for number, answer in enumerate(answers):
        record = prediction_of(kept[number], answer, chosen).to_json()
        print(json.dumps(record, ensure_ascii=False), flush=True)


def export(recipe: Recipe, run: str | Path | None = None, to: str | Path | None = None) -> Path:
    """Write a run's predictor as a SavedModel on plain strings.

    Args:
        recipe: names the export and says how answers are searched for.
        run: the run's folder; `runs/NAME` unless given.
        to: `FOLDER/NAME/VERSION`; the next version below `savedmodels/NAME` unless given.

    Returns:
        The folder of the version.

    Raises:
        ValueError: the run is not trained.
        FileExistsError: the version exists.
    """
    folder = places.run_folder(recipe, run)
    predictor = _reader(recipe, run)
    scores = {
        path.parent.name: places.read_json(path, "evaluate")
        for path in sorted((folder / places.EVALUATION).glob("*/metrics.json"))
    }
    path = Path(to) if to is not None else _next_version(Path("savedmodels", recipe.name))
    options = options_of(recipe.evaluation)
    path = predictor.export(path, metrics={**predictor.metrics, **scores}, **options)
    print(f"Exported {path}")
    return path


def export_predictor(folder: str | Path, name: str, to: str | Path | None = None) -> Path:
    """Write any saved predictor, of answers, spans or questions, as a SavedModel on plain strings.

    Args:
        folder: the predictor's folder.
        name: of the export.
        to: `FOLDER/NAME/VERSION`; the next version below `savedmodels/NAME` unless given.

    Returns:
        The folder of the version.

    Raises:
        FileNotFoundError: the folder is no saved predictor.
        FileExistsError: the version exists.
    """
    predictor: Predictor = Predictor.load(folder)
    path = predictor.export(
        Path(to) if to is not None else _next_version(Path("savedmodels", name))
    )
    print(f"Exported {path}")
    return path


def _reader(recipe: Recipe, run: str | Path | None) -> Predictor:
    folder = places.run_folder(recipe, run)
    places.read_json(folder / places.TRAINING, "train")
    return Predictor.load(folder / places.PREDICTOR)


def _next_version(folder: Path) -> Path:
    found = [int(path.name) for path in folder.glob("*") if path.name.isdecimal()]
    return folder / str(max(found, default=0) + 1)

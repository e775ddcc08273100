"""The folder of a run: what lies where, and whether it belongs to the recipe at hand."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmrc.experiments import configuration as settings
from tfmrc.experiments.configuration import Evaluation, Recipe

CONFIG = "config.yaml"
DATA = "data.json"
VOCABULARY = "vocabulary.txt"
TRAINING = "training.json"
PREDICTOR = "predictor"
EVALUATION = "evaluation"


def run_folder(recipe: Recipe, run: str | Path | None) -> Path:
    """The run's folder; `runs/NAME` if none is given."""
    return Path(run) if run is not None else Path("runs", recipe.name)


def open_run(recipe: Recipe, run: str | Path | None, fresh: bool = False) -> Path:
    """Make a run's folder, or go on in it if it holds the same recipe.

    What may differ: how long training may take, and what concerns the report alone.

    Args:
        recipe: what is to be run.
        run: the folder, or None.
        fresh: drop what the folder holds.

    Returns:
        The folder, with `config.yaml` in it.

    Raises:
        ValueError: the folder holds a run of another recipe, or is none of a run at all.
    """
    folder = run_folder(recipe, run)
    config = folder / CONFIG
    if folder.is_dir() and any(folder.iterdir()) and not config.is_file():
        raise ValueError(f"The folder is not empty and not a run. Received: run={str(folder)!r}")
    if fresh and folder.is_dir():
        shutil.rmtree(folder)
    if config.is_file():
        before = settings.load(config)
        if _essence(before) != _essence(recipe):
            raise ValueError(
                f"{folder} holds a run of other settings ({_difference(before, recipe)}). "
                "Pass --fresh to drop it, or --run FOLDER for another folder."
            )
    folder.mkdir(parents=True, exist_ok=True)
    settings.save(recipe, config)
    return folder


def _essence(recipe: Recipe) -> Recipe:
    training = replace(recipe.training, max_minutes=None)
    sources = tuple(replace(source, title="", rules="", paper={}) for source in recipe.sources)
    return replace(recipe, title="", sources=sources, training=training, evaluation=Evaluation())


def _difference(before: Recipe, after: Recipe) -> str:
    old, new = settings.flat(_essence(before)), settings.flat(_essence(after))
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(f"{name}: {old.get(name)} there, {new.get(name)} here" for name in names[:3])


def write_json(path: Path, value: Any) -> None:
    """Write JSON so that the file is never half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def read_json(path: Path, made_by: str) -> Any:
    """Read JSON.

    Raises:
        ValueError: the file is not there; the message says what makes it.
    """
    if not path.is_file():
        raise ValueError(f"{path} is not there: `tfmrc {made_by}` makes it.")
    return json.loads(path.read_text(encoding="utf-8"))

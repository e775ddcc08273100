"""SIGKILL at random moments: the same command, given again, ends as if it had not been killed."""

import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import tensorflow as tf

from tests.attacks import commands
from tfmrc import cli
from tfmrc.storage.folders import check_target, new_folder
from tfmrc.storage.manifest import verify_files

LEFT_BY_A_KILL = (".part", ".old", ".tmp.weights.h5")
NAMES = ("replace", "prepare", "train", "export", "predict")


def attack(count: int, seed: int, folder: Path, names: Sequence[str] = NAMES) -> list[str]:
    """Kills each command `count` times at a random moment and `count` times at a change.

    A moment is uniform over the duration of an unbroken command. A change is the creation, renaming
    or removal of a file: there are many in the last milliseconds.

    Args:
        count: int. Number of kills of each kind.
        seed: int. Seed of the moments.
        folder: path. An empty folder.
        names: list of str. What is killed; `export` and `predict` need `train` before them.
            Default: all.

    Returns:
        A description of each wrong outcome.
    """
    recipe = commands.write_recipe(folder / "recipe")
    wrong: list[str] = []
    for name in names:
        wrong += _attack_one(name, count, random.Random(f"{seed}-{name}"), folder / name, recipe)
    return wrong


def _attack_one(name: str, count: int, rng: random.Random, folder: Path, recipe: Path) -> list[str]:
    wrong = []
    begun = start(name, folder, recipe)
    whole = shutil.copytree(begun, folder / "whole", dirs_exist_ok=True, symlinks=True)
    began = time.monotonic()
    status, changes, said = commands.run(action(name, whole, recipe), whole)
    duration = time.monotonic() - began
    if status:
        return [f"{name} ends with {status}: {said[-500:]}"]
    expected = contents(whole)
    kills: list[dict[str, Any]] = [{"seconds": rng.uniform(0, duration)} for _ in range(count)]
    numbers = list(range(1, changes + 1))
    kills += [{"change": change} for change in sorted(rng.sample(numbers, min(count, changes)))]
    hit = 0
    for number, kill in enumerate(kills):
        target = folder / f"killed-{number}"
        shutil.copytree(begun, target)
        status, _, said = commands.run(action(name, target, recipe), target, **kill)
        hit += status == -signal.SIGKILL
        problems = [] if status in (0, -signal.SIGKILL) else [f"ends with {status}: {said[-500:]}"]
        problems += half_written(target)
        again, _, said = commands.run(action(name, target, recipe), target)
        if again:
            problems.append(f"the command given again ends with {again}: {said[-500:]}")
        else:
            problems += differences(expected, contents(target))
            problems += half_written(target)
            problems += [f"left: {path}" for path in _left_over(target)]
        wrong += [f"{name}, killed at {kill}: {problem}" for problem in problems]
        shutil.rmtree(target)
        if (number + 1) % 10 == 0 or number + 1 == len(kills):
            print(f"  {name}: {number + 1} runs, {hit} killed, {len(wrong)} wrong", flush=True)
    print(f"{name}: {duration:.1f} s unbroken, {changes} changes", flush=True)
    return wrong


def start(name: str, folder: Path, recipe: Path) -> Path:
    """Returns a folder in which the command has not run yet, with what it needs."""
    begun = folder / "start"
    begun.mkdir(parents=True)
    if name in ("export", "predict"):
        trained = folder.parent / "train" / "whole" / "run"
        shutil.copytree(trained, begun / "run")
    if name in ("export", "replace"):  # an older version is replaced
        status, _, said = commands.run(action(name, begun, recipe), begun)
        if status:
            raise RuntimeError(said)
    return begun


def action(name: str, folder: Path, recipe: Path) -> Callable[[], int]:
    if name == "replace":
        return lambda: _replace(folder / "models" / "toy" / "1")
    run, output = folder / "run", folder / "out.jsonl"
    settings = [recipe / "config.yaml", "--data", recipe, "--run", run]
    command: list[object] = {
        "prepare": ["prepare", *settings, "--set", "split.write_ids=true"],
        "train": ["train", *settings],
        "export": ["export", run, "--to", folder / "models" / "toy" / "1", "--overwrite"],
        "predict": ["predict", run, "--input", recipe / "test.jsonl", "--output", output],
    }[name]

    def run_command() -> int:
        # Without graphs, a small model trains and predicts in a fraction of the time.
        tf.config.run_functions_eagerly(name in ("train", "predict"))
        return cli.main([str(word) for word in command])

    return run_command


def _replace(path: Path) -> int:
    """Replaces a folder as `export` does."""
    with new_folder(check_target(path, Path.is_dir), size=1) as part:
        (part / "assets").mkdir(exist_ok=True)
        for name in ("saved_model.pb", "assets/words.txt"):
            (part / name).write_text(name)
    return 0


def half_written(folder: Path) -> Iterator[str]:
    """Every folder with a final name is whole, and a temporary one is whole or refused."""
    for path in sorted(folder.rglob("*")):
        is_export = path.is_dir() and (path / "saved_model.pb").is_file()
        if not is_export and not (path / "model.weights.h5").is_file():
            continue
        try:
            verify_files(path)
        except (ValueError, OSError) as error:
            if not path.name.startswith("."):
                yield f"half written: {error}"


def _left_over(folder: Path) -> list[str]:
    names = [path for path in folder.rglob(".*") if path.name.endswith(LEFT_BY_A_KILL)]
    return [str(path.relative_to(folder)) for path in names]


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    if expected.keys() != found.keys():
        return [f"other files: {sorted(expected.keys() ^ found.keys())}"]
    return [
        f"{name} differs" for name in expected if not np.array_equal(expected[name], found[name])
    ]


def contents(folder: Path) -> dict[str, Any]:
    """Returns tables, texts and arrays of a folder by name.

    Other files have times, or the order of operations in a graph, which is TensorFlow's.
    """
    found: dict[str, Any] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.suffix in (".txt", ".csv", ".jsonl") or path.name == "data.json":
            found[name] = path.read_bytes()
        elif path.suffix == ".npz":
            with np.load(path) as archive:
                arrays = [key for key in archive.files if key != "facts.json"]
                found |= {f"{name}/{key}": archive[key] for key in arrays}
        elif path.suffix == ".h5":
            with h5py.File(path) as file:
                keys: list[str] = []
                file.visit(keys.append)
                arrays = [key for key in keys if hasattr(file[key], "dtype")]
                found |= {f"{name}/{key}": file[key][...] for key in arrays}
        elif path.suffix == ".index":
            reader = tf.train.load_checkpoint(str(path.with_suffix("")))
            arrays = [key for key in reader.get_variable_to_shape_map() if not key.startswith("_")]
            found |= {f"{name}/{key}": reader.get_tensor(key) for key in arrays}
    return found

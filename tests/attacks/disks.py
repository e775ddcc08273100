"""Full disks, and two commands at once."""

import random
import resource
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.attacks import commands
from tests.attacks.kills import action, contents, differences, half_written, start
from tfmrc.storage.manifest import verify_files

NAMES = ("prepare", "train", "export", "predict")


def attack(count: int, seed: int, folder: Path, names: tuple[str, ...] = NAMES) -> list[str]:
    """Runs each command with `count` limits of the size of a file, and two at once.

    A file that would exceed the limit cannot be written further, as on a full disk whose room
    nobody could foresee: this also happens within HDF5 and TensorFlow.

    Args:
        count: int. Number of limits.
        seed: int. Seed of the limits.
        folder: path. An empty folder.
        names: list of str. The commands; `export` and `predict` need `train`. Default: all.

    Returns:
        A description of each wrong outcome: a command that ends with a traceback or leaves what
        was there changed, or that fails when it is given again.
    """
    recipe = commands.write_recipe(folder / "recipe")
    wrong: list[str] = []
    for name in names:
        rng = random.Random(f"{seed}-{name}")
        begun = start(name, folder / name, recipe)
        whole = shutil.copytree(begun, folder / name / "whole", dirs_exist_ok=True)
        status, _, said = commands.run(action(name, whole, recipe), whole)
        if status:
            return [*wrong, f"{name} ends with {status}: {said[-500:]}"]
        conditions: dict[str, Callable[[Path], list[tuple[int, str]]]] = {
            f"files of at most {size:,} bytes": _limited(name, recipe, size)
            for size in (0, *(round(10 ** rng.uniform(1, 5)) for _ in range(count - 1)))
        }
        conditions["two at once"] = _together(name, recipe)
        for condition, run in conditions.items():
            target = shutil.copytree(begun, folder / name / "target")
            problems = []
            for status, said in run(target):
                # h5py prints that it could not close a file; the error of the command follows
                own = said.split("Exception ignored in: 'h5py._objects")[0]
                clear = f"\ntfmrc {name}: " in f"\n{said}" and "Traceback" not in own
                if status and not (status == 1 and clear):
                    problems.append(f"ends with {status}: {said[-600:]}")
            problems += half_written(target)
            if name == "export":
                verify_files(target / "models" / "toy" / "1")
            status, _, said = commands.run(action(name, target, recipe), target)
            if status:
                problems.append(f"the command given again ends with {status}: {said[-500:]}")
            else:
                problems += differences(contents(whole), contents(target))
            wrong += [f"{name}, {condition}: {problem}" for problem in problems]
            shutil.rmtree(target)
        print(f"{name}: {len(conditions)} conditions, {len(wrong)} wrong", flush=True)
    return wrong


def _limited(name: str, recipe: Path, size: int) -> Callable[[Path], list[tuple[int, str]]]:
    def run(target: Path) -> list[tuple[int, str]]:
        def limited() -> int:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            return action(name, target, recipe)()

        status, _, said = commands.run(limited, target)
        return [(status, said)]

    return run


def _together(name: str, recipe: Path) -> Callable[[Path], list[tuple[int, str]]]:
    def run(target: Path) -> list[tuple[int, str]]:
        processes = [commands.start(action(name, target, recipe), target) for _ in range(2)]
        results = [commands.finish(process) for process in processes]
        return [(status, said) for status, _, said in results]

    return run

"""Full disks, folders without permission, two commands at once, a clock that was set back."""

import ctypes
import os
import random
import resource
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tests.attacks import commands
from tests.attacks.kills import action, contents, differences, half_written, start
from tfmrc.storage.manifest import verify_files

NAMES = ("prepare", "train", "export", "predict")
FUTURE = 4_000_000_000.0


def attack(count: int, seed: int, folder: Path, names: tuple[str, ...] = NAMES) -> list[str]:
    """Runs each command with `count` limits of the size of a file, and in the other conditions.

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
        conditions["no permission to write"] = _without_permission(name, recipe)
        conditions["two at once"] = _together(name, recipe)
        conditions["clock set back"] = _earlier(name, recipe)
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


def _without_permission(name: str, recipe: Path) -> Callable[[Path], list[tuple[int, str]]]:
    def run(target: Path) -> list[tuple[int, str]]:
        folders = [target, *(path for path in target.rglob("*") if path.is_dir())]
        for path in folders:
            path.chmod(0o555)

        def unprivileged() -> int:
            _drop_capabilities()
            return action(name, target, recipe)()

        status, _, said = commands.run(unprivileged, target)
        for path in folders:
            path.chmod(0o755)
        return [(status or 1, said if status else "was not refused")]

    return run


def _drop_capabilities() -> None:
    """Root may write everywhere; without its capabilities, permissions hold for it too."""
    header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capset(header, data):
        raise OSError("capset")


def _together(name: str, recipe: Path) -> Callable[[Path], list[tuple[int, str]]]:
    def run(target: Path) -> list[tuple[int, str]]:
        processes = [commands.start(action(name, target, recipe), target) for _ in range(2)]
        results = [commands.finish(process) for process in processes]
        return [(status, said) for status, _, said in results]

    return run


def _earlier(name: str, recipe: Path) -> Callable[[Path], list[tuple[int, str]]]:
    """The command is killed; then its files are of the future, and the clock is at 2001."""

    def run(target: Path) -> list[tuple[int, str]]:
        commands.run(action(name, target, recipe), target, change=30)
        for path in target.rglob("*"):
            os.utime(path, (FUTURE, FUTURE), follow_symlinks=False)

        def earlier() -> int:
            time.time = lambda: 1_000_000_000.0
            return action(name, target, recipe)()

        status, _, said = commands.run(earlier, target)
        return [(status, said)]

    return run

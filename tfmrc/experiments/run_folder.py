"""The folder of a run: its files, its marker, its lock, and the check of its settings."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from tfmrc.experiments.settings import Experiment, read_settings, write_settings
from tfmrc.utils.files import sha256_of, write_text
from tfmrc.utils.run_imports import CONFIG

MARKER = "run.json"
LOCK = ".lock"
INPUTS = "inputs.json"
DATA = "data.json"
VOCABULARY = "vocabulary.txt"
VOCABULARY_IDS = "vocabulary.ids.tsv"
TAGS = "tags.jsonl"
SPANS = "spans-{}.jsonl.gz"  # of a source, by its number from 1
HELD_OUT = "held_out.csv"
TRAINED_ROWS = "trained_rows.txt"
IDS = "ids"
LOG = "log.csv"
TRAINING = "training.json"
PREDICTOR = "predictor"
EVALUATION = "evaluation"

_PREPARED = (INPUTS, DATA, VOCABULARY, VOCABULARY_IDS, HELD_OUT, TRAINED_ROWS)
_TRAINED = (LOG, TRAINING, PREDICTOR, EVALUATION, "best.weights.h5", "checkpoints", "tensorboard")
_KIND = "tfmrc run"
_OLD = ".old-"
_BEGUN = {LOCK, f".{MARKER}.part"}  # of a process that was killed before it wrote the marker


def is_run(folder: Path) -> bool:
    """Returns True if a folder has the marker that `open_run` writes."""
    try:
        marker = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(marker, dict) and marker.get("kind") == _KIND


@contextmanager
def open_run(experiment: Experiment, folder: Path, fresh: bool = False) -> Iterator[Path]:
    """Creates a run's folder, or opens one of the same settings, and locks it.

    The time limit, the grid's variants and seeds, and the settings of the report may differ from
    those in the folder. A run of other settings in which no step was trained, such as one whose
    model was refused, is prepared again; the tags of texts stay.

    Args:
        experiment: `Experiment`. The experiment.
        folder: Path. The run's folder.
        fresh: bool. Whether a run in the folder is first renamed to `NAME.old-1`, or the next
            number. Default: False.

    Yields:
        The folder.

    Raises:
        ValueError: If the folder has a run of other settings, or is not a run's.
        RunLockedError: If another process uses the folder.
    """
    is_new = not folder.is_dir() or {path.name for path in folder.iterdir()} <= _BEGUN
    if not is_new and not is_run(folder):
        raise ValueError(
            "The folder is not empty and not a run of tfmrc. Choose another one with --run FOLDER. "
            f"Received: run={str(folder)!r}"
        )
    with ExitStack() as locks:
        if fresh and not is_new:  # its locks are held to the end, so no process resumes it
            for path in (folder, *filter(is_run, folder.iterdir())):
                locks.enter_context(locked(path))
            print(f"{folder} is now {folder.rename(_old_name(folder))}.", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        locks.enter_context(locked(folder))
        if (folder / CONFIG).is_file():
            _begin_again(experiment, folder)
        write_json(folder / MARKER, {"kind": _KIND, "format": 1})
        write_settings(experiment, folder / CONFIG)
        yield folder


def _old_name(folder: Path) -> Path:
    names = (folder.with_name(f"{folder.name}{_OLD}{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def is_old(folder: Path) -> bool:
    """Returns True for the folder of a run that `--fresh` replaced."""
    return _OLD in folder.name


def check_settings(experiment: Experiment, folder: Path) -> None:
    """Raises a ValueError if a run's folder has other settings of data or weights."""
    changes = read_settings(folder / CONFIG).differences(experiment, "data", "weights")
    if changes:
        raise ValueError(
            f"{folder} holds a run of other settings ({_described(changes)}). "
            "Pass --run FOLDER for another folder, or --fresh to rename this one and start again "
            "(of a grid, without --variants and --seeds)."
        )


def check_trained(experiment: Experiment, folder: Path) -> None:
    """Raises a ValueError if settings of a trained model differ, which only training can change.

    Those of the sources may differ: other questions can be asked of the same model.
    """
    if not is_run(folder):
        return  # what is missing is named when it is read
    changes = read_settings(folder / CONFIG).differences(experiment, "data", "weights")
    for name, (old, new) in changes.items():
        if not name.startswith("sources."):
            raise ValueError(
                f"{folder} is trained, with {name}={old!r}, which only training can change. "
                "Settings that can be changed here are `evaluation` and `sources`. "
                f"Received: {name}={new!r}"
            )


def _described(changes: dict[str, tuple[Any, Any]]) -> str:
    """Returns the first changes of settings in words."""
    first = islice(changes.items(), 3)
    return ", ".join(f"{name}: {old} there, {new} here" for name, (old, new) in first)


def is_begun(folder: Path) -> bool:
    """Returns True if a run's folder has anything of a training, or the folder of another run."""
    for path in folder.iterdir():
        if path.name in _TRAINED:
            if any(path.iterdir()) if path.is_dir() else path.stat().st_size:
                return True
        elif is_run(path) and not is_old(path):
            return True
    return False


def _begin_again(experiment: Experiment, folder: Path) -> None:
    """Lets a run in which no step was trained begin with other settings; refuses any other run."""
    if is_begun(folder):
        return check_settings(experiment, folder)
    before = read_settings(folder / CONFIG)
    changes = before.differences(experiment, "data", "weights")
    if not changes:
        return
    print(
        f"{folder} had other settings ({_described(changes)}), and no step was trained: its data "
        "is prepared again.",
        flush=True,
    )
    drop_prepared(folder)
    if before.tagger != experiment.tagger:
        (folder / TAGS).unlink(missing_ok=True)


def drop_prepared(folder: Path) -> None:
    """Removes the files that `prepare` wrote, by their names; the tags of texts stay."""
    for path in (*(folder / name for name in _PREPARED), *folder.glob(SPANS.format("*"))):
        path.unlink(missing_ok=True)


def trained_folder(name: str | Path) -> Path | None:
    """Returns the folder of the predictor in a run or a saved predictor; None if it is neither.

    A ready model has its folder in the cache.
    """
    from tfmrc.models.folder import WEIGHTS
    from tfmrc.predictors.ready.shipped import model_folder

    folder = model_folder(name)
    for candidate in (folder, folder / PREDICTOR):
        if (candidate / WEIGHTS).is_file():
            return candidate
    return None


def shared_file(folder: Path, name: str) -> Path:
    """Returns a file of a run, or of the grid that it belongs to."""
    own, shared = folder / name, folder.parent / name
    return shared if not own.exists() and is_run(folder.parent) else own


def remembered_data(folder: Path) -> str | None:
    """Returns the data folder that a run was trained with, or None if it no longer exists."""
    path = shared_file(folder, INPUTS)
    if not path.is_file():
        return None
    data = str(read_json(path, "prepare")["folder"])
    return data if Path(data).is_dir() else None


# === What a run was prepared from ===


def describe_inputs(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Returns size and SHA-256 digest of files, by name.

    Args:
        files: iterable of path. The files.

    Returns:
        `{name: {"bytes": ..., "sha256": ...}}`. Later ones of equal names include as many of their
        folders as tell them apart.
    """
    facts: dict[str, dict[str, Any]] = {}
    for file in files:
        name = file.name
        for parent in file.parents:
            if name not in facts:
                break
            name = f"{parent.name}/{name}"
        facts[name] = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    return facts


def check_unchanged(
    noted: dict[str, dict[str, Any]], now: dict[str, dict[str, Any]], folder: Path
) -> None:
    """Raises a ValueError if a resumed run would read other files than before.

    Args:
        noted: dict. Result of `describe_inputs` at the start of the run.
        now: dict. Its current result.
        folder: Path. The run's folder, for the message.
    """
    for name in {**noted, **now}:
        before, after = noted.get(name), now.get(name)
        if before != after:
            raise ValueError(
                f"{folder} was started with other data. Pass the same data, --fresh to start again "
                f"or --run FOLDER for another folder. Received: {name}: {_shown(after)}, there: "
                f"{_shown(before)}"
            )


def _shown(facts: dict[str, Any] | None) -> str:
    if facts is None:
        return "no such file"
    return f"{facts.get('bytes')} bytes, sha256 {str(facts.get('sha256'))[:12]}"


# === The lock ===


class RunLockedError(ValueError):
    """Raised if another process uses a run's folder."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Holds the lock of a folder while the block runs.

    The operating system releases the lock when its process ends, so the lock file of a killed
    process has no effect.

    Args:
        folder: Path. The folder, which must exist.

    Raises:
        RunLockedError: If another process holds the lock.
    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunLockedError(
            f"Another process is using {folder}. Wait until it ends, or choose another folder with "
            "--run FOLDER."
        ) from error
    try:
        yield
    finally:
        lock.release()


# === Files ===


def write_json(path: Path, value: Any) -> None:
    """Writes JSON to a file as a whole."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_json(path: Path, made_by: str) -> Any:
    """Reads JSON.

    Raises:
        ValueError: If the file does not exist; the message names the command that writes it.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist: `tfmrc {made_by}` creates it.")
    return json.loads(path.read_text(encoding="utf-8"))

"""The folder of a run: its files, its marker, its lock, and the check of its settings."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from tfmrc.experiments import loading
from tfmrc.experiments.settings import Evaluation, Experiment, Grid, Training
from tfmrc.utils.files import write_text
from tfmrc.utils.run_imports import CONFIG

MARKER = "run.json"
LOCK = ".lock"
INPUTS = "inputs.json"
DATA = "data.json"
VOCABULARY = "vocabulary.txt"
VOCABULARY_IDS = "vocabulary.ids.tsv"
TAGS = "tags.jsonl"
SPANS = "spans.jsonl.gz"
IDS = "ids"
LOG = "log.csv"
TRAINING = "training.json"
PREDICTOR = "predictor"
EVALUATION = "evaluation"

_OURS = frozenset(
    (MARKER, LOCK, CONFIG, INPUTS, DATA, VOCABULARY, TAGS, SPANS, IDS, LOG, TRAINING, PREDICTOR)
    + (EVALUATION, "best.weights.h5", "checkpoints", "tensorboard", VOCABULARY_IDS)
    + ("learning_curves.png", "learning_curves.svg")
)
_PREPARED = (INPUTS, DATA, VOCABULARY, VOCABULARY_IDS, SPANS)
_PARTS = ("train", "validation", "test")
_NOT_TRAINED = frozenset((MARKER, LOCK, CONFIG, TAGS, IDS, *_PREPARED))
_UNFINISHED = (".tmp", ".part", ".old", ".lock", ".tmp.weights.h5")  # of a process that was killed
_KIND = "tfmrc run"
_BEGUN = {LOCK, f".{MARKER}.part"}  # of a process that was killed before it wrote the marker


def run_folder(experiment: Experiment, run: str | Path | None) -> Path:
    """Returns the run's folder; `runs/NAME` if none is given."""
    return Path(run) if run is not None else Path("runs", experiment.name)


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
    model was refused, begins again; what was prepared stays as far as it fits. If the block raises
    and the folder is new and has no other files, it is removed.

    Args:
        experiment: `Experiment`. The experiment.
        folder: Path. The run's folder.
        fresh: bool. Whether to empty the folder first, if it is recognised as a run.
            Default: False.

    Yields:
        The folder.

    Raises:
        ValueError: If the folder has a run of other settings, or is not a run's.
        RunLockedError: If another process uses the folder.
    """
    existed = folder.is_dir()
    is_new = not existed or {path.name for path in folder.iterdir()} <= _BEGUN
    if not is_new and not is_run(folder):
        raise ValueError(
            f"The folder is not empty and not a run of tfmrc: it has no {MARKER} of ours. Pass "
            f"another one by --run FOLDER. Received: run={str(folder)!r}"
        )
    if fresh and not is_new:
        check_removable(folder)
    elif (folder / CONFIG).is_file() and (is_begun(folder) or folder.is_symlink()):
        check_settings(experiment, folder)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        try:
            if fresh and not is_new:
                _empty(folder)
            elif (folder / CONFIG).is_file():
                _begin_again(experiment, folder)
            write_json(folder / MARKER, {"kind": _KIND, "format": 1})
            loading.save(experiment, folder / CONFIG)
            yield folder
        except BaseException:
            if not existed and {path.name for path in folder.iterdir()} <= {MARKER, LOCK, CONFIG}:
                shutil.rmtree(folder)
            raise


def check_settings(experiment: Experiment, folder: Path) -> None:
    """Raises a ValueError if a run's folder has other settings."""
    before = loading.load(folder / CONFIG)
    if _essence(before) != _essence(experiment):
        raise ValueError(
            f"{folder} holds a run of other settings ({_difference(before, experiment)}). "
            "Pass --run FOLDER for another folder, or --fresh to delete what is trained there "
            "(of a grid, without --variants and --seeds)."
        )


def check_trained(experiment: Experiment, folder: Path) -> None:
    """Raises a ValueError if settings of a trained model differ, which only training can change.

    Those of the sources may differ: other questions can be asked of the same model.
    """
    if not is_run(folder):
        return  # what is missing is named when it is read
    before = replace(loading.load(folder / CONFIG), sources=())
    changes = _changes(before, replace(experiment, sources=()))
    if changes:
        name, old, new = changes[0]
        raise ValueError(
            f"{folder} is trained, with {name}={old!r}, which only training can change. Settings "
            f"that can be changed here are `evaluation` and `sources`. Received: {name}={new!r}"
        )


def is_begun(folder: Path) -> bool:
    """Returns True if a run's folder has anything of a training, or the folder of another run."""
    for path in folder.iterdir():
        if path.name in _OURS - _NOT_TRAINED:
            if path.is_dir() and not any(path.iterdir()):
                continue
            if path.is_dir() or path.stat().st_size:
                return True
        elif path.is_dir() and is_run(path):
            return True
    return False


def _begin_again(experiment: Experiment, folder: Path) -> None:
    """Lets a run in which no step was trained begin with other settings; refuses any other run.

    What was prepared is removed if it depends on the settings that have changed.
    """
    before = loading.load(folder / CONFIG)
    if _essence(before) == _essence(experiment):
        return
    if is_begun(folder):
        check_settings(experiment, folder)
    same = _preparation(before) == _preparation(experiment)
    again = "its data stays prepared" if same else "its data is prepared again"
    print(
        f"{folder} had other settings ({_difference(before, experiment)}), and no step was "
        f"trained: {again}.",
        flush=True,
    )
    if same:
        return
    drop_prepared(folder)
    if before.tagger != experiment.tagger:
        (folder / TAGS).unlink(missing_ok=True)


def _preparation(experiment: Experiment) -> Experiment:
    """Returns the settings that the result of `prepare` depends on."""
    return replace(
        _essence(experiment),
        model={"name": experiment.model.get("name")},
        encoder={},
        contextual={},
        training=Training(),
    )


def counts(experiment: Experiment) -> tuple[Any, ...]:
    """Returns the settings that the files of `prepare` depend on, but for the model's."""
    # A source as a sequence has the same words in another order.
    sources = tuple(replace(source, sequence=None) for source in _essence(experiment).sources)
    return experiment.vocabulary, experiment.tagger, sources, experiment.split


def drop_prepared(folder: Path) -> None:
    """Removes the files that `prepare` wrote, by their names; the tags of texts stay."""
    for name in _PREPARED:
        (folder / name).unlink(missing_ok=True)
    for name in _PARTS if not (folder / IDS).is_symlink() else ():
        (folder / IDS / f"{name}.txt").unlink(missing_ok=True)


def _essence(experiment: Experiment) -> Experiment:
    """Returns the settings that a run's weights depend on, as a file of settings has them."""
    free: dict[str, Any] = {"title": "", "rules": "", "paper": {}, "squad_scores": None}
    free |= {"test": None, "test_share": 1.0, "test_options": {}}
    if experiment.split.by == "sentence":
        del free["test"]  # it is validated on, too
    essence = replace(
        experiment,
        name="",
        title="",
        sources=tuple(replace(source, **free) for source in experiment.sources),
        training=replace(experiment.training, max_minutes=None),
        evaluation=Evaluation(),
        grid=Grid(),
    )
    return loading.changed(essence, {})  # a tuple given in Python is a list in a file


def _changes(before: Experiment, after: Experiment) -> list[tuple[str, Any, Any]]:
    """Returns the name and both values of each setting of a run's weights that differs."""
    old, new = loading.flat(_essence(before)), loading.flat(_essence(after))
    each = [(name, old.get(name), new.get(name)) for name in {**old, **new}]
    return [(name, was, now) for name, was, now in each if was != now]


def _difference(before: Experiment, after: Experiment) -> str:
    changes = _changes(before, after)[:3]
    return ", ".join(f"{name}: {old} there, {new} here" for name, old, new in changes)


def start_folder(experiment: Experiment) -> Path | None:
    """Returns the folder of the predictor that training starts from; None without one.

    Raises:
        ValueError: If the folder is neither a saved predictor nor a trained run.
    """
    if experiment.start_from is None:
        return None
    folder = trained_folder(experiment.start_from)
    if folder is None:
        raise ValueError(
            "`start_from` is the folder of a trained run or of a saved predictor. "
            f"Received: start_from={experiment.start_from!r}"
        )
    return folder


def trained_folder(name: str | Path) -> Path | None:
    """Returns the folder of the predictor in a run or a saved predictor; None if it is neither."""
    from tfmrc.models.folder import WEIGHTS

    for candidate in (Path(name), Path(name) / PREDICTOR):
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
        RunLockedError: If another process holds the lock; the message names it.
    """
    with open(folder / LOCK, "a+", encoding="utf-8") as file:
        if not _lock(file):
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise RunLockedError(
                f"{holder} is at work in {folder}. Wait until it ends, or name another folder by "
                "--run FOLDER."
            )
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()}")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.truncate()


def _lock(file: IO[str]) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


# === Removing ===


def check_removable(folder: Path) -> None:
    """Raises a ValueError unless a folder contains only files of a run.

    A grid's folder may also contain the folders of its runs, which are checked in the same way.
    Links are never followed.
    """
    if folder.is_symlink():
        raise ValueError(f"A link is not emptied: name the folder itself. Received: run={folder}")
    if any(folder.iterdir()) and not is_run(folder):
        raise ValueError(
            f"Only runs of tfmrc are dropped, and this has no {MARKER} of ours. "
            f"Received: run={str(folder)!r}"
        )
    for path in sorted(folder.iterdir()):
        name = path.name
        if name in _OURS or (name.startswith(".") and name.endswith(_UNFINISHED)):
            continue
        if path.is_dir() and not path.is_symlink() and is_run(path):
            check_removable(path)
            continue
        raise ValueError(
            f"{folder} holds what is not a run's; move it away first. Received: {path.name}"
        )


def _empty(folder: Path) -> None:
    """Removes a run's files; the marker stays, so that an interrupted removal can be repeated."""
    check_removable(folder)
    paths = sorted(folder.iterdir(), key=lambda path: path.name != TRAINING)
    with ExitStack() as locks:  # raises if another process trains a run of the grid
        for path in filter(is_run, paths):
            locks.enter_context(locked(path))
        for path in paths:
            if path.name in (MARKER, LOCK):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


# === Files ===


def write_json(path: Path, value: Any) -> None:
    """Writes JSON to a file as a whole."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def read_json(path: Path, made_by: str) -> Any:
    """Reads JSON.

    Raises:
        ValueError: If the file does not exist (the message names the command that writes it) or is
            damaged.
    """
    if not path.is_file():
        raise ValueError(f"{path} does not exist: `tfmrc {made_by}` makes it.")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def check_room(folder: Path, size: int, what: str) -> None:
    """Raises an OSError if the disk of a folder has less than `size` bytes of free space."""
    free = shutil.disk_usage(folder).free
    if free < size:
        raise OSError(
            f"The disk is full: {what} takes {_megabytes(size)}, and {_megabytes(free)} are free "
            f"at {folder}. Make room and run the same command again."
        )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.1f} MiB"

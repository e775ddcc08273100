"""Loads versions of models, picks up new ones, and unloads old ones after their last request."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakSet

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.model_config import ModelConfig
from tfmrc.predictors.signature import SavedModel
from tfmrc.serving.batcher import Batcher
from tfmrc.serving.batching_options import BatchingOptions
from tfmrc.storage.manifest import manifest_of
from tfmrc.storage.warmup import read_warmup_requests

__all__ = ["ModelManager", "Version"]

LOGGER = logging.getLogger("tfmrc.serving")


@dataclass(eq=False)
class Version:
    """A version of a model and its state.

    Attributes:
        name: str. The model's name.
        number: int. The version.
        path: path. Its folder.
        state: str. As TensorFlow Serving names it: `"START"` (its files may still be copied),
            `"LOADING"`, `"AVAILABLE"`, `"UNLOADING"` or `"END"`.
        error: str. Reason why it could not be loaded, or not be replaced by its changed files; `""`
            if there is none.
        exception: exception or None. The exception of that error.
    """

    name: str
    number: int
    path: Path
    state: str = "LOADING"
    error: str = ""
    exception: Exception | None = None
    verified: bool = field(default=False, repr=False)
    fingerprint: tuple[Any, ...] = field(default=(), repr=False)  # of the files that were loaded
    seen: tuple[Any, ...] = field(default=(), repr=False)  # the files at the last poll
    in_flight: int = field(default=0, repr=False)
    _loaded: "Loaded | None" = field(default=None, repr=False)

    @property
    def loaded(self) -> "Loaded":
        """The loaded model and its batcher.

        Raises:
            RequestError: If it is not loaded (status 503).
        """
        if self._loaded is None:
            raise RequestError(f"{self.name!r} version {self.number} is not loaded.", 503)
        return self._loaded


class Loaded(NamedTuple):
    """A loaded version: its SavedModel, and the batcher that computes its requests."""

    model: SavedModel
    batcher: Batcher


class ModelManager:
    """The models of a server and the life cycle of their versions.

    `poll` compares the folders with what is served. A new version is loaded and runs its warm-up
    requests before it replaces the old one; the old one is unloaded after its last request. A
    version that cannot be loaded is refused: the old one stays. If there is no old one, the newest
    version that can be loaded is served instead.

    A version with a manifest is verified. A version without one may be an export of another library
    or the first half of a copy: it is loaded when two polls in a row find the same files, and
    replaced when its files change afterwards.

    Args:
        configs: callable. Function without arguments that returns the `ModelConfig`s; it is called
            for each poll, so models can be added and removed.
        batching: `BatchingOptions` or None. Limits of the batches. Default: None.
        warm_up: bool. Whether the warm-up requests of an export run before it is served.
            Default: True.
        on_batch: callable or None. Called with a model's name and the number of examples of each
            computed batch. Default: None.
    """

    def __init__(
        self,
        configs: Callable[[], Sequence[ModelConfig]],
        *,
        batching: BatchingOptions | None = None,
        warm_up: bool = True,
        on_batch: Callable[[str, int], None] | None = None,
    ):
        self._configs = configs
        self._batching = batching
        self._warm_up = warm_up
        self._on_batch = on_batch or (lambda name, rows: None)
        self._lock = threading.Lock()
        self._polling = threading.Lock()
        self._versions: dict[str, dict[int, Version]] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._stop = threading.Event()
        self._batchers: WeakSet[Batcher] = WeakSet()  # a thread that computes holds its own

    def __repr__(self) -> str:
        return f"<ModelManager of {', '.join(self.names) or 'no model'}>"

    @property
    def names(self) -> list[str]:
        """Names of the models that have an available version."""
        with self._lock:
            return sorted(
                name
                for name, versions in self._versions.items()
                if any(each.state == "AVAILABLE" for each in versions.values())
            )

    @property
    def known(self) -> list[str]:
        """Names of all models, served or not."""
        with self._lock:
            return sorted(self._versions)

    @property
    def ready(self) -> bool:
        """True if a model is available; a broken model does not take the others down."""
        return bool(self.names)

    def versions(self, name: str, number: int | None = None) -> list[Version]:
        """Returns the versions of a model with their states, newest first.

        Args:
            name: str. The model's name.
            number: int or None. One version; None for all. Default: None.

        Raises:
            RequestError: If there is no such model or version (status 404).
        """
        with self._lock:
            known = self._versions.get(name, {})
            if not known or number not in (None, *known):
                raise RequestError(self._unknown(name, number), 404)
            return [known[each] for each in sorted(known, reverse=True) if number in (None, each)]

    def labelled(self, name: str, label: str) -> int:
        """Returns the version with a label.

        Args:
            name: str. The model's name.
            label: str. The label.

        Raises:
            RequestError: If there is no such model or label (status 404).
        """
        with self._lock:
            labels = self._labels.get(name, {})
            if label not in labels:
                names = ", ".join(sorted(labels)) or "none"
                raise RequestError(
                    f"The labels of the model are {names}. Received: {label!r:.80}", 404
                )
            return labels[label]

    @contextmanager
    def use(
        self, name: str, number: int | None = None, label: str | None = None
    ) -> Iterator[Version]:
        """Context in which an available version is not unloaded.

        Args:
            name: str. The model's name.
            number: int or None. The version; None for the newest. Default: None.
            label: str or None. The version's label. Default: None.

        Raises:
            RequestError: If it is not served: status 404, or 503 while it is being loaded.
        """
        if label is not None:
            number = self.labelled(name, label)
        with self._lock:
            version = self._available(name, number)
            version.in_flight += 1
        try:
            yield version
        finally:
            with self._lock:
                version.in_flight -= 1
                self._end_if_drained(version)

    def _available(self, name: str, number: int | None) -> Version:
        known = self._versions.get(name, {})
        chosen = [each for each in known.values() if number in (None, each.number)]
        available = [each for each in chosen if each.state == "AVAILABLE"]
        if available:
            return max(available, key=lambda each: each.number)
        if any(each.state in ("START", "LOADING") for each in chosen):
            raise RequestError(f"The model {name!r} is being loaded. Repeat the request.", 503)
        raise RequestError(self._unknown(name, number), 404)

    def _unknown(self, name: str, number: int | None) -> str:
        served = ", ".join(
            f"{model} version {each.number}"
            for model, versions in sorted(self._versions.items())
            for each in versions.values()
            if each.state == "AVAILABLE"
        )
        wanted = f"{name!r:.80}" + ("" if number is None else f" version {number}")
        return f"Not served: {wanted}. Served: {served or 'nothing'}."

    # === Life cycle ===

    def poll(self) -> None:
        """Loads new versions, and unloads those that are no longer selected."""
        with self._polling:
            try:
                configs = list(self._configs())
            except (OSError, ValueError) as error:
                LOGGER.error("The models cannot be listed: %s", error)
                return
            for config in configs:
                if self._stop.is_set():
                    break
                try:
                    self._update(config)
                except OSError as error:  # a folder went away while it was read
                    LOGGER.warning("%s is looked at again: %s", config.name, error)
            if self._stop.is_set():  # `close` did not wait for a version that was loaded
                self._remove(list(self._versions))
            elif configs:  # an empty folder is rather away for a moment than meant
                self._remove(self._versions.keys() - {config.name for config in configs})

    def start(self, seconds: float) -> None:
        """Polls in a thread until `close`.

        Args:
            seconds: float. Time between two polls.
        """

        def work() -> None:
            while not self._stop.wait(seconds):
                self.poll()

        threading.Thread(target=work, name="tfmrc-poll", daemon=True).start()

    def close(self, timeout: float | None = None) -> bool:
        """Stops polling and unloads everything; returns False if a version is still being loaded.

        In that case everything is unloaded when it is loaded.

        Args:
            timeout: float or None. Seconds to wait for a version that is being loaded; None for no
                limit. Default: None.
        """
        self._stop.set()
        if not self._polling.acquire(timeout=-1 if timeout is None else timeout):
            return False
        try:
            self._remove(list(self._versions))
        finally:
            self._polling.release()
        return True

    def has_ended(self, timeout: float) -> bool:
        """Returns True if nothing is loaded or computed any more after `close`.

        Args:
            timeout: float. Seconds to wait for each thread.
        """
        closed = self.close(timeout)
        return all([closed, *(batcher.join(timeout) for batcher in list(self._batchers))])

    def _update(self, config: ModelConfig) -> None:
        with self._lock:
            known = self._versions.setdefault(config.name, {})
            self._labels[config.name] = dict(config.labels)
        served = [each.number for each in known.values() if each.state == "AVAILABLE"]
        selected = config.selected()
        if not selected and served:  # as TensorFlow Serving: the folder may be away for a moment
            return
        for number, path in selected.items():
            self._load(config.name, number, path)
        found = config.found()
        if not any(known[number].state == "AVAILABLE" for number in selected):
            for number, path in found.items():  # rather an older version than none
                if number in selected:
                    continue  # a second look at its files would be no second poll
                starts = number in known and known[number].state == "START"
                if served and number not in served and not (starts and number > max(served)):
                    continue  # what is served stays, and is looked at again
                if self._load(config.name, number, path).state == "AVAILABLE":
                    if number not in served:
                        self._end(known[each] for each in served)
                    break
        with self._lock:
            if any(known[number].state == "AVAILABLE" for number in selected):
                for version in list(known.values()):
                    if version.number not in selected and version.state == "AVAILABLE":
                        self._unload(version)
                    elif version.number not in selected and version.state == "START":
                        del known[version.number]
            for version in list(known.values()):
                if version.state in ("START", "END") and version.number not in found:
                    del known[version.number]

    def _load(self, name: str, number: int, path: Path) -> Version:
        """Loads a version unless it is served already, failed with the same files, or is copied."""
        with self._lock:
            versions = self._versions.setdefault(name, {})
            old = versions.get(number)
        files = fingerprint(path)
        verified = manifest_of(path) is not None
        settled = verified or (old is not None and old.seen == files)
        if old is not None:
            old.seen = files
            is_verified = old.state == "AVAILABLE" and old.verified
            if is_verified or old.state == "UNLOADING" or old.fingerprint == files or not settled:
                return old
        if not settled:
            LOGGER.info("%s version %d is loaded when its files stay the same", name, number)
            version = Version(name, number, path, state="START", seen=files)
            with self._lock:
                versions[number] = version
            return version
        version = Version(name, number, path, verified=verified, fingerprint=files, seen=files)
        replaced = old if old is not None and old.state == "AVAILABLE" else None
        if replaced is None:
            with self._lock:
                versions[number] = version
        try:
            loaded = self._load_files(name, path)
        except Exception as error:  # a server must outlive every broken file
            # The frames of an exception, and of its causes, would keep the model in memory.
            error.__traceback__ = error.__cause__ = error.__context__ = None
            version.error, version.exception = f"{type(error).__name__}: {error}", error
            version.state = "END"
            LOGGER.error("%s version %d is refused: %s", name, number, version.error)
            if replaced is None:
                return version
            replaced.error, replaced.fingerprint = version.error, files
            return replaced
        with self._lock:
            version._loaded = loaded
            version.state = "AVAILABLE"
            versions[number] = version
            if replaced is not None:
                self._unload(replaced)
        LOGGER.info("%s version %d is served from %s", name, number, path)
        return version

    def _load_files(self, name: str, path: Path) -> Loaded:
        """Loads a SavedModel, starts its batcher and runs its warm-up requests."""
        model = SavedModel(path)
        _ = model.signature_defs  # its file may be gone when they are asked for
        batcher = Batcher(
            model.signatures,
            self._batching,
            merge=bool(model.card),  # of others it is not known what padding changes
            on_batch=lambda rows: self._on_batch(name, rows),
        )
        self._batchers.add(batcher)
        try:
            if self._warm_up:
                _run_warm_up(model, batcher)
        except BaseException:
            batcher.close()  # its threads would wait for ever
            raise
        return Loaded(model, batcher)

    def _end(self, versions: Iterable[Version]) -> None:
        with self._lock:
            for version in versions:
                if version.state == "AVAILABLE":
                    self._unload(version)

    def _unload(self, version: Version) -> None:
        version.state = "UNLOADING"
        self._end_if_drained(version)

    def _end_if_drained(self, version: Version) -> None:
        if version.state == "UNLOADING" and version.in_flight == 0:
            version.state = "END"
            if version._loaded is not None:
                version._loaded.batcher.close()
            version._loaded = None
            version.fingerprint = ()  # it is loaded again if it is selected again
            LOGGER.info("%s version %d is unloaded", version.name, version.number)

    def _remove(self, names: Iterable[str]) -> None:
        with self._lock:
            for name in list(names):
                for version in self._versions[name].values():
                    if version.state == "AVAILABLE":
                        self._unload(version)
                del self._versions[name]
                self._labels.pop(name, None)


def fingerprint(folder: Path) -> tuple[Any, ...]:
    """Returns names, sizes and times of all files of a folder; it changes when they do.

    Args:
        folder: path. The folder.
    """
    entries = []
    for path in sorted(folder.rglob("*")):
        try:
            status = path.stat()
        except OSError:
            continue
        entries.append((str(path), status.st_size, status.st_mtime_ns))
    return tuple(entries)


def _run_warm_up(model: SavedModel, batcher: Batcher) -> None:
    """Runs the warm-up requests of an export."""
    import tensorflow as tf

    requests: list[tuple[str, dict[str, Any]]] = [
        (
            request.model_spec.signature_name or "serving_default",
            {name: tf.make_ndarray(proto) for name, proto in request.inputs.items()},
        )
        for request in read_warmup_requests(model.path)
    ]
    for name, inputs in requests:
        batcher.submit(name, model.signature(name).arrays(inputs)).result()

"""Loads versions of models, picks up new ones, and unloads old ones after their last request."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tfmrc.predictors.errors import RequestError
from tfmrc.predictors.signature import SavedModel
from tfmrc.predictors.versions import versions_of
from tfmrc.serving.batcher import Batcher
from tfmrc.serving.limits import Limits
from tfmrc.storage.manifest import manifest_of
from tfmrc.storage.warmup import read_warmup_requests

__all__ = ["ModelManager", "Version"]

LOGGER = logging.getLogger("tfmrc.serving")


class Loaded(NamedTuple):
    """A loaded version: its SavedModel, and the batcher that computes its requests."""

    model: SavedModel
    batcher: Batcher


@dataclass(eq=False)
class Version:
    """A version of a model and its state.

    Attributes:
        name: str. The model's name.
        number: int. The version.
        state: str. As TensorFlow Serving names it: `"START"` (its files may still be copied),
            `"LOADING"`, `"AVAILABLE"`, `"UNLOADING"` or `"END"`.
        files: tuple. Names, sizes and times of its files at the last poll.
        error: str. Reason why it could not be loaded; `""` if there is none. Default: "".
        in_flight: int. Number of requests that use it. Default: 0.
        loaded: `Loaded`, while it is available or being unloaded. Default: None.
    """

    name: str
    number: int
    state: str
    files: tuple[Any, ...]
    error: str = ""
    in_flight: int = 0
    loaded: Any = None


class ModelManager:
    """The models of a server and the life cycle of their versions.

    `poll` compares the folders with what is served. The newest version of each model is loaded and
    runs its warm-up requests before it replaces the version that is served, which is unloaded after
    its last request. A version that cannot be loaded is refused, until its files change: the one
    that is served stays.

    A version with a manifest is verified. A version without one may be an export of another library
    or the first half of a copy: it is loaded when two polls in a row find the same files.

    Args:
        models: callable. Function without arguments that returns the folder of each model by name;
            it is called for each poll, so models can be added and removed.
        limits: `Limits` or None. Limits of the batches. Default: None.
        on_batch: callable or None. Called with a model's name and the number of examples of each
            computed batch. Default: None.
    """

    def __init__(
        self,
        models: Callable[[], Mapping[str, Path]],
        limits: Limits | None = None,
        *,
        on_batch: Callable[[str, int], None] | None = None,
    ):
        self._models = models
        self._limits = limits
        self._on_batch = on_batch or (lambda name, rows: None)
        self._lock = threading.Lock()
        self._versions: dict[str, dict[int, Version]] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def names(self) -> list[str]:
        """Names of the models that have an available version."""
        with self._lock:
            return sorted({version.name for version in self._available()})

    def versions(self, name: str | None = None, number: int | None = None) -> list[Version]:
        """Returns versions with their states, newest first.

        Args:
            name: str or None. The model's name; None for all models. Default: None.
            number: int or None. One version; None for all. Default: None.

        Raises:
            RequestError: If there is no such version (status 404).
        """
        with self._lock:
            found = [
                version
                for model, versions in self._versions.items()
                if name in (None, model)
                for version in versions.values()
                if number in (None, version.number)
            ]
            if name is not None and not found:
                raise self._unknown(name, number)
            return sorted(found, key=lambda version: -version.number)

    @contextmanager
    def use(self, name: str, number: int | None = None) -> Iterator[Version]:
        """Context in which an available version is not unloaded.

        Args:
            name: str. The model's name.
            number: int or None. The version; None for the newest. Default: None.

        Raises:
            RequestError: If it is not served: status 404, or 503 while it is being loaded.
        """
        with self._lock:
            version = self._selected(name, number)
            version.in_flight += 1
        try:
            yield version
        finally:
            with self._lock:
                version.in_flight -= 1
                self._end_if_drained(version)

    def _selected(self, name: str, number: int | None) -> Version:
        versions = [
            version
            for version in self._versions.get(name, {}).values()
            if number in (None, version.number)
        ]
        available = [version for version in versions if version.state == "AVAILABLE"]
        if available:
            return max(available, key=lambda version: version.number)
        if any(version.state in ("START", "LOADING") for version in versions):
            raise RequestError(f"The model {name!r} is being loaded. Repeat the request.", 503)
        raise self._unknown(name, number)

    def _unknown(self, name: str, number: int | None) -> RequestError:
        served = ", ".join(f"{v.name} version {v.number}" for v in self._available())
        wanted = f"{name!r:.80}" + ("" if number is None else f" version {number}")
        return RequestError(f"Not served: {wanted}. Served: {served or 'nothing'}.", 404)

    def _available(self) -> list[Version]:
        return [
            version
            for versions in self._versions.values()
            for version in versions.values()
            if version.state == "AVAILABLE"
        ]

    # === Life cycle ===

    def poll(self) -> None:
        """Loads new versions, and unloads those that they replace."""
        try:
            models = self._models()
            for name, folder in models.items():
                if not self._stop.is_set():
                    self._update(name, folder)
        except OSError as error:  # a folder is away for a moment, or went away while it was read
            LOGGER.warning("The folders are read again at the next poll: %s", error)
            return
        with self._lock:
            if models:  # an empty folder is rather away for a moment than meant
                for name in self._versions.keys() - models.keys():
                    for version in self._versions.pop(name).values():
                        self._unload(version)
            if self._stop.is_set():  # `close` did not wait for a version that was being loaded
                for version in self._available():
                    self._unload(version)

    def start(self, seconds: float) -> None:
        """Polls in a thread until `close`.

        Args:
            seconds: float. Time between two polls.
        """

        def work() -> None:
            while not self._stop.wait(seconds):
                self.poll()

        self._thread = threading.Thread(target=work, name="tfmrc-poll", daemon=True)
        self._thread.start()

    def close(self, timeout: float | None = None) -> None:
        """Stops polling and unloads everything.

        Args:
            timeout: float or None. Seconds to wait for a version that is being loaded, which is
                unloaded when it is loaded; None for no limit. Default: None.
        """
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)
        with self._lock:
            for version in self._available():
                self._unload(version)

    def _update(self, name: str, folder: Path) -> None:
        found = versions_of(folder)
        if not found:  # as TensorFlow Serving: it may be away for a moment
            return
        newest, path = next(iter(found.items()))
        with self._lock:
            versions = self._versions.setdefault(name, {})
            version = versions.get(newest)
            if version is not None and version.state == "UNLOADING":  # it is selected again
                version.state = "AVAILABLE"
        if version is None or version.state in ("START", "END"):
            version = self._load(name, newest, path, version)
        with self._lock:
            for number, other in list(versions.items()):
                if version.state == "AVAILABLE" and other is not version:
                    self._unload(other)
                if other.state in ("START", "END") and number not in found:
                    del versions[number]

    def _load(self, name: str, number: int, path: Path, old: Version | None) -> Version:
        """Loads a version unless it failed with the same files, or is still copied."""
        files = tuple(
            (str(file), file.stat().st_size, file.stat().st_mtime_ns)
            for file in sorted(path.rglob("*"))
        )
        unchanged = old is not None and old.files == files
        if old is not None and old.error and unchanged:
            return old
        version = Version(name, number, "LOADING", files)
        with self._lock:
            self._versions[name][number] = version
        if manifest_of(path) is None and not unchanged:
            version.state = "START"
            LOGGER.info("%s version %d is loaded when its files stay the same", name, number)
            return version
        try:
            version.loaded = self._load_files(name, path)
        except Exception as error:  # a server must outlive every broken file
            version.state, version.error = "END", f"{type(error).__name__}: {error}"
            LOGGER.error("%s version %d is refused: %s", name, number, version.error)
        else:
            version.state = "AVAILABLE"
            LOGGER.info("%s version %d is served from %s", name, number, path)
        return version

    def _load_files(self, name: str, path: Path) -> Loaded:
        """Loads a SavedModel, starts its batcher and runs its warm-up requests."""
        import tensorflow as tf

        model = SavedModel(path)
        _ = model.signature_defs  # its file may be gone when they are asked for
        batcher = Batcher(
            model.signatures,
            self._limits,
            merge=bool(model.card),  # of others it is not known what padding changes
            on_batch=lambda rows: self._on_batch(name, rows),
        )
        try:
            for request in read_warmup_requests(path):
                signature = request.model_spec.signature_name or "serving_default"
                inputs = {key: tf.make_ndarray(proto) for key, proto in request.inputs.items()}
                batcher.submit(signature, model.signature(signature).arrays(inputs)).result()
        except BaseException:
            batcher.close()  # its thread would wait for ever
            raise
        return Loaded(model, batcher)

    def _unload(self, version: Version) -> None:
        if version.state == "AVAILABLE":
            version.state = "UNLOADING"
            self._end_if_drained(version)

    def _end_if_drained(self, version: Version) -> None:
        if version.state == "UNLOADING" and version.in_flight == 0:
            version.state = "END"
            version.loaded.batcher.close()
            version.loaded = None
            LOGGER.info("%s version %d is unloaded", version.name, version.number)

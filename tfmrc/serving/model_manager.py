"""Loads versions of models, picks up new ones, and unloads old ones after their last request."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tfmrc.predictors.exported.errors import RequestError
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.predictors.exported.versions import versions_of
from tfmrc.predictors.openvino import Runtime
from tfmrc.serving.batcher import Batcher
from tfmrc.serving.limits import Limits
from tfmrc.serving.metrics import Metrics
from tfmrc.storage.manifest import manifest_of
from tfmrc.storage.warmup import read_warmup_requests

LOGGER = logging.getLogger("tfmrc.serving")


def plan(
    found: Mapping[str, Iterable[int]], served: Mapping[str, Mapping[int, str]]
) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Returns the versions to load and those to unload.

    The newest version of each model is loaded. The others are unloaded when it is available, or
    when the model has no version.

    Args:
        found: dict. For each name the versions that its folder has.
        served: dict. For each name the states of the versions, by number.

    Returns:
        Two lists of names and numbers.

    Example:

    >>> from tfmrc.serving.model_manager import plan
    >>> plan({"hills": [1, 2]}, {"hills": {1: "AVAILABLE"}})
    ([('hills', 2)], [])
    >>> plan({"hills": [1, 2]}, {"hills": {1: "AVAILABLE", 2: "AVAILABLE"}})
    ([], [('hills', 1)])
    """
    newest = {name: max(numbers) for name, numbers in found.items() if numbers}
    available = [
        (name, number)
        for name, states in served.items()
        for number, state in states.items()
        if state == "AVAILABLE"
    ]
    load = [each for each in newest.items() if each not in available]
    unload = [
        (name, number)
        for name, number in available
        if number != newest.get(name) and (name not in newest or (name, newest[name]) in available)
    ]
    return load, unload


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

    `poll` compares the folders with what is served (`plan`). The newest version of each model is
    loaded and runs its warm-up requests before it replaces the served version, which is unloaded
    after its last request. If a version cannot be loaded, the served version stays, and the new one
    is tried again only after its files have changed.

    A version with a manifest is verified. A version without one may be another library's export or
    an unfinished copy: it is loaded when two successive polls find the same files.

    Args:
        models: callable. Function without arguments that returns the folder of each model by name;
            it is called for each poll, so models can be added and removed.
        limits: `Limits` or None. Limits of the batches. Default: None.
        metrics: `Metrics` or None. Metrics of the server. Default: None.
        runtime: str. What computes the models, as of `tfmrc.load`. Default: "auto".
    """

    def __init__(
        self,
        models: Callable[[], Mapping[str, Path]],
        limits: Limits | None = None,
        metrics: Metrics | None = None,
        runtime: Runtime = "auto",
    ):
        self._models = models
        self._limits = limits
        self._runtime = runtime
        self._metrics = metrics or Metrics()
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
            raise RequestError(f"The model {name!r} is being loaded. Retry later.", 503)
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
            folders = self._models()
            for folder in folders.values():
                folder.stat()  # raises if it is missing: it need not be empty
            found = {name: versions_of(folder) for name, folder in folders.items()}
            for name, number in plan(found, self._states())[0]:
                if not self._stop.is_set():
                    self._load(name, number, found[name][number])
        except OSError as error:  # a folder disappeared, perhaps for a moment
            LOGGER.warning("The folders cannot be read; the next poll tries again: %s", error)
            return
        with self._lock:
            for name, number in plan(found, self._states())[1]:
                self._unload(self._versions[name][number])
            for name, versions in self._versions.items():
                for number, version in list(versions.items()):
                    if version.state in ("START", "END") and number not in found.get(name, ()):
                        del versions[number]
            if self._stop.is_set():  # `close` did not wait for the version being loaded
                for version in self._available():
                    self._unload(version)

    def _states(self) -> dict[str, dict[int, str]]:
        return {
            name: {number: version.state for number, version in versions.items()}
            for name, versions in self._versions.items()
        }

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

    def _load(self, name: str, number: int, path: Path) -> None:
        """Loads a version unless it failed with the same files, or is still copied."""
        with self._lock:
            versions = self._versions.setdefault(name, {})
            old = versions.get(number)
            if old is not None and old.state == "UNLOADING":  # it is selected again
                old.state = "AVAILABLE"
                return
        files = tuple(
            (str(file), file.stat().st_size, file.stat().st_mtime_ns)
            for file in sorted(path.rglob("*"))
        )
        unchanged = old is not None and old.files == files
        if old is not None and old.error and unchanged:
            return
        version = Version(name, number, "LOADING", files)
        with self._lock:
            versions[number] = version
        if manifest_of(path) is None and not unchanged:
            version.state = "START"
            LOGGER.info(
                "%s version %d is loaded when its files have stopped changing", name, number
            )
            return
        try:
            version.loaded = self._load_files(name, path)
        except Exception as error:  # a broken file must not end the server
            version.state, version.error = "END", f"{type(error).__name__}: {error}"
            self._metrics.load_failures.labels(name).inc()
            LOGGER.error("%s version %d is refused: %s", name, number, version.error)
        else:
            version.state = "AVAILABLE"
            self._metrics.versions.labels(name, number).set(1)
            LOGGER.info("%s version %d is served from %s", name, number, path)

    def _load_files(self, name: str, path: Path) -> Loaded:
        """Loads a SavedModel, starts its batcher and runs its warm-up requests."""
        import tensorflow as tf

        model = SavedModel(path, runtime=self._runtime)
        _ = model.signature_defs  # read now, because the file may be deleted later
        batcher = Batcher(
            model.signatures, self._limits, card=model.card, name=name, metrics=self._metrics
        )
        try:
            for request in read_warmup_requests(path):
                signature = request.model_spec.signature_name or "serving_default"
                inputs = {key: tf.make_ndarray(proto) for key, proto in request.inputs.items()}
                arrays = model.signature(signature).arrays(inputs)
                batcher.submit(batcher.request(signature, arrays)).result()
        except BaseException:
            batcher.close()  # ends its threads
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
            self._metrics.versions.remove(version.name, version.number)
            LOGGER.info("%s version %d is unloaded", version.name, version.number)

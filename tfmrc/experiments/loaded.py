"""What is in a folder: a run, a saved predictor, an export, a Hugging Face reader, or `ready`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.files import data_folder, input_files
from tfmrc.experiments.examples.splits import splits
from tfmrc.experiments.examples.tags import Tags
from tfmrc.experiments.inputs import describe_inputs
from tfmrc.experiments.plan import Plan, single_run
from tfmrc.experiments.settings import Experiment, read_settings
from tfmrc.utils.files import sha256_of

__all__ = ["TFIDF", "Loaded", "open_model"]

TFIDF = "tfidf"  # the ranker that is not a folder


@dataclass(frozen=True)
class Loaded:
    """A model and what its folder says about it.

    Attributes:
        name: str. Name of the folder.
        folder: Path. The folder; for `ready` and a model of the hub, the one in the cache.
        predictor: The predictor; that of a run has the run's tagger and ranker.
        options: dict. Options of the predictor: those of a run's settings, then those given.
        settings: `Experiment` or None. The settings of a run. Default: None.
        dtype: str or None. The precision that a Hugging Face reader was loaded in. Default: None.
    """

    name: str
    folder: Path
    predictor: Any
    options: dict[str, Any]
    settings: Experiment | None = None
    dtype: str | None = None

    @property
    def table_options(self) -> Mapping[str, Any]:
        """The options that a run's own table was read with; none without a run or a table."""
        sources = () if self.settings is None else self.settings.sources
        return next((source.options for source in sources if source.format == "table"), {})

    @property
    def batch_size(self) -> int:
        """Examples per batch: that of a run's settings, or 32."""
        return 32 if self.settings is None else self.settings.evaluation.batch_size

    @cached_property
    def digest(self) -> str:
        """A digest of all that the answers depend on, except the options."""
        digest = _digest(self.folder) + (f" {self.dtype}" if self.dtype else "")
        ranker = None if self.settings is None else self.settings.evaluation.ranker
        if self.settings is None or ranker is None:
            return digest
        if ranker != TFIDF:
            return f"{digest} {_digest(Path(ranker))}"
        data = data_folder(folders.remembered_data(self.folder), self.settings)
        counted = describe_inputs(input_files(self.settings, data))  # the words of these files
        words = sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()
        return f"{digest} {ranker} {words}"


def open_model(
    folder: str | Path,
    options: Mapping[str, Any] | None = None,
    *,
    settings: Experiment | None = None,
    exports: bool = False,
) -> Loaded:
    """Opens a run, a saved predictor, a Hugging Face reader or `ready`.

    Args:
        folder: str or path. What `tfmrc.load` loads. A run comes with its tagger, its ranker and
            the options of its settings.
        options: dict or None. Options of the predictor, which replace those of a run's settings;
            `dtype` is the precision of a Hugging Face reader. Default: None.
        settings: `Experiment` or None. Settings of the run in place of those in its folder.
            Default: None.
        exports: bool. Whether an export is opened, too. Default: False.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If the run is not trained, it is an export, or an option does not exist.
    """
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.hugging_face.folder import local_folder
    from tfmrc.predictors.load import load
    from tfmrc.predictors.ready.reader import READY, ready_folder

    name, given = Path(folder).resolve().name, dict(options or {})
    dtype = given.pop("dtype", None)
    path = ready_folder() if folder == READY else local_folder(folder)
    if settings is None and folders.is_run(path):
        settings = read_settings(path / folders.CONFIG)
    if settings is not None:
        single_run(settings, path)
        folders.read_json(path / folders.TRAINING, "train")
    predictor = load(path, dtype=dtype)
    if not exports and not isinstance(predictor, Predictor):
        raise ValueError(
            "Give the folder of a run, a saved predictor or a Hugging Face reader, not of an "
            f"export. Received: {folder}"
        )
    try:
        predictor.options(**given)
    except TypeError as error:
        raise ValueError(str(error)) from error
    if settings is not None:
        _complete(predictor, settings, path)
        given = {**settings.evaluation.options, **given}
    return Loaded(name, path, predictor, given, settings, dtype)


def _complete(predictor: Any, settings: Experiment, folder: Path) -> None:
    """Gives the predictor of a run the tagger and the ranker of its settings."""
    import tfmrc
    from tfmrc.predictors import MasqueRanker, TfIdfRanker

    annotations, ranker = predictor.preprocessor.annotations, settings.evaluation.ranker
    if annotations and settings.tagger is not None:
        tags = Tags.open(settings.tagger, folders.shared_file(folder, folders.TAGS))
        predictor.tagger = tags.cache.tagger_of(annotations)
    if ranker is None:
        return
    if not hasattr(predictor, "ranker"):
        raise ValueError(
            f"{type(predictor).__name__} takes no ranker. Received: evaluation.ranker={ranker!r}"
        )
    if ranker != TFIDF:
        predictor.ranker = MasqueRanker(tfmrc.load(ranker))
        return
    data = data_folder(folders.remembered_data(folder), settings)
    predictor.ranker = TfIdfRanker(
        example.passages[0]
        for part in splits(Plan(settings, folder, data=data))
        for example in part.train
        if example.passages
    )


def _digest(folder: Path) -> str:
    """Returns the digest of a model's files, whatever else is beside them.

    It is that of the manifest that tfmrc wrote; without one, as in a Hugging Face reader, it covers
    the files that a reader consists of.
    """
    from tfmrc.predictors.hugging_face.folder import reader_files
    from tfmrc.storage.manifest import manifest_of

    manifest = manifest_of(folder) or manifest_of(folder / folders.PREDICTOR)
    if manifest is not None:
        return sha256_of(manifest)
    lines = (f"{path.name} {sha256_of(path)}\n" for path in reader_files(folder))
    return sha256("".join(lines).encode()).hexdigest()

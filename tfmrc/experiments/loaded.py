"""What is in a folder: a run, a saved predictor, an export, a ready or a Hugging Face model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.files import data_folder, input_files
from tfmrc.experiments.examples.sources import splits
from tfmrc.experiments.examples.tags import Tags
from tfmrc.experiments.plan import Plan, single_run
from tfmrc.experiments.settings import Experiment, read_settings
from tfmrc.utils.files import sha256_of

if TYPE_CHECKING:
    from tfmrc.predictors import Predictor
    from tfmrc.predictors.openvino import Runtime

TFIDF = "tfidf"  # the ranker that is not a folder


@dataclass(frozen=True)
class Loaded:
    """A model and what its folder says about it.

    The weights are loaded when `predictor` is first used.

    Attributes:
        name: str. Name of the folder.
        folder: Path. The folder; for a ready model and one of the hub, the one in the cache.
        options: dict. Options of the predictor: those of a run's settings, then those given.
        settings: `Experiment` or None. The settings of a run. Default: None.
        dtype: str or None. The precision of a Hugging Face reader. Default: None.
        runtime: str. What computes the model, as of `tfmrc.load`. Default: "tensorflow".
        exports: bool. Whether the folder may be an export. Default: False.
        parts: tuple of `Loaded`. The models of an ensemble. Default: ().
    """

    name: str
    folder: Path
    options: dict[str, Any]
    settings: Experiment | None = None
    dtype: str | None = None
    runtime: "Runtime" = "tensorflow"
    exports: bool = False
    parts: tuple["Loaded", ...] = ()

    @cached_property
    def predictor(self) -> "Predictor[Any]":
        """The predictor; that of a run has the run's tagger and ranker.

        Raises:
            FileNotFoundError: If there is no model in the folder.
            ValueError: If the run is not trained, the folder is an export, or an option does not
                exist.
        """
        from tfmrc.predictors import Predictor, ensemble_predictor
        from tfmrc.predictors.load import load

        if self.parts:
            members: Any = [part.predictor for part in self.parts]
            return ensemble_predictor(members)
        if self.settings is not None:
            folders.read_json(self.folder / folders.TRAINING, "train")
        predictor = load(self.folder, dtype=self.dtype, runtime=self.runtime)
        if not self.exports and not isinstance(predictor, Predictor):
            raise ValueError(
                "Give the folder of a run, a saved predictor or a Hugging Face reader, not of an "
                f"export. Received: {self.folder}"
            )
        try:
            predictor.options(**self.options)
        except TypeError as error:
            raise ValueError(str(error)) from error
        if self.settings is not None:
            _complete(predictor, self.settings, self.folder)
        return predictor

    @cached_property
    def digest(self) -> str:
        """A digest of all that the answers depend on, except the options."""
        if self.parts:
            return " ".join(part.digest for part in self.parts)
        digest = _digest(self.folder) + (f" {self.dtype}" if self.dtype else "")
        ranker = None if self.settings is None else self.settings.evaluation.ranker
        if self.settings is None or ranker is None:
            return digest
        if ranker != TFIDF:
            return f"{digest} {_digest(Path(ranker))}"
        data = data_folder(folders.remembered_data(self.folder), self.settings)
        # The words of these files are counted.
        counted = folders.describe_inputs(input_files(self.settings, data))
        words = sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()
        return f"{digest} {ranker} {words}"

    @property
    def table_options(self) -> Mapping[str, Any]:
        """The options that a run's own table was read with; none without a run or a table."""
        sources = () if self.settings is None else self.settings.sources
        return next((source.options for source in sources if source.format == "table"), {})

    @property
    def batch_size(self) -> int:
        """Examples per batch: that of a run's settings, or 32."""
        return 32 if self.settings is None else self.settings.evaluation.batch_size


def open_model(
    folder: str | Path,
    options: Mapping[str, Any] | None = None,
    *,
    settings: Experiment | None = None,
    runtime: "Runtime" = "tensorflow",
    exports: bool = False,
) -> Loaded:
    """Opens a run, a saved predictor, a Hugging Face reader or a ready model.

    Args:
        folder: str or path. What `tfmrc.load` loads. A run comes with its tagger, its ranker and
            the options of its settings.
        options: dict or None. Options of the predictor, which replace those of a run's settings;
            `dtype` is the precision of a Hugging Face reader. Default: None.
        settings: `Experiment` or None. Settings of the run in place of those in its folder.
            Default: None.
        runtime: str. What computes the model, as of `tfmrc.load`. Default: "tensorflow".
        exports: bool. Whether an export is opened, too. Default: False.

    Raises:
        ValueError: If the folder holds the runs of a grid.
    """
    from tfmrc.predictors.hugging_face.folder import local_folder
    from tfmrc.predictors.ready.shipped import NAMES, ready_folder

    given = dict(options or {})
    dtype = given.pop("dtype", None)
    path = ready_folder(str(folder)) if folder in NAMES else local_folder(folder)
    if settings is None and folders.is_run(path):
        settings = read_settings(path / folders.CONFIG)
    if settings is not None:
        single_run(settings, path)
        given = {**settings.evaluation.options, **given}
    return Loaded(Path(folder).resolve().name, path, given, settings, dtype, runtime, exports)


def ensemble_of(models: Sequence[Loaded]) -> Loaded:
    """Returns the ensemble of several models, which averages their distributions."""
    return replace(models[0], parts=tuple(models))


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

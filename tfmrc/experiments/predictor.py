"""The predictor of a trained run, with the tagger and ranker of its settings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.answering import TFIDF
from tfmrc.experiments.plan import Plan, single_run
from tfmrc.experiments.settings import Experiment, read_settings
from tfmrc.experiments.tags import Tags

__all__ = ["checked_options", "load_any", "load_run", "load_saved", "load_with", "settings_of"]


def load_run(member: Plan) -> Any:
    """Loads the predictor of a trained run.

    Args:
        member: `Plan`. The run.

    Raises:
        ValueError: If the run is not trained, or the predictor takes no ranker.
    """
    import tfmrc

    folders.read_json(member.folder / folders.TRAINING, "train")
    ranker = member.experiment.evaluation.ranker
    predictor: Any = tfmrc.Predictor.load(member.folder / folders.PREDICTOR)
    annotations = predictor.preprocessor.annotations
    if annotations and member.experiment.tagger is not None:
        tags = Tags.open(member.experiment.tagger, folders.shared_file(member.folder, folders.TAGS))
        predictor.tagger = tags.cache.tagger_of(annotations)
    if ranker is not None:
        if not hasattr(predictor, "ranker"):
            raise ValueError(
                f"{type(predictor).__name__} takes no ranker. "
                f"Received: evaluation.ranker={ranker!r}"
            )
        predictor.ranker = _ranker(ranker, member.experiment, member.folder)
    return predictor


def load_any(folder: str | Path, dtype: str | None = None) -> tuple[Any, dict[str, Any]]:
    """Loads whatever `tfmrc.load` loads, a run with its tagger and ranker.

    Args:
        folder: str or path. A run, a saved predictor, an export or a reader of Hugging Face.
        dtype: str or None. Precision of a reader of Hugging Face. Default: None.

    Returns:
        The predictor, and the options of a run's settings (none for others).

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If `dtype` is given for another model.
    """
    from tfmrc.predictors.load import load

    path = Path(folder)
    if not folders.is_run(path) or dtype is not None:
        return load(folder, dtype=dtype), {}
    experiment = read_settings(path / folders.CONFIG)
    return load_run(single_run(experiment, path)), experiment.evaluation.options


def load_saved(
    folder: str | Path, options: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Loads a predictor whose options of decoding can be chosen: anything but an export.

    Args:
        folder: str or path. A run, a saved predictor or a reader of Hugging Face.
        options: dict or None. Options that are added to those of a run's settings; `dtype` is the
            precision of a reader of Hugging Face. Default: None.

    Returns:
        The predictor, and all its options.

    Raises:
        FileNotFoundError: If the folder is none of these.
        ValueError: If it is an export, or an option does not exist.
    """
    from tfmrc.predictors import Predictor

    options = dict(options or {})
    predictor, chosen = load_any(folder, options.pop("dtype", None))
    if not isinstance(predictor, Predictor):
        raise ValueError(
            "Give the folder of a run, a saved predictor or a reader of Hugging Face, not of an "
            f"export. Received: {folder}"
        )
    return predictor, {**chosen, **checked_options(predictor, options)}


def checked_options(predictor: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns options of a predictor or an export, which has none.

    Raises:
        ValueError: If one does not exist or has an impossible value.
    """
    try:
        predictor.options(**options)
    except TypeError as error:
        raise ValueError(str(error)) from error
    return options


def settings_of(folder: str | Path) -> Experiment | None:
    """Returns the settings of a run; None for another folder."""
    path = Path(folder)
    return read_settings(path / folders.CONFIG) if folders.is_run(path) else None


def load_with(
    folder: str | Path, settings: Experiment | None, options: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Loads a run with the given settings, or as `load_saved` any other predictor.

    Returns:
        The predictor, and all its options.
    """
    if settings is None:
        return load_saved(folder, options)
    predictor = load_run(single_run(settings, Path(folder)))
    return predictor, {**settings.evaluation.options, **checked_options(predictor, options or {})}


def _ranker(name: str, experiment: Experiment, folder: Path) -> Any:
    import tfmrc
    from tfmrc.experiments.sources import data_folder, splits
    from tfmrc.predictors import MasqueRanker, TfIdfRanker

    if name != TFIDF:
        return MasqueRanker(tfmrc.load(name))
    data = data_folder(folders.remembered_data(folder), experiment)
    spans = folders.shared_file(folder, folders.SPANS)
    return TfIdfRanker(
        example.passages[0]
        for part in splits(experiment, data, spans)
        for example in part.train
        if example.passages
    )

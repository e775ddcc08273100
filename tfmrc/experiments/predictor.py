"""The predictor of a trained run, with the tagger and ranker of its settings."""

from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.building import import_modules
from tfmrc.experiments.grid import Member
from tfmrc.experiments.settings import Experiment
from tfmrc.experiments.tags import Tags

__all__ = ["load_run"]


def load_run(member: Member) -> Any:
    """Loads the predictor of a trained run.

    Args:
        member: `Member`. The run.

    Raises:
        ValueError: If the run is not trained, or the predictor takes no ranker.
    """
    import tfmrc

    import_modules(member.experiment)
    folders.read_json(member.folder / folders.TRAINING, "train")
    predictor: Any = tfmrc.Predictor.load(member.folder / folders.PREDICTOR)
    annotations = predictor.preprocessor.annotations
    if annotations and member.experiment.tagger is not None:
        tags = Tags.open(member.experiment.tagger, folders.shared_file(member.folder, folders.TAGS))
        predictor.tagger = tags.cache.tagger_of(annotations)
    ranker = member.experiment.evaluation.ranker
    if ranker is not None:
        if not hasattr(predictor, "ranker"):
            raise ValueError(
                f"{type(predictor).__name__} takes no ranker. "
                f"Received: evaluation.ranker={ranker!r}"
            )
        predictor.ranker = _ranker(ranker, member.experiment, member.folder)
    return predictor


def _ranker(name: str, experiment: Experiment, folder: Path) -> Any:
    import tfmrc
    from tfmrc.experiments.sources import data_folder, splits
    from tfmrc.predictors import MasqueRanker, TfIdfRanker

    if name != "tfidf":
        loaded: Any = tfmrc.Predictor.load(name)
        return MasqueRanker(loaded)
    data = data_folder(folders.remembered_data(folder), experiment)
    spans = folders.shared_file(folder, folders.SPANS)
    return TfIdfRanker(
        example.passages[0]
        for part in splits(experiment, data, spans)
        for example in part.train
        if example.passages
    )

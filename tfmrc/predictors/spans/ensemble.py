"""Ensembles of trained predictors of spans."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfmrc.models import ReaderEnsemble, SpanEnsemble
from tfmrc.predictors.extractive_reader import ExtractiveReaderPredictor
from tfmrc.predictors.san import SANPredictor
from tfmrc.preprocessing import Preprocessor
from tfmrc.text.subwords.tokenizer import CONFIG_FILE


def ensemble_predictor(
    predictors: Sequence[SANPredictor | ExtractiveReaderPredictor],
) -> SANPredictor | ExtractiveReaderPredictor:
    """Returns a predictor that averages several, such as those of several seeds.

    It is saved and exported like any other predictor.

    Args:
        predictors: list of `SANPredictor`, or of `ExtractiveReaderPredictor`. Predictors with the
            same preprocessor and words; the first one's tagger and ranker are used.

    Returns:
        A `SANPredictor` of a `tfmrc.models.SpanEnsemble`, or an `ExtractiveReaderPredictor` of a
        `tfmrc.models.ReaderEnsemble`.

    Raises:
        ValueError: If their preprocessors or words differ.

    Example:

    >>> import tfmrc
    >>> from tfmrc import models, preprocessing, text
    >>> from tfmrc.predictors import ensemble_predictor
    >>> preprocessor = preprocessing.SANPreprocessor(text.Vocabulary(["owl", "flew", "who"]))
    >>> predictors = [
    ...     tfmrc.Predictor(
    ...         models.SAN(vocabulary_size=7, word_dim=4, units=2, align_dim=2, seed=seed),
    ...         preprocessor)
    ...     for seed in (1, 2)
    ... ]
    >>> together = ensemble_predictor(predictors)
    >>> together.answer(question="Who flew?", passages=["An owl flew."]).passage
    0
    """
    first = predictors[0]
    for predictor in predictors[1:]:
        if first.preprocessor.get_config() != predictor.preprocessor.get_config():
            raise ValueError(
                "The predictors of an ensemble must have the same preprocessor. "
                f"Received: {first!r} and {predictor!r} with others"
            )
        check_same_words(first.preprocessor, predictor.preprocessor)
    members = [predictor.model for predictor in predictors]
    if isinstance(first, ExtractiveReaderPredictor):
        return ExtractiveReaderPredictor(ReaderEnsemble(members), first.preprocessor)
    return SANPredictor(SpanEnsemble(members), first.preprocessor, first.tagger, first.ranker)


def check_same_words(first: Preprocessor, other: Preprocessor, *, windows: bool = True) -> None:
    """Raises a ValueError unless two preprocessors give words and subwords the same ids.

    Args:
        first, other: The preprocessors.
        windows: bool. Whether the windows of their encoders must be the same too. Default: True.
    """
    if _assets(first, windows) != _assets(other, windows):
        raise ValueError(
            "Models that work together must read the same words, with the same ids. "
            f"Received: {first!r} and {other!r}"
        )


def _assets(preprocessor: Preprocessor, windows: bool) -> dict[str, Any]:
    """Returns the content of the files of a preprocessor's words and of its encoder's subwords."""
    with tempfile.TemporaryDirectory() as folder:
        preprocessor.save_assets(folder)
        files: dict[str, Any] = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in Path(folder).rglob("*")
            if path.is_file()
        }
    if not windows:
        for name in (name for name in files if Path(name).name == CONFIG_FILE):
            files[name] = json.loads(files[name])
            for option in ("length", "overlap"):
                files[name]["windows"].pop(option)
    return files

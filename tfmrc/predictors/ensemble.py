"""Several trained predictors of spans as one."""

from collections.abc import Sequence

from tfmrc.models import SpanEnsemble
from tfmrc.predictors.san import SANPredictor

__all__ = ["ensemble_predictor"]


def ensemble_predictor(predictors: Sequence[SANPredictor]) -> SANPredictor:
    """A predictor whose probabilities are the mean of several ones', as of runs with different seeds.

    It answers, is saved and exported like any other: several windows and passages, the K best.

    Args:
        predictors: with the same preprocessor and words; the first one's tagger is used.

    Returns:
        A `SANPredictor` of a `tfmrc.models.SpanEnsemble`.

    Raises:
        ValueError: there is no predictor, or their preprocessor or words differ.

    Example:

    >>> from tfmrc import MasquePredictor, models, preprocessing, text
    >>> from tfmrc.predictors import ensemble_predictor
    >>> preprocessor = preprocessing.SANPreprocessor(text.Vocabulary(["owl", "flew", "who"]))
    >>> predictors = [
    ...     MasquePredictor(models.SAN(7, word_dim=4, units=2, align_dim=2, seed=seed), preprocessor)
    ...     for seed in (1, 2)
    ... ]
    >>> ensemble_predictor(predictors).answer("Who flew?", "An owl flew.").passage
    0
    """
    if not predictors:
        raise ValueError("An ensemble has predictors. Received: predictors=[]")
    first = predictors[0]
    for predictor in predictors[1:]:
        for name, of_first, other in (
            ("preprocessor", first.preprocessor.get_config(), predictor.preprocessor.get_config()),
            ("words", first.preprocessor.vocabulary.words, predictor.preprocessor.vocabulary.words),
        ):
            if of_first != other:
                raise ValueError(
                    f"The predictors of an ensemble have the same {name}. Received: {first!r} and "
                    f"{predictor!r} with others"
                )
    model = SpanEnsemble([predictor.model for predictor in predictors])
    return SANPredictor(model, first.preprocessor, first.tagger)

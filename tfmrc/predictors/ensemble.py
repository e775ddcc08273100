"""Ensemble of trained SAN predictors."""

from collections.abc import Sequence

from tfmrc.models import SpanEnsemble
from tfmrc.predictors.san import SANPredictor

__all__ = ["ensemble_predictor"]


def ensemble_predictor(predictors: Sequence[SANPredictor]) -> SANPredictor:
    """Returns a predictor that averages the distributions of several, such as of several seeds.

    It is saved and exported like any other predictor.

    Args:
        predictors: list of `SANPredictor`. Predictors with the same preprocessor and words; the
            first one's tagger and ranker are used.

    Returns:
        A `SANPredictor` of a `tfmrc.models.SpanEnsemble`.

    Raises:
        ValueError: If there is no predictor, or their preprocessors or words differ.

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
    if not predictors:
        raise ValueError("An ensemble needs predictors. Received: predictors=[]")
    first = predictors[0]
    for predictor in predictors[1:]:
        for name, of_first, other in (
            ("preprocessor", first.preprocessor.get_config(), predictor.preprocessor.get_config()),
            ("words", first.preprocessor.vocabulary.words, predictor.preprocessor.vocabulary.words),
        ):
            if of_first != other:
                raise ValueError(
                    f"The predictors of an ensemble must have the same {name}. Received: {first!r} "
                    f"and {predictor!r} with others"
                )
    model = SpanEnsemble([predictor.model for predictor in predictors])
    return SANPredictor(model, first.preprocessor, first.tagger, first.ranker)

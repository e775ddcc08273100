"""Several trained readers of spans as one."""

from collections.abc import Sequence

from tfmrc.models import SpanEnsemble
from tfmrc.serving.span_reader import SpanReader

__all__ = ["ensemble_reader"]


def ensemble_reader(readers: Sequence[SpanReader]) -> SpanReader:
    """A reader whose probabilities are the mean of several ones', as of runs with different seeds.

    It answers, is saved and exported like any other: several windows and passages, the K best.

    Args:
        readers: with the same features and words; the first one's tagger is used.

    Returns:
        A `SpanReader` of a `tfmrc.models.SpanEnsemble`.

    Raises:
        ValueError: there is no reader, or their features or words differ.

    Example:

    >>> from tfmrc import Reader, models, text
    >>> from tfmrc.serving import ensemble_reader
    >>> features = text.SanFeatures(text.Vocabulary(["owl", "flew", "who"]))
    >>> readers = [
    ...     Reader(models.SAN(7, word_dim=4, units=2, align_dim=2, seed=seed), features)
    ...     for seed in (1, 2)
    ... ]
    >>> ensemble_reader(readers).answer("Who flew?", "An owl flew.").passage
    0
    """
    if not readers:
        raise ValueError("An ensemble has readers. Received: readers=[]")
    first = readers[0]
    for reader in readers[1:]:
        for name, of_first, other in (
            ("features", first.features.get_config(), reader.features.get_config()),
            ("words", first.features.vocabulary.words, reader.features.vocabulary.words),
        ):
            if of_first != other:
                raise ValueError(
                    f"The readers of an ensemble have the same {name}. Received: {first!r} and "
                    f"{reader!r} with others"
                )
    model = SpanEnsemble([reader.model for reader in readers])
    return SpanReader(model, first.features, first.tagger)

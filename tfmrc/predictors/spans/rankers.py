"""Rankers of passages, which weight spans from different passages."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfmrc.predictors.masque import MasquePredictor

_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


class TfIdfRanker:
    """Cosine of the TF-IDF vectors of question and passage: the baseline of SAN's footnote.

    `tf = 1 + log(count)`, `idf = log((1 + N) / (1 + df)) + 1` over the N passages it was fitted
    to; words are runs of letters and digits, lower-cased. A passage that shares no word with the
    question has relevance 0.

    Args:
        passages: iterable of str. Strings from which document frequencies are counted, read once.
            Without them all words have equal weight. Default: ().

    Call arguments:
        question: str. The question.
        passages: The passages.

    Returns:
        A number from 0 to 1 per passage.

    Example:

    >>> from tfmrc.predictors import TfIdfRanker
    >>> ranker = TfIdfRanker(["the owl flew", "the mill stands", "the owl slept"])
    >>> relevance = ranker("Where is the mill?", ["The owl slept.", "The mill burnt."])
    >>> relevance[1] > relevance[0] > 0
    True
    """

    def __init__(self, passages: Iterable[str] = ()):
        self._frequency: Counter[str] = Counter()
        self._count = 0
        for passage in passages:
            self._count += 1
            self._frequency.update(set(_words(passage)))

    def __call__(self, question: str, passages: Sequence[str]) -> list[float]:
        vector = self._vector(question)
        return [self._cosine(vector, self._vector(passage)) for passage in passages]

    def _vector(self, text: str) -> dict[str, float]:
        return {
            word: (1 + math.log(count))
            * (math.log((1 + self._count) / (1 + self._frequency[word])) + 1)
            for word, count in Counter(_words(text)).items()
        }

    @staticmethod
    def _cosine(one: dict[str, float], other: dict[str, float]) -> float:
        product = sum(weight * other.get(word, 0.0) for word, weight in one.items())
        sizes = [math.sqrt(sum(w * w for w in vector.values())) for vector in (one, other)]
        return product / (sizes[0] * sizes[1]) if product else 0.0


class MasqueRanker:
    """Relevance by the passage ranker of a Masque predictor.

    Args:
        predictor: A `tfmrc.predictors.MasquePredictor` of a model with a trained ranker.

    Call arguments:
        question: str. The question.
        passages: The passages; those beyond what the model reads have relevance 0.

    Returns:
        A number from 0 to 1 per passage.

    Raises:
        ValueError: If the model has no ranker, or its ranker was never trained.
    """

    def __init__(self, predictor: "MasquePredictor"):
        ranker = getattr(predictor.model, "passage_ranker", None)
        if ranker is None or not predictor.is_trained("ranker"):
            raise ValueError(
                "The model has no ranker, or its ranker was never trained: its examples had no "
                f"relevance. Received: predictor={predictor!r}"
            )
        self.predictor = predictor

    def __call__(self, question: str, passages: Sequence[str]) -> list[float]:
        inputs: dict[str, list[Any]] = {
            "question": [question],
            "passages": [list(passages)],
            "style": [self.predictor.tasks[0].style],
        }
        relevance = self.predictor.run("serving_default", inputs)["relevance"][0]
        values = [float(value) for value in relevance[: len(passages)]]
        return values + [0.0] * (len(passages) - len(values))

"""Weighted votes over the answers of several models."""

from collections import Counter
from collections.abc import Callable, Sequence


def _same(answer: str) -> str:
    return " ".join(answer.lower().split())


def vote(
    answers: Sequence[str],
    weights: Sequence[float] | None = None,
    *,
    key: Callable[[str], str] = _same,
) -> str:
    """Returns the answer with the largest sum of weights.

    Weights of answers that are equal under `key` are added. Among equal sums the answer of the
    model with the largest weight wins, then the first.

    Args:
        answers: list of str. The answers of the models to one question.
        weights: list of float or None. The weight of each model, its ROUGE-L on the dev set in the
            paper; None for one vote each. Default: None.
        key: callable. Function that returns equal values for equal answers. Default: ignores case
            and repeated spaces.

    Returns:
        One of `answers`, in the spelling of the model with the largest weight.

    Example:

    >>> from tfmrc.training import vote
    >>> vote(["eight", "in 1987", "In  1987"], weights=[0.7, 0.4, 0.5])
    'In  1987'
    >>> vote(["eight", "in 1987", "nine"], weights=[0.7, 0.4, 0.5])
    'eight'

    Reference: Nishida et al. 2019, appendix A.1: six runs, weighted majority vote.
    """
    weights = [1.0] * len(answers) if weights is None else weights
    sums: Counter[str] = Counter()
    for answer, weight in zip(answers, weights, strict=True):
        sums[key(answer)] += weight  # type: ignore[assignment]
    best = max(range(len(answers)), key=lambda model: (sums[key(answers[model])], weights[model]))
    return answers[best]


def vote_all(
    answers: Sequence[Sequence[str]],
    weights: Sequence[float] | None = None,
    *,
    key: Callable[[str], str] = _same,
) -> list[str]:
    """Votes on many questions.

    Args:
        answers: list. For each model, its answers to all questions in the same order.
        weights: list of float or None. The weight of each model. Default: None.
        key: callable. As in `vote`.

    Returns:
        One answer per question.

    Example:

    >>> from tfmrc.training import vote_all
    >>> vote_all([["a", "x"], ["b", "x"], ["b", "y"]])
    ['b', 'x']
    """
    return [vote(row, weights, key=key) for row in zip(*answers, strict=True)]

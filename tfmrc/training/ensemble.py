"""Weighted votes over the answers of several models."""

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

    Raises:
        ValueError: If there is no answer, the number of weights differs, or one is negative.

    Example:

    >>> from tfmrc.training import vote
    >>> vote(["eight", "in 1987", "In  1987"], weights=[0.7, 0.4, 0.5])
    'In  1987'
    >>> vote(["eight", "in 1987", "nine"], weights=[0.7, 0.4, 0.5])
    'eight'

    Reference: Nishida et al. 2019, section 4.1: six runs, weighted majority vote.
    """
    weights = [1.0] * len(answers) if weights is None else list(weights)
    if not answers or len(weights) != len(answers) or any(not w >= 0 for w in weights):
        raise ValueError(
            "`vote` needs at least one answer and for each a weight that is not negative. "
            f"Received: {len(answers)} answers, weights={weights}"
        )
    sums: dict[str, float] = {}
    heaviest: dict[str, tuple[float, str]] = {}
    for answer, weight in zip(answers, weights, strict=True):
        name = key(answer)
        sums[name] = sums.get(name, 0.0) + weight
        if name not in heaviest or weight > heaviest[name][0]:
            heaviest[name] = (weight, answer)
    winner = max(sums, key=lambda name: (sums[name], heaviest[name][0]))
    return heaviest[winner][1]


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

    Raises:
        ValueError: If the models answered different numbers of questions.

    Example:

    >>> from tfmrc.training import vote_all
    >>> vote_all([["a", "x"], ["b", "x"], ["b", "y"]])
    ['b', 'x']
    """
    counts = {len(model) for model in answers}
    if len(counts) > 1:
        raise ValueError(
            "All models must answer the same questions. "
            f"Received: numbers of answers={[len(model) for model in answers]}"
        )
    return [vote(row, weights, key=key) for row in zip(*answers, strict=True)]

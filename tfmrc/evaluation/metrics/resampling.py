"""Bootstrap intervals of a score, and the paired bootstrap test of two systems."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tfmrc.evaluation.metrics.score import Score, Statistics

_CHUNK = 100


@dataclass(frozen=True)
class Interval:
    """A score with its percentile bootstrap interval."""

    value: float
    low: float
    high: float
    level: float
    samples: int
    seed: int

    def __str__(self) -> str:
        return f"{100 * self.value:.2f} [{100 * self.low:.2f}, {100 * self.high:.2f}]"


@dataclass(frozen=True)
class PairedTest:
    """Difference of two systems on the same questions: second minus first.

    `p_value` is two-sided: twice the share of resamples in which the difference is zero or has the
    other sign. One resample is added, so that the value is never zero.
    """

    difference: float
    low: float
    high: float
    p_value: float
    level: float
    samples: int
    seed: int

    def interval(self, digits: int = 2) -> str:
        """Returns the difference and its interval in per cent."""
        shown = [f"{100 * value:+.{digits}f}" for value in (self.difference, self.low, self.high)]
        return "{} [{}, {}]".format(*shown)

    def __str__(self) -> str:
        return f"{self.interval()}, p = {self.p_value:.4f}"


def bootstrap(score: Score, *, samples: int = 1000, level: float = 0.95, seed: int = 0) -> Interval:
    """Computes the percentile bootstrap interval of a score over its examples.

    Corpus scores (BLEU, METEOR, F1 of decisions) are computed from the resampled counts, not
    averaged over examples.

    Args:
        score: `Score`. A score with `statistics`.
        samples: int. Number of resamples. Default: 1000.
        level: float. Coverage of the interval. Default: 0.95.
        seed: int. Seed of the resampling. Default: 0.

    Raises:
        ValueError: If the score was not computed or has no statistics.

    Example:

    >>> from tfmrc.evaluation import bootstrap, score_squad
    >>> answers = {n: "yes" if n % 4 else "no" for n in range(100)}
    >>> scores = score_squad(answers, {n: ["yes"] for n in range(100)})
    >>> interval = bootstrap(scores["exact_match"])
    >>> interval.low < 0.75 < interval.high
    True
    """
    statistics = statistics_of(score)
    weights = resamples(len(statistics.ids), samples, seed)
    drawn = np.concatenate([statistics.combine(drawn @ statistics.values) for drawn in weights])
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(statistics.score(), float(low), float(high), level, samples, seed)


def paired_bootstrap(
    first: Score, second: Score, *, samples: int = 1000, level: float = 0.95, seed: int = 0
) -> PairedTest:
    """Tests the difference of two systems with the same resamples for both.

    Args:
        first: `Score`. The score of one system.
        second: `Score`. The same score of another system on the same ids (in any order).
        samples: int. Number of resamples. Default: 1000.
        level: float. Coverage of the interval of the difference. Default: 0.95.
        seed: int. Seed of the resampling. Default: 0.

    Raises:
        ValueError: If the scores differ in name, tokenization or ids, or were not computed.

    Example:

    >>> from tfmrc.evaluation import paired_bootstrap, score_squad
    >>> references = {n: ["yes"] for n in range(60)}
    >>> weak = score_squad({n: "yes" if n % 3 else "no" for n in range(60)}, references)
    >>> strong = score_squad({n: "yes" for n in range(60)}, references)
    >>> test = paired_bootstrap(weak["f1"], strong["f1"])
    >>> round(test.difference, 3), test.p_value < 0.01
    (0.333, True)
    """
    for name in ("name", "tokenisation", "scorer", "version"):
        if getattr(first, name) != getattr(second, name):
            raise ValueError(
                f"Only scores of the same kind can be compared. These differ in `{name}`. "
                f"Received: first={getattr(first, name)!r}, second={getattr(second, name)!r}"
            )
    one, two = statistics_of(first), statistics_of(second)
    if set(one.ids) != set(two.ids):
        alone = sorted(map(str, set(one.ids) ^ set(two.ids)))
        raise ValueError(
            "A paired test needs the same examples on both sides. "
            f"Received: {len(alone)} ids on one side only, {alone[0]!r} first"
        )
    two = two.subset(one.ids)
    drawn = np.concatenate(
        [
            two.combine(weights @ two.values) - one.combine(weights @ one.values)
            for weights in resamples(len(one.ids), samples, seed)
        ]
    )
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    against = min(int(np.sum(drawn <= 0)), int(np.sum(drawn >= 0)))
    p_value = min(1.0, 2 * (against + 1) / (samples + 1))
    difference = two.score() - one.score()
    return PairedTest(difference, float(low), float(high), p_value, level, samples, seed)


def statistics_of(score: Score) -> Statistics:
    """Returns the statistics of a score.

    Raises:
        ValueError: If the score has none.
    """
    if score.statistics is None or not score.statistics.ids:
        reason = score.note or "it keeps no counts for resampling"
        raise ValueError(f"{score.label} cannot be resampled: {reason}. Received: {score.name!r}")
    return score.statistics


def resamples(size: int, samples: int, seed: int) -> Iterator[np.ndarray]:
    """Yields the counts of each example in each resample, `[at most 100, N]` at a time."""
    generator = np.random.default_rng(seed)
    for start in range(0, samples, _CHUNK):
        count = min(_CHUNK, samples - start)
        drawn = generator.integers(0, size, (count, size))
        drawn += size * np.arange(count)[:, None]
        yield np.bincount(drawn.ravel(), minlength=count * size).reshape(count, size).astype(float)

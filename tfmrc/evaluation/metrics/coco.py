"""BLEU and ROUGE-L of pycocoevalcap, with the sums for resampling."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.score import Score, Statistics, mean_score, package_version

ORDERS = (1, 2, 3, 4)
# The constants of pycocoevalcap's BLEU: they keep 0/0 at zero without smoothing real counts.
_TINY, _SMALL = 1e-15, 1e-9


def rouge_l(
    predictions: Mapping[Any, str], references: Mapping[Any, Sequence[str]], tokenisation: str
) -> Score:
    """Computes ROUGE-L of tokenized text (words joined by one space), the mean over examples.

    With several references, pycocoevalcap takes the best precision and the best recall, each from
    whichever reference gives it, and combines them with beta = 1.2.

    Args:
        predictions: dict. Tokenized prediction by id.
        references: dict. Tokenized references by id, the same ids.
        tokenisation: str. Description of the tokenization, for the record.
    """
    from pycocoevalcap.rouge.rouge import Rouge

    scorer = Rouge()
    per_example = {
        key: float(scorer.calc_score([text], references[key])) for key, text in predictions.items()
    }
    return mean_score(
        "rouge_l",
        "ROUGE-L",
        per_example,
        scorer="pycocoevalcap Rouge (beta 1.2)",
        version=package_version("pycocoevalcap"),
        tokenisation=tokenisation,
    )


def bleu(
    predictions: Mapping[Any, str],
    references: Mapping[Any, Sequence[str]],
    tokenisation: str,
    orders: Sequence[int] = ORDERS,
) -> list[Score]:
    """Computes BLEU-1 to BLEU-4 of tokenized text over the corpus (closest reference length).

    Args:
        predictions: dict. Tokenized prediction by id.
        references: dict. Tokenized references by id, the same ids.
        tokenisation: str. Description of the tokenization, for the record.
        orders: list of int. The orders of 1..4 to return. Default: `ORDERS`.
    """
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer

    scorer = BleuScorer(n=4)
    for key, text in predictions.items():
        scorer += (text, references[key])
    corpus, single = scorer.compute_score(option="closest")
    rows = np.array(
        [
            [*counts["correct"], *counts["guess"], counts["testlen"], _closest(counts)]
            for counts in scorer.ctest
        ],
        np.float64,
    ).reshape(-1, 10)
    ids = tuple(predictions)
    return [
        Score(
            name=f"bleu_{order}",
            label=f"BLEU-{order}",
            value=float(corpus[order - 1]) if ids else None,
            scorer="pycocoevalcap Bleu (corpus, closest length)",
            version=package_version("pycocoevalcap"),
            tokenisation=tokenisation,
            size=len(ids),
            note="" if ids else "no example to score",
            per_example={key: float(x) for key, x in zip(ids, single[order - 1], strict=True)},
            statistics=Statistics(ids, rows, _bleu_of_sums(order)),
        )
        for order in orders
    ]


def _closest(counts: Mapping[str, Any]) -> int:
    """Returns the reference length nearest to the prediction's, the shorter of two as near."""
    return min((abs(length - counts["testlen"]), length) for length in counts["reflen"])[1]


def _bleu_of_sums(order: int) -> Any:
    def combine(sums: np.ndarray) -> np.ndarray:
        correct, guess = sums[:, :order], sums[:, 4 : 4 + order]
        precision = np.prod((correct + _TINY) / (guess + _SMALL), axis=1) ** (1 / order)
        lengths = (sums[:, 8] + _TINY) / (sums[:, 9] + _SMALL)
        return precision * np.exp(np.minimum(0.0, 1 - 1 / lengths))

    return combine

"""SQuAD's exact match and F1, versions 1.1 and 2.0."""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np

from tfmrc.evaluation.metrics.pairing import Missing, check_references, check_text, pair
from tfmrc.evaluation.metrics.score import Scores, mean_score, shortest

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
TOKENISATION = "lower-cased, without ASCII punctuation and articles, white space"
UNICODE_TOKENISATION = (
    "NFC, case-folded, without ASCII and Unicode punctuation and articles, white space"
)

Normalization = Literal["official", "unicode"]


def normalize_squad(text: str, normalization: Normalization = "official") -> str:
    """Returns SQuAD's normal form of a text.

    The official form is in lower case, without ASCII punctuation and articles, with single spaces.
    The Unicode form is composed (NFC) and case-folded, and removes the punctuation of all scripts
    too.

    Args:
        text: str. The text.
        normalization: `Normalization`. `"official"` or `"unicode"`. Default: "official".

    Example:

    >>> normalize_squad("The  Cat's, an owl.")
    'cats owl'
    >>> normalize_squad("“York”"), normalize_squad("“York”", "unicode")
    ('“york”', 'york')
    """
    if normalization == "unicode":
        text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
        text = text.translate(_PUNCTUATION)  # which has symbols too, such as "$"
        text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
    else:
        text = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def score_squad(
    predictions: Mapping[Any, str],
    references: Mapping[Any, Sequence[str]],
    *,
    version: Literal["1.1", "2.0"] = "1.1",
    no_answer: Mapping[Any, float] | None = None,
    no_answer_threshold: float = 1.0,
    normalization: Normalization = "official",
    missing: Missing = "error",
) -> Scores:
    """Computes exact match and F1 over questions, each against the best reference.

    In version 2.0 an empty list of references means that the question has no answer: an empty
    prediction is right and any other is wrong. References that are empty after normalization are
    ignored; if all of them are, an empty prediction is right, but the question counts as one with
    an answer. Without an answer on either side F1 is 1 if both are empty, else 0 (v1.1: 0).

    Args:
        predictions: dict. One text by id. An empty text means no answer (v2.0).
        references: dict. Reference texts by id.
        version: str. `"1.1"` or `"2.0"`. Default: "1.1".
        no_answer: dict or None. The probability of no answer by id (v2.0). Above
            `no_answer_threshold` the prediction counts as empty. The best scores over all
            thresholds are reported too. As in the official script, a prediction that is empty only
            after normalization, such as "the", is wrong in them where the question has no answer.
            Default: None.
        no_answer_threshold: float. See above. Default: 1.0.
        normalization: `Normalization`. `"official"` is the official scripts' normal form, bit for
            bit. It compares code points, so composed and decomposed letters differ and only ASCII
            punctuation is removed. `"unicode"` is not official: see `normalize_squad`.
            Default: "official".
        missing: str. Treatment of an id without a prediction: `"error"`, `"empty"` (the official
            v1.1 script gives 0) or `"leave_out"` (the official v2.0 script leaves it out).
            Default: "error".

    Returns:
        `Scores` with `exact_match`, `f1`; in v2.0 also `has_answer_exact_match`, `has_answer_f1`,
        `no_answer_accuracy`, and with `no_answer` `best_exact_match`, `best_f1`.

    Raises:
        ValueError: If the version or the normalization is unknown, a prediction is missing, a
            probability or the threshold is missing or not a number, or in version 1.1 a list of
            references is empty or there are probabilities.
        TypeError: If a prediction is not a string, or predictions or references are no dict.

    Example:

    >>> scores = score_squad({"q": "in old York", "r": ""}, {"q": ["York"], "r": []}, version="2.0")
    >>> scores["exact_match"].value, scores["f1"].value
    (0.5, 0.75)
    """
    if version not in ("1.1", "2.0"):
        raise ValueError(f"`version` must be '1.1' or '2.0'. Received: version={version!r}")
    if version == "1.1" and no_answer is not None:
        raise ValueError(
            "Probabilities of no answer (--no-answer) are used by SQuAD v2.0's rules: pass "
            f"version='2.0' (--version 2.0). Received: version={version!r}"
        )
    if normalization not in ("official", "unicode"):
        raise ValueError(
            "`normalization` must be 'official' or 'unicode'. "
            f"Received: normalization={normalization!r}"
        )
    if math.isnan(no_answer_threshold):
        raise ValueError("`no_answer_threshold` must be a number. Received: nan")
    check_text(predictions)
    check_references(references)
    pairing = pair(predictions, references, missing=missing)
    raw = {
        key: best_match(predictions.get(key, ""), references[key], version, key, normalization)
        for key in pairing.ids
    }
    possible = {key: len(references[key]) > 0 for key in pairing.ids}
    chances = no_answer or {}
    if no_answer is not None:
        _check_chances(no_answer, pairing.ids)
    silent = {key for key in pairing.ids if chances.get(key, 0.0) > no_answer_threshold}
    final = {
        key: (float(not possible[key]),) * 2 if key in silent and version == "2.0" else both
        for key, both in raw.items()
    }
    exact = {key: scores[0] for key, scores in final.items()}
    overlap = {key: scores[1] for key, scores in final.items()}
    table: list[tuple[str, str, dict[Hashable, float], str]] = [
        ("exact_match", "Exact match", exact, ""),
        ("f1", "F1", overlap, ""),
    ]
    if version == "2.0":
        yes = [key for key in final if possible[key]]
        no = [key for key in final if not possible[key]]
        table += [
            ("has_answer_exact_match", "Exact match, answerable", {k: exact[k] for k in yes}, ""),
            ("has_answer_f1", "F1, answerable", {k: overlap[k] for k in yes}, ""),
            ("no_answer_accuracy", "Right without answer", {k: exact[k] for k in no}, ""),
        ]
        if no_answer is not None:
            for column, kind in ((0, "exact match"), (1, "F1")):
                # A text without words, such as "the", is wrong here where there is no answer.
                values = {
                    key: both[column] if possible[key] or not predictions.get(key) else 0.0
                    for key, both in raw.items()
                }
                best, note = _best(values, possible, chances)
                name = f"best_{kind.lower().replace(' ', '_')}"
                table.append((name, f"Best {kind}", best, note))
    scorer = f"SQuAD v{version} rules"
    text = TOKENISATION if normalization == "official" else UNICODE_TOKENISATION
    rows = tuple(
        mean_score(name, label, values, scorer=scorer, tokenisation=text, note=note)
        for name, label, values, note in table
    )
    return Scores(f"SQuAD v{version}", rows, pairing.counts)


def best_match(
    prediction: str,
    references: Sequence[str],
    version: str = "1.1",
    key: Hashable = "",
    normalization: Normalization = "official",
) -> tuple[float, float]:
    """Returns exact match and F1 of one prediction, each against its best reference."""
    targets = [normalize_squad(text, normalization) for text in references]
    if version == "2.0":
        targets = [text for text in targets if text] or [""]
    if not targets:
        raise ValueError(
            "SQuAD v1.1 has a reference for every question; v2.0 has not: pass version='2.0' "
            "(--version 2.0 of the commands squad and oracle). "
            f"Received: references[{key!r}]=[]"
        )
    answer = normalize_squad(prediction, normalization)
    exact = max(float(answer == target) for target in targets)
    return exact, max(_f1(answer.split(), target.split(), version) for target in targets)


def _f1(prediction: list[str], target: list[str], version: str) -> float:
    if version == "2.0" and not (prediction and target):
        return float(prediction == target)
    shared = sum((Counter(prediction) & Counter(target)).values())
    return 2 * shared / (len(prediction) + len(target)) if shared else 0.0


def _check_chances(no_answer: Mapping[Any, float], ids: Sequence[Any]) -> None:
    """Raises ValueError where a probability of no answer is missing or not a number."""
    absent = [key for key in ids if key not in no_answer]
    if absent:
        raise ValueError(
            "`no_answer` needs a probability for every prediction. "
            f"Received: none for {len(absent)} ids, {absent[0]!r} first"
        )
    for key in ids:
        if not isinstance(no_answer[key], Real) or math.isnan(no_answer[key]):
            raise ValueError(
                f"`no_answer` must be numbers. Received: no_answer[{key!r}]={no_answer[key]!r}"
            )


def _best(
    scores: Mapping[Any, float],
    possible: Mapping[Any, bool],
    chances: Mapping[Any, float],
) -> tuple[dict[Hashable, float], str]:
    """Returns per-question scores at the best threshold on the probability of no answer."""
    order = sorted(scores, key=lambda key: chances[key])
    silent = {key: float(not possible[key]) for key in scores}
    total = best = sum(silent.values())
    limit: float | None = None
    above = math.inf
    for index, key in enumerate(order):
        total += scores[key] - silent[key]
        following = chances[order[index + 1]] if index + 1 < len(order) else math.inf
        if total > best and following != chances[key]:
            best, limit, above = total, chances[key], following
    if limit is None:
        return silent, "best on these data: no question answered"
    answered = {key: scores[key] if chances[key] <= limit else silent[key] for key in scores}
    # Models compute probabilities in float32: 0.3 decides as 1 - 0.7, which is a little more.
    low, high = np.float32(limit), np.float32(above)
    shown = shortest(limit, lambda value: bool(low <= np.float32(value) < high))
    return answered, f"threshold {shown}, the best on these data"

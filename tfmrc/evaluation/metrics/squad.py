"""SQuAD's exact match and F1, versions 1.1 and 2.0."""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from tfmrc.evaluation.metrics.groups import question_word, score_by_group
from tfmrc.evaluation.metrics.pairing import Missing, check_texts, pair
from tfmrc.evaluation.metrics.registry import Submission, abstains, register_metric
from tfmrc.evaluation.metrics.score import Scores, mean_score, shortest
from tfmrc.evaluation.metrics.tokenizers import spaced_characters

_ARTICLES = re.compile(r"\b(a|an|the)\b")
ANSWERABLE = "Questions with an answer, refusals not counted"
PARTS = "Questions with an answer, refusals counted; and all at the best threshold"
SMALLEST_GROUP = 20  # questions; the score of fewer says little
_PUNCTUATION = str.maketrans("", "", string.punctuation)
Normalization = Literal["official", "unicode"]
TOKENISATION = "lower-cased, without ASCII punctuation and articles, white space"
_TOKENISATIONS = {
    "official": TOKENISATION,
    "unicode": "NFC, case-folded, without ASCII and Unicode punctuation and articles, white space; "
    "letters of scripts without spaces and of Korean one by one",
}


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
            punctuation is removed. `"unicode"` is not official: see `normalize_squad`; F1 compares
            letters of scripts without spaces, and of Korean, one by one.
            Default: "official".
        missing: str. Treatment of an id without a prediction: `"error"`, `"empty"` (the official
            v1.1 script gives 0) or `"leave_out"` (the official v2.0 script leaves it out).
            Default: "error".

    Returns:
        `Scores` with `exact_match`, `f1`; in v2.0 also `no_answer_accuracy` (the share of the
        questions without an answer that are rightly refused), `wrongly_refused` (that of the
        others), `has_answer_exact_match`, `has_answer_f1`, and with `no_answer`
        `best_exact_match`, `best_f1`.

    Raises:
        ValueError: If a prediction is missing, or in version 1.1 a list of references is empty or
            there are probabilities.
        TypeError: If the references of an id are one string.

    Example:

    >>> scores = score_squad({"q": "in old York", "r": ""}, {"q": ["York"], "r": []}, version="2.0")
    >>> scores["exact_match"].value, scores["f1"].value
    (0.5, 0.75)
    """
    is_v2 = {"1.1": False, "2.0": True}[version]
    if no_answer is not None and not is_v2:
        raise ValueError(
            "Probabilities of no answer belong to version='2.0'. Received: version='1.1'"
        )
    check_texts(references)
    ids, counts = pair(predictions, references, missing=missing)
    raw = {
        key: best_match(predictions.get(key, ""), references[key], version, key, normalization)
        for key in ids
    }
    possible = {key: len(references[key]) > 0 for key in ids}
    chances = no_answer or {}
    silent = {key for key in ids if no_answer and chances[key] > no_answer_threshold}
    final = {key: (float(not possible[key]),) * 2 if key in silent else raw[key] for key in raw}
    exact, overlap = ({key: both[n] for key, both in final.items()} for n in (0, 1))
    row = partial(
        mean_score,
        scorer=f"SQuAD v{version} rules{' for all scripts' * (normalization == 'unicode')}",
        tokenisation=_TOKENISATIONS[normalization],
    )
    rows = [row("exact_match", "Exact match", exact), row("f1", "F1", overlap)]
    if is_v2:
        yes, no = ([key for key in ids if possible[key] == kind] for kind in (True, False))
        texts = {key: normalize_squad(predictions.get(key, ""), normalization) for key in yes}
        refused = {key: float(key in silent or not text) for key, text in texts.items()}
        rows += [
            row("no_answer_accuracy", "Rightly refused", {key: exact[key] for key in no}),
            row("wrongly_refused", "Wrongly refused", refused),
            row("has_answer_exact_match", "Exact match, answerable", {k: exact[k] for k in yes}),
            row("has_answer_f1", "F1, answerable", {key: overlap[key] for key in yes}),
        ]
    if no_answer is not None:
        for column, name, label in ((0, "exact_match", "exact match"), (1, "f1", "F1")):
            # A text without words, such as "the", is wrong here where there is no answer.
            values = {
                key: both[column] if possible[key] or not predictions.get(key) else 0.0
                for key, both in raw.items()
            }
            best, note = _best(values, possible, chances)
            rows.append(row(f"best_{name}", f"Best {label}", best, note=note))
    return Scores(f"SQuAD v{version}", tuple(rows), counts)


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
            "SQuAD v1.1 has a reference for every question, unlike version='2.0'. "
            f"Received: references[{key!r}]=[]"
        )
    answer = normalize_squad(prediction, normalization)
    exact = max(float(answer == target) for target in targets)
    words = spaced_characters if normalization == "unicode" else str
    given = words(answer).split()
    return exact, max(_f1(given, words(target).split(), version) for target in targets)


def _f1(prediction: list[str], target: list[str], version: str) -> float:
    if version == "2.0" and not (prediction and target):
        return float(prediction == target)
    shared = sum((Counter(prediction) & Counter(target)).values())
    return 2 * shared / (len(prediction) + len(target)) if shared else 0.0


def _best(
    scores: Mapping[Any, float], possible: Mapping[Any, bool], chances: Mapping[Any, float]
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


@register_metric("squad", lambda given: given.answers and given.by_squad, order=30)
def _squad(given: Submission) -> Iterator[Scores]:
    """Exact match and F1 of the questions with an answer, also by question word.

    Where some questions have no answer, SQuAD 2.0's scores are those of the main table.
    """
    form: dict[str, Any] = {"missing": given.missing, "normalization": given.normalization}
    scores = score_squad(given.texts, given.answers, **form)
    yield replace(scores, table=ANSWERABLE if _mixed(given) else "")
    words = {key: question_word(r.question) for key, r in given.references.items() if r.question}
    if len(words) == len(given.references):
        rows = tuple(
            replace(part, name=f"{row.name}_{word}", label=f"{row.label}, {word}")
            for row in scores.rows
            for word, part in score_by_group(row, words).items()
            if part.size >= SMALLEST_GROUP
        )
        yield Scores(scores.rules, rows, {}, table="By question word")


def _mixed(given: Submission) -> bool:
    """Returns True if some questions have no answer."""
    return bool(given.answerable and given.answers and given.by_squad)


@register_metric("squad_2", _mixed, order=20)
def _squad_2(given: Submission) -> Iterator[Scores]:
    """SQuAD 2.0's scores, where some questions have no answer.

    An answer that is empty or not confident is a refusal. The best scores over all thresholds are
    those of the best guesses, by `probability` or, in files without it, `answerable_probability`.
    """
    # A question whose answers are all of other styles is left out.
    known = {
        k: r.answers for k, r in given.references.items() if r.answers or r.answerable is False
    }
    made = {key: p for key, p in given.predictions.items() if key in known}
    texts = {key: "" if abstains(p) else p.answer for key, p in made.items()}
    form: dict[str, Any] = {"missing": given.missing, "normalization": given.normalization}
    scores = score_squad(texts, known, version="2.0", **form)
    rows = scores.rows
    if sure := given.scores("probability", known) or given.scores("answerable_probability", known):
        # The prediction of a missing one is "no answer" already.
        chances = dict.fromkeys(known, 1.0) | {key: 1.0 - chance for key, chance in sure.items()}
        guesses = {k: "" if abstains(replace(p, scores={})) else p.answer for k, p in made.items()}
        rows += score_squad(guesses, known, version="2.0", no_answer=chances, **form).rows[6:]
    rows = tuple(replace(row, name=f"squad_2_{row.name}") for row in rows)
    yield replace(scores, rows=rows[:4])
    yield replace(scores, rows=rows[4:], counts={}, table=PARTS)

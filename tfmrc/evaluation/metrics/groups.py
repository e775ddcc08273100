"""Scores and answer lengths by question word, query type and style."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tfmrc.evaluation.metrics.resampling import statistics_of
from tfmrc.evaluation.metrics.score import Score
from tfmrc.evaluation.metrics.tokenizers import get_tokenizer

QUESTION_WORDS = ("what", "how", "who", "when", "which", "where", "why")
_FIRST = re.compile(rf"\b(?:{'|'.join(QUESTION_WORDS)}|whom|whose)\b")


def question_word(question: str) -> str:
    """Returns the first question word of a question, or "other" ("whom" and "whose" are "who").

    Example:

    >>> [question_word(text) for text in ("In which year?", "Whose is it?", "Is it?")]
    ['which', 'who', 'other']
    """
    match = _FIRST.search(question.lower())
    if match is None:
        return "other"
    return "who" if match.group() in ("whom", "whose") else match.group()


def score_by_group(score: Score, groups: Mapping[Any, str]) -> dict[str, Score]:
    """Breaks one score down by group, the largest group first.

    The score of a group is computed from its own counts, as for the whole (BLEU is not averaged).

    Args:
        score: `Score`. A score with `statistics`.
        groups: dict. The group of each scored id.

    Raises:
        ValueError: If the score was not computed.

    Example:

    >>> from tfmrc.evaluation import score_by_group, score_squad
    >>> score = score_squad({"a": "York", "b": "ten"}, {"a": ["York"], "b": ["six"]})["f1"]
    >>> parts = score_by_group(score, {"a": "where", "b": "when"})
    >>> {name: part.value for name, part in parts.items()}
    {'where': 1.0, 'when': 0.0}
    """
    counted = statistics_of(score)
    members: dict[str, list[Any]] = {}
    for key in counted.ids:
        members.setdefault(groups[key], []).append(key)
    parts = {}
    for name, ids in sorted(members.items(), key=lambda item: -len(item[1])):
        statistics = counted.subset(ids)
        given = score.per_example  # an example without words has no rate of repeated ones
        per_example = given and {key: given[key] for key in ids if key in given}
        parts[name] = replace(
            score,
            value=statistics.score(),
            size=len(ids),
            per_example=per_example,
            statistics=statistics,
        )
    return parts


@dataclass(frozen=True)
class AnswerLength:
    """Length in words of one kind of answers: the mean and its standard error."""

    style: str
    group: str
    mean: float
    error: float


def answer_lengths(answers: Iterable[tuple[str, str, str]]) -> list[AnswerLength]:
    """Computes answer lengths by style and group (query type), in order of first appearance.

    Args:
        answers: iterable. Triples of style, group and text. Give references a style of their own.

    Returns:
        One row per style and group. `error` is the standard error of the mean.

    Example:

    >>> rows = answer_lengths([("qa", "person", "Ode"), ("qa", "person", "Ada of Ley")])
    >>> rows[0].mean, round(rows[0].error, 2)
    (2.0, 1.0)
    """
    tokenize = get_tokenizer("english")
    lengths: dict[tuple[str, str], list[int]] = {}
    for style, group, text in answers:
        lengths.setdefault((style, group), []).append(len(tokenize(text)))
    rows = []
    for (style, group), counts in lengths.items():
        size = len(counts)
        error = float(np.std(counts, ddof=1)) / size**0.5 if size > 1 else 0.0
        rows.append(AnswerLength(style, group, float(np.mean(counts)), error))
    return rows

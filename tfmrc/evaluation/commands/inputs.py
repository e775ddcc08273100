"""Inputs of the commands, and the scores of text that two of them compute."""

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfmrc.evaluation.files.official import read_answers
from tfmrc.evaluation.files.predictions import read_predictions
from tfmrc.evaluation.files.references import Reference, read_references
from tfmrc.evaluation.metrics.answers import score_answers
from tfmrc.evaluation.metrics.rules import NO_ANSWER
from tfmrc.evaluation.metrics.score import Scores


def references_of(options: Namespace) -> dict[str, Reference]:
    """Reads the references that the options name."""
    return read_references(options.references, style=options.style, split=options.split)


def scores_of(options: Namespace, path: Path) -> dict[str, Any]:
    """Reads the score `--field` of every prediction of a file.

    Raises:
        ValueError: If a prediction lacks it.
    """
    predictions = read_predictions(path, options.style)
    absent = [key for key, p in predictions.items() if p.scores.get(options.field) is None]
    if absent:
        raise ValueError(
            f"{path}: {len(absent)} predictions have no score "
            f"{options.field!r} (--field). Received: id={absent[0]!r} first"
        )
    return {key: p.scores[options.field] for key, p in predictions.items()}


def relevance_of(options: Namespace, known: Mapping[str, Reference]) -> dict[str, tuple[bool, ...]]:
    """Returns the relevance of the passages of every reference that has it.

    Raises:
        ValueError: If none has it.
    """
    labels = {k: r.relevance for k, r in known.items() if r.relevance is not None}
    if not labels:
        raise ValueError(f"{options.references}: no relevance. Received: {len(known)} references")
    return labels


def with_all_passages(
    scores: Mapping[str, Sequence[float]], labels: Mapping[str, Sequence[bool]]
) -> dict[str, list[float]]:
    """Returns the scores, with the passages that a model did not read, the last ones, behind."""
    return {
        key: [*row, *[-math.inf] * (len(labels.get(key, ())) - len(row))]
        for key, row in scores.items()
    }


def squad_answers(options: Namespace, path: Path, version: str) -> dict[str, str]:
    """Reads answers by id for SQuAD's rules, where in version 2.0 a refusal is an empty answer."""
    answers = read_answers(path, options.style)
    return {key: without_refusal(text, version) for key, text in answers.items()}


def squad_references(known: Mapping[str, Reference]) -> dict[str, tuple[str, ...]]:
    """Returns the references by id, without questions whose answers are of other styles."""
    # By the official script a question without answers, whatever is known of it, has none.
    return {key: r.answers for key, r in known.items() if r.answers or not r.answerable}


def without_refusal(answer: str, version: str) -> str:
    """Returns an answer; "" for "No Answer Present." in version 2.0, as `write_official` does."""
    return "" if version == "2.0" and answer.strip() == NO_ANSWER else answer


def answer_scores(
    options: Namespace, predictions: Mapping[str, str], known: Mapping[str, Reference]
) -> Scores:
    """Scores text under the rules that the options name."""
    # One that can be answered, but has no answer in this style, is no reference: MS MARCO's files
    # of well-formed answers have some questions only.
    references = {key: r.answers for key, r in known.items() if r.answers or r.answerable is False}
    return score_answers(
        predictions,
        references,
        options.rules,
        meteor=options.meteor,
        tokenizer=options.tokenizer,
        missing=options.missing,
    )

"""The command that compares two prediction files with a paired test of every score."""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.evaluation.commands.inputs import (
    answer_scores,
    references_of,
    relevance_of,
    scores_of,
    squad_answers,
    squad_references,
    with_all_passages,
)
from tfmrc.evaluation.commands.output import only_json
from tfmrc.evaluation.files.official import read_answers
from tfmrc.evaluation.files.references import Reference
from tfmrc.evaluation.metrics.adversarial import score_adversarial_squad
from tfmrc.evaluation.metrics.ranking import score_ranking
from tfmrc.evaluation.metrics.resampling import paired_bootstrap
from tfmrc.evaluation.metrics.score import Score, Scores
from tfmrc.evaluation.metrics.squad import score_squad
from tfmrc.evaluation.reports.tables import show_rows

FURTHER_RULES = ("squad-1.1", "squad-2.0", "adversarial", "ranking")
"""Rules for comparison besides the rules for text."""


def compare(options: Namespace) -> dict[str, Any]:
    """Scores two prediction files by the same rules and tests the difference of every score."""
    known = references_of(options)
    first, second = (
        _scores(options, path, known) for path in (options.predictions, options.second)
    )
    tests = {}
    table = []
    for name in first:
        one, two = first[name], second[name]
        if not (one.size or two.size):
            continue
        values = [_shown(one), _shown(two)]
        if _ids(one) != _ids(two):
            # Such as the words of the answers, if one system alone abstains from a question.
            sizes = f"not compared: {one.size:,} and {two.size:,} questions, not the same ones"
            table.append([one.label, *values, sizes])
            continue
        if one.statistics is None:
            table.append([one.label, *values, f"not compared: {one.note}"])
            continue
        test = paired_bootstrap(one, two, samples=options.samples, seed=options.seed)
        tests[name] = {"first": one.to_json(), "second": two.to_json(), "test": vars(test)}
        table.append([one.label, *values, str(test)])
    if not only_json(options):
        show_rows(["score", "first", "second", "second - first, paired bootstrap"], table)
    return {"rules": first.rules, "scores": tests}


def _ids(score: Score) -> set[Any]:
    return set() if score.statistics is None else set(score.statistics.ids)


def _shown(score: Score) -> str:
    return "–" if score.value is None else f"{100 * score.value:.2f}"


def _scores(options: Namespace, path: Path, known: Mapping[str, Reference]) -> Scores:
    if options.rules == "ranking":
        labels = relevance_of(options, known)
        given = with_all_passages(scores_of(options, path), labels)
        return score_ranking(given, labels, missing=options.missing)
    references = squad_references(known)
    if options.rules == "squad-2.0":
        predictions = squad_answers(options, path, "2.0")
        return score_squad(predictions, references, version="2.0", missing=options.missing)
    predictions = read_answers(path, options.style)
    if options.rules == "adversarial":
        return score_adversarial_squad(predictions, references, missing=options.missing)
    if options.rules == "squad-1.1":
        return score_squad(predictions, references, version="1.1", missing=options.missing)
    return answer_scores(options, predictions, known)

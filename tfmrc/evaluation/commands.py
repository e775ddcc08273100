"""What each command of the command line does with its options; returns what `--json` writes."""

import json
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from tfmrc.evaluation.adversarial import score_adversarial_squad
from tfmrc.evaluation.answerability import precision_recall_curve, score_answerability
from tfmrc.evaluation.answers import score_answers
from tfmrc.evaluation.duplication import score_duplication
from tfmrc.evaluation.groups import answer_lengths, question_word, score_by_group
from tfmrc.evaluation.official import read_answers
from tfmrc.evaluation.oracle import score_oracle
from tfmrc.evaluation.predictions import read_predictions
from tfmrc.evaluation.ranking import score_ranking
from tfmrc.evaluation.references import Reference, read_references
from tfmrc.evaluation.resampling import bootstrap, paired_bootstrap
from tfmrc.evaluation.score import Score, Scores
from tfmrc.evaluation.squad import score_squad
from tfmrc.evaluation.tables import show_rows, show_scores


def answers(options: Namespace) -> dict[str, Any]:
    known = _references(options)
    predictions = read_answers(options.predictions, options.style)
    return _finish(options, _score_answers(options, predictions, known), known)


def squad(options: Namespace) -> dict[str, Any]:
    known = _references(options)
    chances = None
    if options.no_answer is not None:
        chances = json.loads(options.no_answer.read_text(encoding="utf-8"))
    scores = score_squad(
        read_answers(options.predictions, options.style),
        {key: reference.answers for key, reference in known.items()},
        version=options.version,
        no_answer=chances,
        missing=options.missing,
    )
    return _finish(options, scores, known)


def adversarial(options: Namespace) -> dict[str, Any]:
    scores = score_adversarial_squad(
        read_answers(options.predictions, options.style),
        {key: reference.answers for key, reference in _references(options).items()},
        missing=options.missing,
    )
    return _finish(options, scores)


def ranking(options: Namespace) -> dict[str, Any]:
    known = _references(options)
    labels = {k: r.relevance for k, r in known.items() if r.relevance is not None}
    if not labels:
        raise ValueError(f"{options.references}: no relevance. Received: {len(known)} references")
    scores = score_ranking(_field(options), labels, cutoff=options.cutoff, missing=options.missing)
    return _finish(options, scores)


def answerability(options: Namespace) -> dict[str, Any]:
    known = _references(options)
    truth = {key: r.answerable for key, r in known.items() if r.answerable is not None}
    given = _field(options)
    scores = score_answerability(given, truth, threshold=options.threshold, missing=options.missing)
    if options.plot is not None:
        from tfmrc.evaluation.figures import plot_precision_recall

        curve = precision_recall_curve(given, truth, missing=options.missing)
        _say(options, plot_precision_recall(curve, options.plot))
    return _finish(options, scores)


def oracle(options: Namespace) -> dict[str, Any]:
    found = read_predictions(options.predictions, options.style)
    scores = score_oracle(
        {key: [p.answer, *p.alternatives] for key, p in found.items()},
        {key: reference.answers for key, reference in _references(options).items()},
        k=options.k,
        version=options.version,
        missing=options.missing,
    )
    return _finish(options, scores)


def duplication(options: Namespace) -> dict[str, Any]:
    return _finish(options, score_duplication(read_answers(options.predictions, options.style)))


def lengths(options: Namespace) -> dict[str, Any]:
    known = _references(options)
    texts = read_answers(options.predictions, options.style)
    style = options.style or "predictions"
    rows = answer_lengths(
        triple
        for key, reference in known.items()
        for triple in ([(style, reference.query_type or "all", texts[key])] if key in texts else [])
        + [("references", reference.query_type or "all", text) for text in reference.answers[:1]]
    )
    if options.plot is not None:
        from tfmrc.evaluation.figures import plot_answer_lengths

        _say(options, plot_answer_lengths(rows, options.plot))
    table = [
        [r.style, r.group, f"{r.mean:.2f}", f"{r.deviation:.2f}", f"{r.error:.2f}", str(r.size)]
        for r in rows
    ]
    if not _only_json(options):
        show_rows(["style", "query type", "mean words", "deviation", "error", "n"], table)
    return {"lengths": [vars(row) for row in rows]}


def compare(options: Namespace) -> dict[str, Any]:
    known = _references(options)
    first, second = (
        _score_answers(options, read_answers(path, options.style), known)
        for path in (options.predictions, options.second)
    )
    found = {}
    table = []
    for name in first:
        one, two = first[name], second[name]
        if one.statistics is None or two.statistics is None or not one.statistics.ids:
            continue
        test = paired_bootstrap(one, two, samples=options.samples, seed=options.seed)
        found[name] = {"first": one.to_json(), "second": two.to_json(), "test": vars(test)}
        table.append([one.label, f"{100 * float(one):.2f}", f"{100 * float(two):.2f}", str(test)])
    if not _only_json(options):
        show_rows(["score", "first", "second", "second - first, paired bootstrap"], table)
    return {"rules": first.rules, "scores": found}


def _references(options: Namespace) -> dict[str, Reference]:
    return read_references(options.references, style=options.style, split=options.split)


def _field(options: Namespace) -> dict[str, Any]:
    found = read_predictions(options.predictions, options.style)
    absent = [key for key, p in found.items() if p.scores.get(options.field) is None]
    if absent:
        raise ValueError(
            f"{options.predictions}: {len(absent)} predictions have no score "
            f"{options.field!r} (--field). Received: id={absent[0]!r} first"
        )
    return {key: p.scores[options.field] for key, p in found.items()}


def _score_answers(
    options: Namespace, predictions: Mapping[str, str], known: Mapping[str, Reference]
) -> Scores:
    return score_answers(
        predictions,
        {key: reference.answers for key, reference in known.items()},
        options.rules,
        meteor=options.meteor,
        tokenizer=options.tokenizer,
        missing=options.missing,
    )


def _finish(
    options: Namespace, scores: Scores, known: Mapping[str, Reference] | None = None
) -> dict[str, Any]:
    """Show the scores, with intervals and a breakdown if asked; return all of it."""
    result = scores.to_json()
    result["predictions"] = str(options.predictions)
    samples = getattr(options, "samples", 0)
    intervals = {
        name: bootstrap(row, samples=samples, seed=options.seed)
        for name, row in scores.items()
        if samples and row.statistics is not None and row.statistics.ids
    }
    for name, interval in intervals.items():
        result["scores"][name]["interval"] = vars(interval)
    by = getattr(options, "by", None)
    groups = {}
    if by and known is not None:
        kinds = {
            key: question_word(r.question) if by == "question-word" else r.query_type or "none"
            for key, r in known.items()
        }
        for name, row in scores.items():
            if row.statistics is not None and row.statistics.ids:
                groups[name] = score_by_group(row, kinds)
        result["by"] = {
            name: {group: {"value": part.value, "size": part.size} for group, part in parts.items()}
            for name, parts in groups.items()
        }
    if not _only_json(options):
        show_scores(scores, intervals)
        if groups:
            _show_groups(by or "", scores, groups)
    return result


def _show_groups(by: str, scores: Scores, groups: Mapping[str, Mapping[str, Score]]) -> None:
    """One row a group, one column a score; the numbers of examples of the first score."""
    names = list(dict.fromkeys(group for parts in groups.values() for group in parts))
    sizes = next(iter(groups.values()))
    rows = []
    for group in names:
        cells = [parts.get(group) for parts in groups.values()]
        shown = ["–" if part is None else f"{100 * float(part):.2f}" for part in cells]
        rows.append([group, str(sizes[group].size) if group in sizes else "–", *shown])
    show_rows([by, "n", *(scores[name].label for name in groups)], rows)


def _only_json(options: Namespace) -> bool:
    return str(options.json) == "-"


def _say(options: Namespace, paths: list[Any]) -> None:
    if not _only_json(options):
        print(*paths, sep="\n")

"""The commands that compute scores. Each returns the content of `--json`."""

from argparse import Namespace
from typing import Any

from tfmrc.evaluation.commands.inputs import (
    answer_scores,
    references_of,
    relevance_of,
    scores_of,
    squad_answers,
    squad_references,
    with_all_passages,
    without_refusal,
)
from tfmrc.evaluation.commands.output import finish, only_json, print_paths
from tfmrc.evaluation.files.json_lines import read_object
from tfmrc.evaluation.files.official import read_answers, read_no_answer
from tfmrc.evaluation.files.predictions import read_predictions
from tfmrc.evaluation.files.references import read_references
from tfmrc.evaluation.metrics.adversarial import score_adversarial_squad
from tfmrc.evaluation.metrics.answerability import precision_recall_curve, score_answerability
from tfmrc.evaluation.metrics.groups import answer_lengths
from tfmrc.evaluation.metrics.oracle import score_oracle
from tfmrc.evaluation.metrics.pairing import pair
from tfmrc.evaluation.metrics.ranking import score_ranking
from tfmrc.evaluation.metrics.repetition import score_repetition
from tfmrc.evaluation.metrics.resampling import Interval
from tfmrc.evaluation.metrics.rules import NO_ANSWER
from tfmrc.evaluation.metrics.squad import score_squad
from tfmrc.evaluation.reports.tables import show_rows


def answers(options: Namespace) -> dict[str, Any]:
    known = references_of(options)
    predictions = read_answers(options.predictions, options.style)
    return finish(options, answer_scores(options, predictions, known), known)


def squad(options: Namespace) -> dict[str, Any]:
    known = references_of(options)
    chances = None
    if options.no_answer is not None:
        chances = read_object(options.no_answer)
    elif options.version == "2.0":
        chances = read_no_answer(options.predictions, options.style)
        if chances is not None:  # the prediction of a missing one is "no answer" already
            chances = dict.fromkeys(known, 1.0) | chances
    scores = score_squad(
        squad_answers(options, options.predictions, options.version),
        squad_references(known),
        version=options.version,
        no_answer=chances,
        normalization=options.normalization,
        missing=options.missing,
    )
    return finish(options, scores, known)


def adversarial(options: Namespace) -> dict[str, Any]:
    scores = score_adversarial_squad(
        read_answers(options.predictions, options.style),
        squad_references(references_of(options)),
        missing=options.missing,
    )
    return finish(options, scores)


def ranking(options: Namespace) -> dict[str, Any]:
    labels = relevance_of(options, references_of(options))
    scores = score_ranking(
        with_all_passages(scores_of(options, options.predictions), labels),
        labels,
        cutoff=options.cutoff,
        missing=options.missing,
    )
    return finish(options, scores)


def answerability(options: Namespace) -> dict[str, Any]:
    known = references_of(options)
    truth = {key: r.answerable for key, r in known.items() if r.answerable is not None}
    given = scores_of(options, options.predictions)
    threshold, tuned_on = options.threshold, ""
    if options.dev_predictions is None:
        if options.dev_references is not None or options.dev_split is not None:
            raise ValueError(
                "--dev-references and --dev-split go with --dev-predictions. Received: "
                f"--dev-references {options.dev_references}, --dev-split {options.dev_split}"
            )
    else:
        threshold, tuned_on = _threshold_of_dev(options), f"the best on {options.dev_references}"
    scores = score_answerability(
        given, truth, threshold=threshold, tuned_on=tuned_on, missing=options.missing
    )
    if options.plot is not None:
        from tfmrc.evaluation.plots.figures import plot_precision_recall

        curve = precision_recall_curve(given, truth, missing=options.missing)
        print_paths(options, plot_precision_recall(curve, options.plot))
    return finish(options, scores)


def oracle(options: Namespace) -> dict[str, Any]:
    predictions = read_predictions(options.predictions, options.style)
    scores = score_oracle(
        {
            key: [without_refusal(text, options.version) for text in (p.answer, *p.alternatives)]
            for key, p in predictions.items()
        },
        squad_references(references_of(options)),
        k=options.k,
        version=options.version,
        missing=options.missing,
    )
    if options.plot is not None:
        from tfmrc.evaluation.plots.figures import plot_scores

        bars: dict[str, dict[str, float | Interval]] = {
            label: {f"K = {k}": float(scores[f"{name}@{k}"]) for k in options.k}
            for name, label in (("exact_match", "Exact match"), ("f1", "F1"))
        }
        print_paths(options, plot_scores(bars, options.plot))
    return finish(options, scores)


def repetition(options: Namespace) -> dict[str, Any]:
    return finish(options, score_repetition(read_answers(options.predictions, options.style)))


def lengths(options: Namespace) -> dict[str, Any]:
    known = references_of(options)
    texts = read_answers(options.predictions, options.style)
    style = options.style or "predictions"
    pairing = pair(texts, known, missing=options.missing)
    rows = answer_lengths(
        triple
        for key in map(str, pairing.ids)
        for query_type in [known[key].query_type or "all"]
        for triple in [
            (style, query_type, texts.get(key, "")),
            *(("references", query_type, text) for text in known[key].answers[:1]),
        ]
        if triple[2].strip() != NO_ANSWER
    )
    if options.plot is not None:
        from tfmrc.evaluation.plots.figures import plot_answer_lengths

        print_paths(options, plot_answer_lengths(rows, options.plot))
    table = [
        [r.style, r.group, f"{r.mean:.2f}", f"{r.deviation:.2f}", f"{r.error:.2f}", str(r.size)]
        for r in rows
    ]
    if not only_json(options):
        show_rows(["style", "query type", "mean words", "deviation", "error", "n"], table)
    return {"lengths": [vars(row) for row in rows]}


def _threshold_of_dev(options: Namespace) -> float:
    """Returns the threshold with the best F1 on another split, whose files the options name."""
    if options.threshold is not None or options.dev_references is None:
        raise ValueError(
            "--dev-predictions goes with --dev-references, and not with --threshold. Received: "
            f"--threshold {options.threshold}, --dev-references {options.dev_references}"
        )
    known = read_references(options.dev_references, style=options.style, split=options.dev_split)
    truth = {key: r.answerable for key, r in known.items() if r.answerable is not None}
    given = scores_of(options, options.dev_predictions)
    return precision_recall_curve(given, truth, missing=options.missing).best_threshold

"""Output of the commands: a table, intervals, a breakdown, and all of it as JSON."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from tfmrc.evaluation.files.references import Reference
from tfmrc.evaluation.metrics.groups import question_word, score_by_group
from tfmrc.evaluation.metrics.resampling import Interval, bootstrap
from tfmrc.evaluation.metrics.score import Score, Scores
from tfmrc.evaluation.reports.tables import show_rows, show_scores


def finish(
    options: Namespace, scores: Scores, known: Mapping[str, Reference] | None = None
) -> dict[str, Any]:
    """Prints and returns the scores, with intervals and a breakdown if requested."""
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
    if "by" in options and options.plot is not None:
        _plot_groups(options, scores, groups)
    if not only_json(options):
        show_scores(scores, intervals)
        if groups:
            _show_groups(by or "", scores, groups)
    return result


def _plot_groups(
    options: Namespace, scores: Scores, groups: Mapping[str, Mapping[str, Score]]
) -> None:
    """Plots the first two scores, which are the main ones, by group (SAN's Figure 5)."""
    from tfmrc.evaluation.plots.figures import plot_scores

    if not groups:
        raise ValueError("--plot draws a breakdown, so it needs --by. Received: no --by")
    bars: dict[str, dict[str, float | Interval]] = {
        scores[name].label: {group: float(part) for group, part in groups[name].items()}
        for name in list(groups)[:2]
    }
    print_paths(options, plot_scores(bars, options.plot))


def _show_groups(by: str, scores: Scores, groups: Mapping[str, Mapping[str, Score]]) -> None:
    """Prints one row per group and one column per score, with the sizes of the first score."""
    names = list(dict.fromkeys(group for parts in groups.values() for group in parts))
    sizes = next(iter(groups.values()))
    rows = []
    for group in names:
        cells = [parts.get(group) for parts in groups.values()]
        shown = ["–" if part is None else f"{100 * float(part):.2f}" for part in cells]
        rows.append([group, str(sizes[group].size) if group in sizes else "–", *shown])
    show_rows([by, "n", *(scores[name].label for name in groups)], rows)


def only_json(options: Namespace) -> bool:
    """Returns True if standard output is JSON only."""
    return str(options.json) == "-"


def print_paths(options: Namespace, paths: list[Any]) -> None:
    """Prints the names of files that were written."""
    if not only_json(options):
        print(*paths, sep="\n")

"""The scores of a report that one reads first, on a few lines."""

from tfmrc.evaluation.metrics.resampling import bootstrap
from tfmrc.evaluation.reports.report import Report

FIRST = ("f1", "exact_match", "rouge_l", "bleu_1", "bleu_4")
WITH_REFUSALS = (
    "squad_2_f1", "squad_2_exact_match", "squad_2_no_answer_accuracy", "squad_2_wrongly_refused"
)  # fmt: skip
COLUMNS, SYSTEMS = 2, 7


def summary(report: Report) -> list[str]:
    """Returns at most eleven lines: two scores of each system, in percent.

    Where some questions have no answer, exact match and F1 count refusals as SQuAD 2.0 does, and
    two columns more have the shares of the questions that are rightly and wrongly refused.
    A score of a single run has its interval, the mean of several its deviation. Differences, with
    intervals for the same examples, are those of the first system to the first one that it is
    compared with; in a table of variants, of each variant to the first.

    Args:
        report: `Report`. The report.

    Example:

    >>> from tfmrc.evaluation import Report, score_squad
    >>> known = {n: ["yes"] for n in range(40)}
    >>> report = Report("Demo", dataset="own", split="test")
    >>> report.add("model", score_squad(dict.fromkeys(known, "yes"), known))
    >>> print(*summary(report), sep="\\n")
    own, test
             F1                    Exact match
      model  100.0 [100.0, 100.0]  100.0 [100.0, 100.0]
    """
    names = _names(report)
    shown = [name for name in report.systems if {*names} & {*report.systems[name]}][:SYSTEMS]
    labels = {n: row.label for rows in report.systems.values() for n, row in rows.items()}
    rows = [["", *(labels[name] for name in names)]]
    rows += [[system, *(_score(report, system, name) for name in names)] for system in shown]
    pairs = [(system, other) for system, other in report.tests if {system, other} <= {*shown}]
    for system, other in pairs[: max(0, 9 - len(shown))]:
        tests = report.tests[system, other]
        cells = [tests[name].interval(digits=1) if name in tests else "–" for name in names]
        rows.append([f"{system} – {other}", *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{report.dataset}, {report.split}",
        *("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows),
    ]


def _names(report: Report) -> list[str]:
    """Returns the names of the scores that are shown, those of answers before others."""
    names = list(dict.fromkeys(name for rows in report.systems.values() for name in rows))
    main = [name for name in names if not report.tables[name]]
    if {*WITH_REFUSALS} <= {*main}:
        return list(WITH_REFUSALS)
    return ([name for name in FIRST if name in main] or main)[:COLUMNS]


def _score(report: Report, system: str, name: str) -> str:
    score = report.systems[system].get(name)
    if score is None or score.value is None:
        return "–"
    if score.deviation is not None:
        return f"{100 * score.value:.1f} ± {100 * score.deviation:.1f}"
    interval = report.intervals.get((system, name))
    if interval is None and score.statistics is not None:
        interval = bootstrap(score)
    bounds = f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]" if interval else ""
    return f"{100 * score.value:.1f}{bounds}"

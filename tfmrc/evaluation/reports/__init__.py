"""Reports: metrics.json, Markdown tables, samples, and the state of the papers' tables."""

from tfmrc.evaluation.reports.mean_of_runs import mean_of_runs
from tfmrc.evaluation.reports.report import Report
from tfmrc.evaluation.reports.reproduction import RowState, find_runs, states
from tfmrc.evaluation.reports.reproduction_rows import Part, Row, read_rows
from tfmrc.evaluation.reports.samples import sample_table

__all__ = [
    "Part",
    "Report",
    "Row",
    "RowState",
    "find_runs",
    "mean_of_runs",
    "read_rows",
    "sample_table",
    "states",
]

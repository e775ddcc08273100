"""Reports: metrics.json, Markdown tables and samples."""

from tfmrc.evaluation.reports.mean_of_runs import mean_of_runs
from tfmrc.evaluation.reports.report import Report
from tfmrc.evaluation.reports.samples import sample_table

__all__ = ["Report", "mean_of_runs", "sample_table"]

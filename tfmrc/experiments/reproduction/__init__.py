"""State of every table and figure of the papers, from the reports of the runs."""

from tfmrc.experiments.reproduction.rows import Part, Row, read_rows
from tfmrc.experiments.reproduction.states import Result, RowState, find_runs, states

__all__ = ["Part", "Result", "Row", "RowState", "find_runs", "read_rows", "states"]

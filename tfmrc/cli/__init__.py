"""The command line: `tfmrc COMMAND ...`, one file for each command.

A command's file has `add_arguments(parser)` and `run(options)`. The first line of its docstring
stands in the list of commands, the whole docstring in the help of the command.
"""

from tfmrc.cli.program import main, parser

__all__ = ["main", "parser"]

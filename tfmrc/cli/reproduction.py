"""List the papers' tables and figures with their state.

The results of the runs are read from the reports (metrics.json) below the folders.
"""

from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--runs", nargs="+", action="extend", metavar="FOLDER", help="folders of runs (runs)"
    )
    parser.add_argument("--rows", metavar="FILE", help="default: recipes/reproduction.yaml")
    parser.add_argument(
        "--only", nargs="+", action="extend", metavar="ID", help="these rows, with their commands"
    )
    parser.add_argument("--markdown", metavar="FILE", help="also write the list to this file")
    parser.add_argument("--json", metavar="FILE", help="also as JSON; '-' prints only JSON")


def run(options: Namespace) -> None:
    from tfmrc.experiments.reproduction.command import reproduction

    reproduction(
        options.runs or (),
        rows=options.rows,
        only=options.only or (),
        markdown=options.markdown,
        json_file=options.json,
    )

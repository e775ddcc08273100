"""Round trip: generates questions about passages, answers them, and keeps those that agree.

    python -m recipes.round_trip.main make --data FOLDER        # ask, answer, keep
    python -m recipes.round_trip.main keep --set threshold=1    # another threshold
    python -m recipes.round_trip.main compare --data FOLDER     # SAN with and without them

Each command resumes when it is run again.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
COMMANDS = ("make", "ask", "answer", "keep", "compare")


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the recipe."""
    program = argparse.ArgumentParser(
        prog="python -m recipes.round_trip.main",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    program.add_argument("command", choices=COMMANDS)
    program.add_argument("--config", type=Path, default=HERE / "config.yaml", help="a YAML file")
    program.add_argument("--data", type=Path, help="the data folder (default: TFMRC_DATA)")
    program.add_argument("--run", type=Path, help="the folder to write (default: runs/NAME)")
    program.add_argument("--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE")
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: list of str or None. The words of the command line. Default: those of the
            process.

    Returns:
        0, or 1 after a message on standard error.
    """
    options = parser().parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        _run(options)
    except (ValueError, OSError) as error:
        print(f"round_trip {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    from recipes.round_trip import compare, questions, settings
    from tfmrc.experiments.examples.files import data_folder

    values = settings.load(options.config, *options.set)
    run = options.run or Path("runs", values.name)
    if options.command in ("make", "ask"):
        print(questions.ask(values, data_folder(options.data), run), flush=True)
    if options.command in ("make", "answer"):
        print(questions.answer(values, run), flush=True)
    if options.command in ("make", "keep"):
        print(questions.keep(values, run), flush=True)
        print((run / questions.COUNTS).read_text(encoding="utf-8"))
    if options.command == "compare":
        print(compare.compare(values, data_folder(options.data), run))


if __name__ == "__main__":
    sys.exit(main())

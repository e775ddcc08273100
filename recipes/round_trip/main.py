"""Round trip: ask about passages, answer the questions, keep those where both agree.

    python -m recipes.round_trip.main make --data FOLDER        # ask, answer, keep
    python -m recipes.round_trip.main keep --data FOLDER --threshold=1    # another threshold
    python -m recipes.round_trip.main compare --data FOLDER     # SAN with and without them

Run again, each goes on where it was stopped.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tfmrc.experiments import command

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: the process's own unless given; what is not listed by `--help` overrides the
            settings.

    Returns:
        0, or 1 where something fails (the words say what).
    """
    parser = command.parser("recipes.round_trip.main", __doc__, HERE / "config.yaml")
    parser.add_argument("command", choices=("make", "ask", "answer", "keep", "compare"))
    chosen, overrides = parser.parse_known_args(arguments)
    return command.status(lambda: _run(chosen, overrides))


def _run(chosen: argparse.Namespace, overrides: Sequence[str]) -> None:
    from recipes.round_trip import compare, questions, settings
    from tfmrc.experiments.sources import data_folder

    made = settings.load(chosen.config, overrides)
    folder = data_folder(chosen.data)
    run = chosen.runs or Path("runs", made.name)
    if chosen.command in ("make", "ask"):
        print(questions.ask(made, folder, run), flush=True)
    if chosen.command in ("make", "answer"):
        print(questions.answer(made, run), flush=True)
    if chosen.command in ("make", "keep"):
        print(questions.keep(made, run), flush=True)
        print((run / questions.COUNTS).read_text(encoding="utf-8"))
    if chosen.command == "compare":
        print(compare.compare(made, folder, run))


if __name__ == "__main__":
    sys.exit(main())

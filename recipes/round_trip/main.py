"""Round trip: ask about passages, answer the questions, keep those where both agree.

    python -m recipes.round_trip.main make --data FOLDER        # ask, answer, keep
    python -m recipes.round_trip.main keep --data FOLDER --threshold=1    # another threshold
    python -m recipes.round_trip.main compare --data FOLDER     # SAN with and without them

Run again, each goes on where it was stopped.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command.

    Args:
        arguments: the process's own unless given; what is not listed by `--help` overrides the
            settings.

    Returns:
        0, or 1 where something fails (the words say what).
    """
    parser = argparse.ArgumentParser(
        prog="python -m recipes.round_trip.main", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("command", choices=("make", "ask", "answer", "keep", "compare"))
    parser.add_argument("--config", type=Path, default=HERE / "config.yaml")
    parser.add_argument("--data", type=Path, help="the data folder (default: TFMRC_DATA)")
    parser.add_argument("--run", type=Path, help="the folder (default: runs/NAME)")
    chosen, overrides = parser.parse_known_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        _run(chosen, overrides)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"This failed: {error}", file=sys.stderr)
        return 1
    return 0


def _run(chosen: argparse.Namespace, overrides: Sequence[str]) -> None:
    from recipes.round_trip import compare, questions, settings
    from tfmrc.recipe.sources import data_folder

    made = settings.load(chosen.config, overrides)
    folder = data_folder(chosen.data)
    run = chosen.run or Path("runs", made.name)
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

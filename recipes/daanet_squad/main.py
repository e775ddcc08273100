"""DAANET on SQuAD: train it and what it is compared with, answer, ask, score, write the tables.

    python -m recipes.daanet_squad.main --data FOLDER
    python -m recipes.daanet_squad.main --data FOLDER --systems daanet no_lstm --seeds 1 2 3

Run again, it goes on where it was stopped; what is trained and written is not done again.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tfmrc.experiments import command

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe.

    Args:
        arguments: the process's own unless given; what is not listed by `--help` overrides the
            settings (`--steps=200`).

    Returns:
        0, or 1 where something fails (the words say what).
    """
    parser = command.parser("recipes.daanet_squad.main", __doc__, HERE / "config.yaml")
    parser.add_argument("--seeds", type=int, nargs="+", help="instead of the settings'")
    parser.add_argument("--systems", nargs="+", help="instead of the settings'")
    chosen, overrides = parser.parse_known_args(arguments)
    return command.status(lambda: _run(chosen, overrides))


def _run(chosen: argparse.Namespace, overrides: Sequence[str]) -> None:
    from recipes.daanet_squad import report, settings
    from recipes.daanet_squad.systems import SYSTEMS
    from recipes.daanet_squad.train import train
    from tfmrc.experiments.sources import data_folder

    made = settings.load(chosen.config, overrides)
    names = chosen.systems or made.systems
    unknown = [name for name in names if name not in SYSTEMS]
    if unknown:
        raise ValueError(f"The systems are {', '.join(SYSTEMS)}. Received: {unknown[0]}")
    parts = settings.examples(made, data_folder(chosen.data))
    print(", ".join(f"{name} {len(part):,}" for name, part in parts.items()), flush=True)
    folder = chosen.runs or Path("runs", made.name)
    for seed in chosen.seeds or made.seeds:  # seed by seed, so that a stopped table is a fair one
        for name in names:
            train(made, name, seed, parts, folder / f"{name}-{seed}")
        text = report.write(made, folder, parts["test"])
    print(text)


if __name__ == "__main__":
    sys.exit(main())

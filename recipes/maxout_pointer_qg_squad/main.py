"""Question generation on SQuAD: train the variants, ask, score, and write tables and pictures.

    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER
    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER --variants='[s2s-a-at-mp]'
    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER --ids_only

Run again, it goes on where it was stopped; what is trained and scored is not done again.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tfmrc.experiments import command

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe.

    Args:
        arguments: the process's own unless given; what is not listed by `--help` overrides the
            settings (`--epochs=2`).

    Returns:
        0, or 1 where something fails (the words say what).
    """
    parser = command.parser("recipes.maxout_pointer_qg_squad.main", __doc__, HERE / "config.yaml")
    parser.add_argument(
        "--ids_only", action="store_true", help="write the lists of ids, and train nothing"
    )
    chosen, overrides = parser.parse_known_args(arguments)
    return command.status(lambda: _run(chosen, overrides))


def _run(chosen: argparse.Namespace, overrides: Sequence[str]) -> None:
    from recipes.maxout_pointer_qg_squad import settings, splits
    from tfmrc.experiments.sources import data_folder

    made = settings.load(chosen.config, overrides)
    data = data_folder(chosen.data)
    if made.vectors is not None:
        made = replace(made, vectors=str(data / made.vectors))
    folder = chosen.runs or Path("runs", made.name)
    parts = splits.make(made, data)
    splits.write_ids(parts, folder / "ids")
    sizes = {name: len(getattr(parts, name)) for name in splits.PARTS}
    print(", ".join(f"{name} {size:,}" for name, size in sizes.items()), flush=True)
    if chosen.ids_only:
        return
    from recipes.maxout_pointer_qg_squad import report, run

    text = ""
    for context in made.contexts:
        for variant in made.variants:
            print(f"\n{variant}, {context}", flush=True)
            place = folder / f"{variant}-{context}"
            run.run(made, variant, context, parts, place)
            report.write_one(made, variant, context, parts, place)
            text = report.write_all(made, folder, parts)
    print(text)


if __name__ == "__main__":
    sys.exit(main())

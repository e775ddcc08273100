"""Question generation on SQuAD: train the variants, ask, score, and write tables and pictures.

    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER
    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER --variants='[s2s-a-at-mp]'
    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER --ids_only

Run again, it goes on where it was stopped; what is trained and scored is not done again.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the recipe.

    Args:
        arguments: the process's own unless given; what is not listed by `--help` overrides the
            settings (`--epochs=2`).

    Returns:
        0, or 1 where something fails (the words say what).
    """
    parser = argparse.ArgumentParser(
        prog="python -m recipes.maxout_pointer_qg_squad.main", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--config", type=Path, default=HERE / "config.yaml")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("TFMRC_DATA"), help="the data folder"
    )
    parser.add_argument("--run", type=Path, help="folder of the runs (default: in runs/)")
    parser.add_argument(
        "--ids_only", action="store_true", help="write the lists of ids, and train nothing"
    )
    chosen, overrides = parser.parse_known_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if chosen.data is None:
        print("Name the data folder by --data or TFMRC_DATA.", file=sys.stderr)
        return 1
    try:
        return _run(chosen, overrides)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    except (ValueError, OSError) as error:
        print(f"The recipe failed: {error}", file=sys.stderr)
        return 1


def _run(chosen: argparse.Namespace, overrides: Sequence[str]) -> int:
    from recipes.maxout_pointer_qg_squad import settings, splits

    made = settings.load(chosen.config, overrides)
    if made.vectors is not None:
        made = replace(made, vectors=str(Path(chosen.data, made.vectors)))
    folder = chosen.run or ROOT / "runs" / made.name
    parts = splits.make(made, chosen.data)
    splits.write_ids(parts, folder / "ids")
    sizes = {name: len(getattr(parts, name)) for name in splits.PARTS}
    print(", ".join(f"{name} {size:,}" for name, size in sizes.items()), flush=True)
    if chosen.ids_only:
        return 0
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
    return 0


if __name__ == "__main__":
    sys.exit(main())

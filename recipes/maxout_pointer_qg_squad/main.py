"""Question generation on SQuAD: train the variants, ask, score, and write tables and pictures.

    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER
    python -m recipes.maxout_pointer_qg_squad.main --data FOLDER --variants='[s2s-a-at-mp]'

Run again, it goes on where it was stopped; what is trained and scored is not done again.
"""

import argparse
import os
import sys
from collections.abc import Sequence
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
    from recipes.maxout_pointer_qg_squad import report, run, settings, splits
    from tfmrc import evaluation

    made = settings.load(chosen.config, overrides)
    folder = chosen.run or ROOT / "runs" / made.name
    parts = splits.make(made, chosen.data)
    splits.write_ids(parts, folder / "ids")
    print(", ".join(f"{name} {len(examples):,}" for name, examples in parts.items()), flush=True)
    for context in made.contexts:
        for variant in made.variants:
            print(f"\n{variant}, {context}", flush=True)
            place = folder / f"{variant}-{context}"
            asker = run.train(made, variant, context, parts, place)
            for beams in sorted({1, made.num_beams}):
                run.ask(asker, parts["test"], made, beams, place)
            evaluation.plot_learning_curves(place / "log.csv", place / "learning_curves")
            if asker.model.gated_self_attention is not None:
                report.plot_self_attention(asker, parts["test"][0], place / "self_attention")
            text = report.write(made, folder, parts["test"])
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

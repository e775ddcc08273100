"""`make demo`: train Masque on the shipped corpus, score it, export it, ask the export.

Run again, it goes on where it was stopped; a run that is trained is not trained again.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tfmrc.experiments import command

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo.

    Args:
        arguments: the process's own unless given; what is not listed by `--help` overrides the
            recipe (`--training.steps=500`).

    Returns:
        0, or 1 where a figure misses its target or something fails (the words say what).
    """
    parser = argparse.ArgumentParser(prog="python -m recipes.masque_demo.main", description=__doc__)
    parser.add_argument(
        "--config", type=Path, default=HERE / "config.yaml", help="another recipe on the corpus"
    )
    parser.add_argument("--run", type=Path, help="folder of the run (default: in runs/)")
    parser.add_argument("--to", type=Path, help="the export (default: savedmodels/masque/1)")
    parser.add_argument(
        "--blind", choices=("question", "passages"), help="measure a model that does not see this"
    )
    parser.add_argument("--fresh", action="store_true", help="train anew")
    chosen, overrides = parser.parse_known_args(arguments)
    began = time.monotonic()
    return command.status(lambda: _run(chosen, overrides, began))


def _run(chosen: argparse.Namespace, overrides: Sequence[str], began: float) -> int:
    from tfmrc import experiments as recipes

    recipe = recipes.load(chosen.config, *overrides)
    name = recipe.name if chosen.blind is None else f"{recipe.name}_without_{chosen.blind}"
    run = chosen.run or ROOT / "runs" / name

    def say(what: str) -> None:
        print(f"\n[{time.monotonic() - began:4.0f} s] {what}", flush=True)

    say("Loading TensorFlow and training.")
    from recipes.masque_demo import evaluate, export, train

    train.train(recipe, run, chosen.blind, chosen.fresh)
    say("Answering the held-out questions of the test split.")
    figures = evaluate.evaluate(recipe, run, train.data_of(run, chosen.blind))
    if chosen.blind is not None:
        print(f"Without {chosen.blind}: " + ", ".join(f"{k} {v:.3f}" for k, v in figures.items()))
        return 0
    lines = evaluate.verdict(figures)
    print("\n".join(lines))

    to = chosen.to or ROOT / "savedmodels" / "masque" / "1"
    say(f"Exporting {to}.")
    export.export(recipe, run, to)
    questions = export.write_questions(run / "questions.jsonl", export.held_out_questions())
    say("Asking the export in a fresh process, without tfmrc.")
    program = [sys.executable, str(HERE / "ask.py"), str(to), str(questions), *recipe.styles]
    subprocess.run(program, check=True)
    say(f"Done. The report is in {run / 'evaluation' / 'report.md'}.")
    return int(any(line.endswith("MISSED") for line in lines))


if __name__ == "__main__":
    sys.exit(main())

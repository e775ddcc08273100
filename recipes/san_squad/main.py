"""SAN on SQuAD: train answer modules under one budget, score them, make the tables.

    python -m recipes.san_squad.main train --answer stochastic --seed 1
    python -m recipes.san_squad.main table --seeds 1 2 3      # trains what is missing, scores all
    python -m recipes.san_squad.main table --answers stochastic --seeds 1 2 3 4 5 6 7 8 9 10
    python -m recipes.san_squad.main steps --seed 1           # tested with 1 ... 10 steps
    python -m recipes.san_squad.main export --seed 1

Run again, each goes on where it was stopped.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from recipes.san_squad.settings import ANSWERS, Settings, test_examples

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; 0, or 1 where it cannot be done (the words say why)."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("train", "table", "steps", "export"))
    parser.add_argument("--config", type=Path, default=HERE / "config.yaml")
    parser.add_argument("--data", type=Path, help="the data folder (default: TFMRC_DATA)")
    parser.add_argument("--runs", type=Path, help="folder of the runs (default: runs/NAME)")
    parser.add_argument("--answer", choices=ANSWERS, default="stochastic")
    parser.add_argument("--answers", choices=ANSWERS, nargs="+", default=list(ANSWERS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    chosen = parser.parse_args(arguments)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    try:
        return _run(chosen)
    except (ValueError, OSError) as error:
        print(f"This failed: {error}", file=sys.stderr)
        return 1


def _run(chosen: argparse.Namespace) -> int:
    from recipes.san_squad.table import write_table
    from recipes.san_squad.train import train
    from tfmrc.recipe.sources import data_folder

    settings = Settings.load(chosen.config)
    folder = data_folder(chosen.data)
    runs = chosen.runs or Path("runs", settings.name)
    if chosen.command == "table":
        for seed in chosen.seeds:  # seed by seed, so that a stopped table is a fair one
            for answer in chosen.answers:
                train(settings, answer, seed, folder, runs / f"{answer}-{seed}")
        write_table(settings, folder, runs, chosen.seeds)
        return 0
    run = runs / f"{chosen.answer}-{chosen.seed}"
    train(settings, chosen.answer, chosen.seed, folder, run)
    if chosen.command == "steps":
        _steps(settings, folder, run)
    if chosen.command == "export":
        from tfmrc import Reader

        to = Path("savedmodels", settings.name, str(chosen.seed))
        print(Reader.load(run / "reader").export(to, num_return=4))
    return 0


def _steps(settings: Settings, folder: Path, run: Path) -> None:
    """The paper's Table 6: as many steps at test time as one likes."""
    from tfmrc import Reader, evaluation
    from tfmrc.recipe.folder import write_json

    reader = Reader.load(run / "reader")
    examples = test_examples(settings, folder)
    references = {example.id: list(example.answers["span"]) for example in examples}
    found = {}
    for count in (1, 2, 3, 4, 5, 10):
        answers = reader.predict(examples, num_steps=count)
        texts = {e.id: answer.text for e, answer in zip(examples, answers, strict=True)}
        scores = evaluation.score_squad(texts, references)
        found[count] = {row.name: row.value for row in scores.rows}
        print(f"{count:2} steps: {found[count]}", flush=True)
    write_json(run / "steps.json", found)


if __name__ == "__main__":
    sys.exit(main())

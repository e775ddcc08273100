"""SAN on SQuAD: train answer modules under one budget, score them, make the tables.

    python -m recipes.san_squad.main train --answer stochastic --seed 1
    python -m recipes.san_squad.main table --seeds 1 2 3        # all modules: Table 1, Figures 3-5
    python -m recipes.san_squad.main ensemble --seeds 1 2 3     # Table 2
    python -m recipes.san_squad.main seeds --seeds 1 2 3 4 5 6 7 8 9 10                # Table 3
    python -m recipes.san_squad.main trained_steps --seed 1     # trained with 1 ... 10: Table 4
    python -m recipes.san_squad.main adversarial --file AddSent.json --seed 1          # Table 5
    python -m recipes.san_squad.main steps --seed 1             # tested with 1 ... 10: Table 6
    python -m recipes.san_squad.main tags                       # with `tags: true`: makes them
    python -m recipes.san_squad.main export --seed 1

A command trains what it needs and is not trained yet; run again, it goes on where it was stopped.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from recipes.san_squad.settings import ANSWERS, Settings
from tfmrc.experiments import command

HERE = Path(__file__).parent
COMMANDS = (
    "train", "table", "ensemble", "seeds", "trained_steps", "adversarial", "steps", "tags",
    "export",
)  # fmt: skip
TRAINED_STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
TESTED_STEPS = (1, 2, 3, 4, 5, 10)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; 0, or 1 where it cannot be done (the words say why)."""
    parser = command.parser("recipes.san_squad.main", __doc__, HERE / "config.yaml")
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--answer", choices=ANSWERS, default="stochastic")
    parser.add_argument("--answers", choices=ANSWERS, nargs="+", default=list(ANSWERS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--counts", type=int, nargs="+", help="numbers of steps")
    parser.add_argument("--file", type=Path, help="a file of Adversarial SQuAD")
    chosen = parser.parse_args(arguments)
    return command.status(lambda: _show(_run(chosen)))


def _show(folders: Sequence[Path]) -> None:
    for folder in folders:
        report = folder / "report.md"
        print(report.read_text(encoding="utf-8") if report.is_file() else folder)


def _run(chosen: argparse.Namespace) -> list[Path]:
    """The folders that a command has written."""
    from recipes.san_squad import reports
    from recipes.san_squad.runs import Runs
    from recipes.san_squad.settings import training_examples
    from tfmrc.experiments.sources import data_folder

    settings = Settings.load(chosen.config)
    folder = chosen.runs or Path("runs", settings.name)
    runs = Runs(settings, data_folder(chosen.data), folder)
    asked = chosen.command
    if asked == "tags":
        if runs.tags is None:
            raise ValueError(f"{chosen.config} wants no tags. Received: tags={settings.tags}")
        for part in (*training_examples(settings, runs.data), runs.test):
            runs.tags.add(part)
        return [runs.tags.cache.path]
    if asked == "table":
        for seed in chosen.seeds:  # seed by seed, so that a stopped table is a fair one
            for answer in chosen.answers:
                runs.train(answer, seed)
        written = reports.modules(runs, chosen.seeds)
        several = len(runs.trained(chosen.answer, chosen.seeds)) > 1
        return [*written, *([reports.seeds_of(runs, chosen.answer, chosen.seeds)] * several)]
    if asked == "ensemble":
        return [reports.ensemble(runs, chosen.answer, chosen.seeds)]
    if asked == "seeds":
        for seed in chosen.seeds:
            runs.train(chosen.answer, seed)
        return [reports.seeds_of(runs, chosen.answer, chosen.seeds)]
    if asked == "trained_steps":
        return [reports.trained_steps(runs, chosen.counts or TRAINED_STEPS, chosen.seed)]
    if asked == "adversarial" and chosen.file is None:
        raise ValueError("Which file? Pass --file AddSent.json. Received: file=None")
    run = runs.train(chosen.answer, chosen.seed)
    if asked == "steps":
        return [reports.tested_steps(runs, run, chosen.counts or TESTED_STEPS)]
    if asked == "adversarial":
        return [reports.adversarial(runs, run, chosen.file)]
    if asked == "export":
        to = Path("savedmodels", settings.name, str(chosen.seed))
        return [runs.predictor(run).export(to, num_return_sequences=4)]
    return [run]


if __name__ == "__main__":
    sys.exit(main())

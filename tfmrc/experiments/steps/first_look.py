"""A few steps of a recipe, which tell what the whole training would take on this machine."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.grid import members
from tfmrc.experiments.settings import Experiment, Grid
from tfmrc.experiments.steps.train import count_steps, train

__all__ = ["first_look"]

STEPS, QUESTIONS = 10, 20


def first_look(
    experiment: Experiment,
    data: str | Path | None = None,
    run: str | Path | None = None,
    *,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Trains ten steps of an experiment and estimates the time and the memory of all its steps.

    The model, the data and the batches are those of the experiment, so time and memory are those
    of the whole training. The first of the chosen runs of a grid is tried. Its folder can be
    evaluated, on 20 questions; it is replaced by the next first look.

    Args:
        experiment: `Experiment`. The experiment.
        data: str, path or None. The data folder. Default: the environment variable TFMRC_DATA.
        run: str, path or None. The run's folder, which is left alone: the trial has the same path
            with `_first_look` after it. Default: `runs/NAME`.
        variants: list of str or None. Variants of the grid; None for all. Default: None.
        seeds: list of int or None. Seeds; None for those of the grid. Default: None.

    Returns:
        A dict: number of ``runs`` and their ``steps`` together, ``seconds_per_step``, ``hours`` of
        all runs without validation, ``peak_memory_gib`` of this process and ``folder``.

    Raises:
        ValueError: As `train`.
    """
    own = folders.run_folder(experiment, run)
    runs = members(experiment, own, variants, seeds)
    whole = runs[0].experiment
    short = replace(
        whole,
        name=f"{experiment.name}_first_look",
        grid=Grid(),
        split=replace(whole.split, validation_limit=QUESTIONS),
        evaluation=replace(whole.evaluation, limit=QUESTIONS, targets={}),
    )
    folder = own.with_name(f"{own.name}_first_look")
    train(short, data, folder, fresh=folder.exists(), last_step=STEPS)
    facts = folders.read_json(folder / folders.TRAINING, "train")
    if facts["seconds_per_step"] is None:  # the first step compiles the others
        raise ValueError("A first look needs a second step. Received: a training of one step")
    # Variants may have other numbers of steps.
    steps = sum(count_steps(member.experiment, facts["records"])[0] for member in runs)
    result = {
        "runs": len(runs),
        "steps": steps,
        "seconds_per_step": facts["seconds_per_step"],
        "hours": steps * facts["seconds_per_step"] / 3600,
        "peak_memory_gib": facts["peak_memory_gib"],
        "folder": folder,
    }
    print(_said(result), flush=True)
    return result


def _said(result: dict[str, Any]) -> str:
    per_step, hours, memory = (
        result[name] for name in ("seconds_per_step", "hours", "peak_memory_gib")
    )
    time = f"{60 * hours:.0f} minutes" if hours < 2 else f"{hours:.1f} hours"
    runs = f" of {result['runs']} runs" * (result["runs"] > 1)
    return (
        f"A step takes {per_step:.2g} s here. All {result['steps']:,} steps{runs} would take about "
        f"{time}, and the validation. The process held up to {memory:.1f} GiB.\n"
        f"Scores of a model that has learned nothing: tfmrc evaluate {result['folder']}"
    )

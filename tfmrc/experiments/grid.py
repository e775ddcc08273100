"""The runs of an experiment: one, or every variant of its grid with every seed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfmrc.experiments import loading, run_folder as folders
from tfmrc.experiments.settings import Experiment, Grid
from tfmrc.utils.arguments import suggestion


@dataclass(frozen=True)
class Member:
    """One run of an experiment.

    Attributes:
        experiment: `Experiment`. The settings, without a grid.
        folder: Path. The folder.
        variant: str. Name of the variant; "" without variants.
        seed: int. The seed.
    """

    experiment: Experiment
    folder: Path
    variant: str
    seed: int

    @property
    def is_trained(self) -> bool:
        """True if the run is trained and its predictor is there."""
        return _is_trained(self.folder)


def _is_trained(folder: Path) -> bool:
    return all((folder / name).exists() for name in (folders.TRAINING, folders.PREDICTOR))


def is_grid(experiment: Experiment) -> bool:
    """Returns True if an experiment has several runs."""
    return bool(experiment.grid.variants or experiment.grid.seeds)


def members(
    experiment: Experiment,
    folder: Path,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Member]:
    """Returns the runs of an experiment, ordered by seed, then by variant.

    All variants of a seed come before the next seed, so that an interrupted table is balanced. A
    variant or seed that is named twice is one run, which counts once in means and deviations.

    Args:
        experiment: `Experiment`. The experiment.
        folder: Path. Its folder; the runs of a grid are in `VARIANT-SEED`.
        variants: list of str or None. Names of variants; None for all. Default: None.
        seeds: list of int or None. Seeds; None for those of the grid. Default: None.

    Raises:
        ValueError: If there is no such variant.

    Example:

    >>> values = {"name": "x", "sources": [], "model": {"name": "SAN"}}
    >>> grid = {"variants": {"a": {}, "b": {"model.num_steps": 1}}, "seeds": [1, 2]}
    >>> experiment = loading.from_mapping({**values, "grid": grid})
    >>> [member.folder.name for member in members(experiment, Path("runs/x"))]
    ['a-1', 'b-1', 'a-2', 'b-2']
    """
    known = experiment.grid.variants
    for name in variants or ():
        if name not in known:
            raise ValueError(
                f"The variants are {', '.join(known) or 'none'}"
                + suggestion(name, known)
                + f" Received: {name}"
            )
    if not is_grid(experiment) and not seeds:
        return [Member(experiment, folder, "", experiment.seed)]
    run_seeds = tuple(seeds or experiment.grid.seeds or (experiment.seed,))
    alone = replace(experiment, grid=Grid())
    runs = []
    for seed in dict.fromkeys(run_seeds):
        for variant in dict.fromkeys(variants or known or ("",)):
            changes = {**known.get(variant, {}), "seed": seed}
            settings = loading.changed(alone, changes)
            name = f"{variant}-{seed}" if variant else f"seed-{seed}"
            runs.append(Member(settings, folder / name, variant, seed))
    return runs


def single_run(experiment: Experiment, folder: Path) -> Member:
    """Returns the only run of a folder.

    Raises:
        ValueError: If the folder has the runs of a grid or of several seeds, so that one must be
            named.
    """
    run = Member(experiment, folder, "", experiment.seed)
    names = trained_below(folder)
    if is_grid(experiment) or (names and not run.is_trained):
        raise ValueError(
            f"{folder} holds the runs of a grid; name one of them"
            + (f": {', '.join(map(str, names))}." if names else ", none of which is trained.")
        )
    return run


def trained_below(folder: Path) -> list[Path]:
    """Returns the folders of the trained runs in the folder of a grid, or of several seeds."""
    files = sorted(folder.glob(f"*/{folders.MARKER}"))
    return [file.parent for file in files if _is_trained(file.parent)]


def base_of(experiment: Experiment) -> Experiment:
    """Returns the experiment without its grid, as it is prepared."""
    return replace(experiment, grid=Grid())

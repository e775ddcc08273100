"""The runs of an experiment: one, or every variant of its grid with every seed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tfmrc.arguments import nearest
from tfmrc.experiments import loading
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.settings import Experiment, Grid


@dataclass(frozen=True)
class Member:
    """One run of an experiment.

    Attributes:
        experiment: Its settings, without a grid.
        folder: Its folder.
        variant: Name of the variant; "" without variants.
        seed: The seed.
    """

    experiment: Experiment
    folder: Path
    variant: str
    seed: int

    @property
    def is_trained(self) -> bool:
        """Whether the run is trained."""
        return (self.folder / folders.TRAINING).is_file()


def is_grid(experiment: Experiment) -> bool:
    """Whether an experiment has several runs."""
    return bool(experiment.grid.variants or experiment.grid.seeds)


def members(
    experiment: Experiment,
    folder: Path,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
) -> list[Member]:
    """The runs of an experiment, seed by seed, so that a table that was stopped is a fair one.

    Args:
        experiment: The experiment.
        folder: Its folder; the runs of a grid are in `VARIANT-SEED`.
        variants: Names of variants; None for all.
        seeds: Seeds; None for those of the grid.

    Raises:
        ValueError: There is no such variant, or the experiment has no grid to choose from.

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
            similar = nearest(name, known)
            raise ValueError(
                f"The variants are {', '.join(known) or 'none'}"
                + (f"; did you mean {similar}?" if similar else ".")
                + f" Received: {name}"
            )
    if not is_grid(experiment) and not seeds:
        return [Member(experiment, folder, "", experiment.seed)]
    chosen_seeds = tuple(seeds or experiment.grid.seeds or (experiment.seed,))
    alone = replace(experiment, grid=Grid())
    found = []
    for seed in chosen_seeds:
        for variant in variants or known or ("",):
            changes = {**known.get(variant, {}), "seed": seed}
            settings = loading.changed(alone, changes)
            name = f"{variant}-{seed}" if variant else f"seed-{seed}"
            found.append(Member(settings, folder / name, variant, seed))
    return found


def single_run(experiment: Experiment, folder: Path) -> Member:
    """The one run of a folder.

    Raises:
        ValueError: The folder holds a grid, of which one run must be named.
    """
    if is_grid(experiment):
        names = [member.folder for member in members(experiment, folder) if member.is_trained]
        raise ValueError(
            f"{folder} holds the runs of a grid; name one of them"
            + (f": {', '.join(map(str, names))}." if names else ", none of which is trained.")
        )
    return Member(experiment, folder, "", experiment.seed)


def base_of(experiment: Experiment) -> Experiment:
    """The experiment as it is prepared: without a grid."""
    return replace(experiment, grid=Grid())

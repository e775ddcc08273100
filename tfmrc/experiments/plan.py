"""A run with its names resolved: its settings, classes, files and folders."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.classes import Classes, check_experiment
from tfmrc.experiments.examples.files import data_folder, input_files
from tfmrc.experiments.settings import Experiment, Grid, changed
from tfmrc.utils.arguments import suggestion
from tfmrc.utils.files import read_json, user_path


@dataclass(frozen=True)
class Plan:
    """One run of an experiment, or what all runs of a grid share.

    Attributes:
        experiment: `Experiment`. The settings.
        folder: Path. The run's folder.
        variant: str. Name of the grid's variant; "" without variants. Default: "".
        data: Path. The data folder. Default: the current folder.
    """

    experiment: Experiment
    folder: Path
    variant: str = ""
    data: Path = Path()

    @cached_property
    def classes(self) -> Classes:
        """The classes of the model's paper; the names in the settings are checked."""
        return check_experiment(self.experiment)

    @cached_property
    def files(self) -> list[Path]:
        """The files that the run is trained on; all of them exist."""
        return input_files(self.experiment, self.data)

    @cached_property
    def start(self) -> Path | None:
        """The folder of the predictor that training starts from; None without one."""
        name = self.experiment.start_from
        return None if name is None else folders.trained_folder(name)

    @property
    def encoder(self) -> dict[str, Any]:
        """The options of the pretrained encoder; that of a trained run is loaded."""
        import tfmrc
        from tfmrc.models.folder import CONFIG

        if not self.experiment.encoder:
            return {}
        options = {"dtype": self.experiment.training.dtype, **self.experiment.encoder}
        folder = folders.trained_folder(options["preset"])
        # A folder of KerasHub has files of the same names.
        if folder is not None and "format" in read_json(folder / CONFIG):
            options["preset"] = tfmrc.load(folder)
        return options

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.experiment.seed

    @property
    def keeps(self) -> bool:
        """True if examples are kept after the first pass over a file."""
        return not self.experiment.training.stream

    @property
    def is_trained(self) -> bool:
        """True if the run is trained and its predictor is there."""
        return _is_trained(self.folder)

    def check(self) -> None:
        """Checks all names and files before any data is read.

        Raises:
            ValueError: If a name or a file does not exist, or settings contradict each other.
        """
        from tfmrc.encoders.presets import check_preset

        check_experiment(self.experiment)
        input_files(self.experiment, self.data)
        preset = self.experiment.encoder.get("preset")
        if preset and folders.trained_folder(preset) is None:
            check_preset(str(preset))


def plan_of(experiment: Experiment, run: str | Path | None, data: str | Path | None) -> Plan:
    """Returns the checked plan of an experiment.

    Args:
        experiment: `Experiment`. The settings.
        run: str, path or None. The run's folder; None for `runs/NAME`.
        data: str, path or None. The data folder; None for that of the variable TFMRC_DATA.

    Raises:
        ValueError: If a name or a file does not exist, or settings contradict each other.
    """
    folder = Path("runs", experiment.name) if run is None else user_path(run)
    plan = Plan(experiment, folder, data=data_folder(data, experiment))
    plan.check()
    return plan


def _is_trained(folder: Path) -> bool:
    return all((folder / name).exists() for name in (folders.TRAINING, folders.PREDICTOR))


# === The runs of an experiment ===


def is_grid(experiment: Experiment) -> bool:
    """Returns True if an experiment has several runs."""
    return bool(experiment.grid.variants or experiment.grid.seeds)


def members(
    experiment: Experiment,
    folder: Path,
    variants: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    data: Path = Path(),
) -> list[Plan]:
    """Returns the runs of an experiment, ordered by seed, then by variant.

    All variants of a seed come before the next seed, so that an interrupted table is balanced. A
    variant or seed that is named twice is one run, which counts once in means and deviations.

    Args:
        experiment: `Experiment`. The experiment.
        folder: Path. Its folder; the runs of a grid are in `VARIANT-SEED`.
        variants: list of str or None. Names of variants; None for all. Default: None.
        seeds: list of int or None. Seeds; None for those of the grid. Default: None.
        data: Path. The data folder. Default: the current folder.

    Raises:
        ValueError: If there is no such variant.

    Example:

    >>> values = {"name": "x", "sources": [], "model": {"name": "SAN"}}
    >>> grid = {"variants": {"a": {}, "b": {"model.num_steps": 1}}, "seeds": [1, 2]}
    >>> from tfmrc.experiments import from_mapping
    >>> experiment = from_mapping({**values, "grid": grid})
    >>> [plan.folder.name for plan in members(experiment, Path("runs/x"))]
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
        return [Plan(experiment, folder, data=data)]
    base, runs = replace(experiment, grid=Grid()), []
    for seed in dict.fromkeys(seeds or experiment.grid.seeds or (experiment.seed,)):
        for variant in dict.fromkeys(variants or known or ("",)):
            settings = changed(base, {**known.get(variant, {}), "seed": seed})
            name = f"{variant}-{seed}" if variant else f"seed-{seed}"
            runs.append(Plan(settings, folder / name, variant, data))
    return runs


def single_run(experiment: Experiment, folder: Path) -> Plan:
    """Returns the only run of a folder.

    Raises:
        ValueError: If the folder has the runs of a grid or of several seeds, so that one must be
            named.
    """
    run = Plan(experiment, folder)
    names = trained_below(folder)
    if is_grid(experiment) or (names and not run.is_trained):
        raise ValueError(
            f"{folder} holds the runs of a grid; name one of them"
            + (f": {', '.join(map(str, names))}." if names else ", none of which is trained.")
        )
    return run


def trained_below(folder: Path) -> list[Path]:
    """Returns the folders of the trained runs in the folder of a grid, or of several seeds."""
    below = sorted(file.parent for file in folder.glob(f"*/{folders.MARKER}"))
    return [path for path in below if _is_trained(path) and not folders.is_old(path)]

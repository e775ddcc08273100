"""Variants and seeds of a grid."""

from dataclasses import replace
from pathlib import Path

import pytest

from tfmrc.experiments.plan import is_grid, members
from tfmrc.experiments.settings import Grid, changed, from_mapping

VALUES = {
    "name": "x",
    "sources": [{"format": "squad"}],
    "model": {"name": "SAN", "units": 3},
    "grid": {
        "variants": {"plain": {}, "other": {"model": {"name": "Masque"}, "training.steps": 4}},
        "seeds": [5, 6],
    },
}


def test_members_are_ordered_by_seed_and_have_their_settings():
    experiment = from_mapping(VALUES)
    found = members(experiment, Path("runs/x"))
    assert [m.folder for m in found] == [
        Path("runs/x", name) for name in ("plain-5", "other-5", "plain-6", "other-6")
    ]
    assert [m.experiment.seed for m in found] == [5, 5, 6, 6]
    assert found[0].experiment.model == {"name": "SAN", "units": 3}
    assert found[1].experiment.model == {"name": "Masque"}
    assert found[1].experiment.training.steps == 4
    assert not is_grid(found[1].experiment) and is_grid(experiment)
    assert not found[0].is_trained


def test_a_part_of_a_grid_and_no_grid():
    experiment = from_mapping(VALUES)
    [one] = members(experiment, Path("r"), ["other"], [9])
    assert (one.variant, one.seed, one.folder) == ("other", 9, Path("r/other-9"))
    with pytest.raises(ValueError, match="did you mean plain"):
        members(experiment, Path("r"), ["plane"])
    alone = replace(experiment, grid=Grid())
    [only] = members(alone, Path("r"))
    assert (only.folder, only.seed, only.variant) == (Path("r"), 1, "")
    seeds = changed(alone, {"grid.seeds": [1, 2]})
    assert [m.folder.name for m in members(seeds, Path("r"))] == ["seed-1", "seed-2"]

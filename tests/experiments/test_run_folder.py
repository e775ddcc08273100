from dataclasses import replace
from pathlib import Path

import pytest

from tfmrc.experiments import configuration as settings
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.configuration import Evaluation, Recipe, Source, Training

RECIPE = Recipe("x", (Source("squad", ("span",), train="a.json"),), training=Training(steps=10))


def test_new_run_holds_its_recipe(tmp_path: Path) -> None:
    folder = places.open_run(RECIPE, tmp_path / "run")
    assert settings.load(folder / "config.yaml") == RECIPE


def test_default_folder_is_named_after_the_recipe() -> None:
    assert places.run_folder(RECIPE, None) == Path("runs/x")


def test_same_recipe_goes_on_and_may_change_time_and_report(tmp_path: Path) -> None:
    folder = places.open_run(RECIPE, tmp_path / "run")
    (folder / "log.csv").write_text("kept")
    longer = replace(
        RECIPE,
        title="other words",
        sources=(replace(RECIPE.sources[0], paper={"Masque": {"rouge_l": 1.0}}),),
        training=Training(steps=10, max_minutes=5.0),
        evaluation=Evaluation(limit=3),
    )
    places.open_run(longer, folder)
    assert (folder / "log.csv").read_text() == "kept"
    assert settings.load(folder / "config.yaml") == longer


def test_other_settings_are_named_and_fresh_drops_the_run(tmp_path: Path) -> None:
    folder = places.open_run(RECIPE, tmp_path / "run")
    (folder / "log.csv").write_text("old")
    other = replace(RECIPE, training=Training(steps=20), model={"hidden_dim": 8})
    with pytest.raises(ValueError, match="other settings") as raised:
        places.open_run(other, folder)
    assert "training.steps: 10 there, 20 here" in str(raised.value)
    places.open_run(other, folder, fresh=True)
    assert not (folder / "log.csv").exists()


def test_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="not a run"):
        places.open_run(RECIPE, tmp_path, fresh=True)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_json_is_replaced_whole_and_a_missing_one_says_what_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "facts.json"
    with pytest.raises(ValueError, match="`tfmrc train` makes it"):
        places.read_json(path, "train")
    places.write_json(path, {"a": 1})
    places.write_json(path, {"a": "ü"})
    assert places.read_json(path, "train") == {"a": "ü"}
    assert [file.name for file in path.parent.iterdir()] == ["facts.json"]

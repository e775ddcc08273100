from pathlib import Path

import pytest

from tfmrc.experiments import configuration as settings

TEXT = """
name: small
sources:
- {format: squad, styles: [span], train: a.json, options: {num_passages: 2}}
- {format: dream, styles: [free]}
- {format: squad, styles: [span]}
model: {hidden_dim: 8, dropout: 0.1}
training: {steps: 3}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_load_fills_defaults_and_reads_nested_values(file: Path) -> None:
    recipe = settings.load(file)
    assert recipe.name == "small"
    assert recipe.styles == ("span", "free")
    assert recipe.sources[0] == settings.Source(
        "squad", ("span",), train="a.json", options={"num_passages": 2}
    )
    assert recipe.training == settings.Training(steps=3)
    assert recipe.evaluation == settings.Evaluation()


def test_overrides_reach_settings_and_free_arguments(file: Path) -> None:
    recipe = settings.load(
        file, "--training.steps=9", "--model.hidden_dim=64", "--training.patience=null"
    )
    assert recipe.training.steps == 9
    assert recipe.training.patience is None
    assert recipe.model == {"hidden_dim": 64, "dropout": 0.1}


def test_saved_recipe_is_the_same_recipe(file: Path, tmp_path: Path) -> None:
    recipe = settings.load(file, "--title", "with: a colon, ünïcode")
    settings.save(recipe, tmp_path / "again.yaml")
    assert settings.load(tmp_path / "again.yaml") == recipe


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("--training.step=9", "training.step"),
        ("--training.steps=many", "Got value: many"),
        ("--training.dtype=float8", "float8"),
        ("--training={steps: 3, stops: 4}", "stops"),
    ],
)
def test_wrong_settings_are_named(file: Path, override: str, said: str) -> None:
    with pytest.raises(ValueError, match="cannot be read") as raised:
        settings.load(file, override)
    assert said in str(raised.value)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none.yaml"):
        settings.load(tmp_path / "none.yaml")


def test_shipped_recipes_load() -> None:
    root = Path(__file__).parent.parent.parent
    files = sorted((root / "recipes").glob("masque_[mns]*/*.yaml"))
    assert len(files) >= 3
    for path in files:
        recipe = settings.load(path)
        assert recipe.styles
        assert recipe.training.warmup_steps < recipe.training.steps

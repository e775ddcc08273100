"""Settings from YAML: defaults, overrides, extension, and errors with the nearest name."""

from pathlib import Path

import keras
import pytest
import tensorflow as tf
import yaml

from tfmrc.experiments import loading
from tfmrc.experiments.building import check_experiment
from tfmrc.experiments.settings import Evaluation, Experiment, Source, Training
from tfmrc.experiments.steps import train
from tfmrc.experiments.steps.train import count_steps
from tfmrc.utils.run_imports import import_modules

TEXT = """
name: small
sources:
- {format: squad, styles: [span], train: a.json, options: {num_passages: 2}}
- {format: dream, styles: [free]}
- {format: squad, styles: [span]}
model: {name: Masque, hidden_dim: 8, dropout: 0.1}
training: {steps: 3, optimizer: {learning_rate: 1e-3}}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_load_fills_defaults_and_reads_nested_values(file: Path) -> None:
    experiment = loading.load(file)
    assert experiment.name == "small"
    assert experiment.styles == ("span", "free")
    assert experiment.sources[0] == Source(
        "squad", ("span",), train="a.json", options={"num_passages": 2}
    )
    assert experiment.training == Training(steps=3, optimizer={"learning_rate": 0.001})
    assert experiment.evaluation == Evaluation()


def test_a_text_that_looks_like_a_number_stays_one(file: Path) -> None:
    """The settings of a run are written and read again by every command."""
    experiment = loading.load(file, "title='1e-3'", "model.style='12e4'", "model.rate=1e-3")
    loading.save(experiment, file)
    assert loading.load(file) == experiment
    assert experiment.model["style"] == "12e4" and experiment.model["rate"] == 0.001


@pytest.mark.parametrize("more", ["training: {epochs: 2}", "split: {seed: 1, seed: 2}"])
def test_a_setting_that_is_given_twice_is_an_error(file: Path, more: str) -> None:
    file.write_text(f"{TEXT}{more}\n", encoding="utf-8")
    name = "training" if "epochs" in more else "seed"
    with pytest.raises(ValueError, match=f"config.yaml: Not YAML: `{name}` is given twice"):
        loading.load(file)


def test_overrides_reach_settings_and_free_arguments(file: Path) -> None:
    experiment = loading.load(
        file,
        "training.steps=9",
        "model.hidden_dim=64",
        "training.patience=null",
        "sources.1.train=b.json",
        "training.max_minutes=2",
        "grid.seeds=[1, 2]",
    )
    assert experiment.training.steps == 9
    assert experiment.training.patience is None
    assert experiment.training.max_minutes == 2.0
    assert experiment.model == {"name": "Masque", "hidden_dim": 64, "dropout": 0.1}
    assert experiment.sources[1].train == "b.json"
    assert experiment.grid.seeds == (1, 2)


def test_saved_experiment_is_the_same_experiment(file: Path, tmp_path: Path) -> None:
    experiment = loading.load(file, "title='with: a colon, ünïcode'")
    loading.save(experiment, tmp_path / "again.yaml")
    assert loading.load(tmp_path / "again.yaml") == experiment


def test_a_file_extends_another_and_leaves_out_variants(file: Path) -> None:
    variants = "{a: {seed: 1}, b: {model: {name: SAN}}}"
    file.write_text(TEXT + f"grid: {{variants: {variants}, seeds: [1, 2]}}\n", encoding="utf-8")
    child = file.with_name("child.yaml")
    child.write_text(
        "extends: config.yaml\nname: child\ntraining: {steps: 6}\n"
        "model: {dropout: 0.5}\nsources: [{format: dream}]\ngrid: {variants: {a: null}}\n"
    )
    experiment = loading.load(child)
    assert (experiment.name, experiment.training.steps) == ("child", 6)
    assert experiment.training.optimizer == {"learning_rate": 0.001}
    assert experiment.model == {"name": "Masque", "hidden_dim": 8, "dropout": 0.5}
    assert experiment.sources == (Source("dream"),)
    assert list(experiment.grid.variants) == ["b"] and experiment.grid.seeds == (1, 2)
    child.write_text("extends: child.yaml\nname: x\n")
    with pytest.raises(ValueError, match="extends itself"):
        loading.load(child)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("training.step=9", "did you mean `training.steps`? Received: training.step=9"),
        ("trainin.steps=9", "did you mean `training`?"),
        ("sources.0.formt=squad", "did you mean `sources.0.format`?"),
        ("sources.7.format=squad", "There are 3 entries"),
        ("training.steps=many", "`training.steps` is an integer. Received: training.steps='many'"),
        ("training.steps=true", "is an integer"),
        ("training.stream=1", "is true or false"),
        ("training.dtype=float8", "did you mean float32?"),
        ("training={steps: 3, stops: 4}", "did you mean `training.steps`?"),
        ("grid.seeds=3", "`grid.seeds` is a list"),
        ("name.first=x", "name holds no settings"),
        ("evaluation=3", "evaluation holds settings by name"),
        ("steps", "NAME=VALUE"),
        ("grid.variants={a: {training.stepz: 1}}", "grid.variants.a: There is no setting"),
    ],
)
def test_wrong_settings_are_named(file: Path, override: str, said: str) -> None:
    with pytest.raises(ValueError) as raised:
        loading.load(file, override)
    assert said in str(raised.value) and str(file) in str(raised.value)


@pytest.mark.parametrize(
    ("text", "said"), [("[1", "Not YAML"), ("3", "Expected settings"), ("name: x", "is missing")]
)
def test_wrong_files_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match="a.yaml") as raised:
        loading.load(path)
    assert said in str(raised.value)
    with pytest.raises(ValueError, match="none.yaml"):
        loading.load(tmp_path / "none.yaml")


def test_a_changed_mapping_is_replaced_whole(file: Path) -> None:
    experiment = loading.changed(
        loading.load(file), {"model": {"name": "SAN"}, "training.steps": 5, "seed": 7}
    )
    assert experiment.model == {"name": "SAN"}
    assert (experiment.training.steps, experiment.seed) == (5, 7)
    assert experiment.training.optimizer == {"learning_rate": 0.001}


def test_flat_names_and_help_describe_every_setting(file: Path) -> None:
    names = loading.flat(loading.load(file))
    assert names["sources.0.options.num_passages"] == 2
    assert names["training.batch_size"] == Training().batch_size
    described = loading.describe()
    for name in ("sources.N.format", "training.eval_every_steps", "vocabulary.size", "grid.seeds"):
        assert f"  {name}\n" in described
    assert "examples per step. (default: 32)" in described
    assert isinstance(loading.load(file), Experiment)


@pytest.mark.parametrize(("steps", "near"), [(20, 24), (5, 12), (31, 36)])
def test_steps_that_no_evaluation_ends_name_those_that_one_ends(
    file: Path, steps: int, near: int
) -> None:
    experiment = loading.load(file, f"training.steps={steps}", "training.batch_size=4")
    words = f"steps={near}, or eval_every_steps={steps}. Received: .* a pass of 12 steps"
    with pytest.raises(ValueError, match=words):
        count_steps(experiment, 50)
    experiment = loading.load(file, "training.steps=24", "training.batch_size=4")
    assert count_steps(experiment, 50) == (24, 12)


def test_a_module_that_cannot_be_imported_is_named_with_the_places(file: Path) -> None:
    experiment = loading.load(file, "imports=[no_such_module]")
    with pytest.raises(ValueError, match="looked for in .*, on PYTHONPATH.*'no_such_module'"):
        import_modules(experiment.imports)


@pytest.mark.parametrize("name", ["steps", "epochs", "eval_every_steps", "best_of"])
@pytest.mark.parametrize("number", [0, -3])
def test_numbers_of_the_training_are_positive(file: Path, name: str, number: int) -> None:
    settings = {
        "name": "small",
        "sources": [{"format": "small_squad", "train": "train"}],
        "model": {"name": "SAN"},
        "training": {name: number},
    }
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"at least 1. Received: training.{name}={number}"):
        check_experiment(loading.load(file))


@pytest.mark.parametrize("setting", ["seed=-1", "seed=4294967296", "grid.seeds=[1, -1]"])
def test_seeds_are_those_that_keras_takes(file: Path, setting: str) -> None:
    settings = {
        "name": "small",
        "sources": [{"format": "small_squad", "train": "train"}],
        "model": {"name": "SAN"},
    }
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    experiment = loading.load(file, setting)
    with pytest.raises(ValueError, match=r"from 0 to 2\*\*32 - 1. Received: seed=(-1|4294967296)"):
        check_experiment(experiment)


def test_gpus_that_tensorflow_sees_are_not_those_of_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras.backend, "backend", lambda: "jax")
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [kind, kind])
    assert train._strategy(8) is None


def test_a_setting_of_a_variant_is_changed_beside_its_others(file: Path) -> None:
    file.write_text(
        f"{TEXT}grid: {{variants: {{a: {{model.hidden_dim: 16, training.steps: 9}}, b: null}}}}\n"
    )
    experiment = loading.load(
        file,
        "grid.variants.a.model.hidden_dim=32",
        "grid.variants.a.sources.0.test=b.json",
        "grid.variants.b.model.dropout=0.2",
    )
    assert experiment.grid.variants == {
        "a": {"model.hidden_dim": 32, "training.steps": 9, "sources.0.test": "b.json"},
        "b": {"model.dropout": 0.2},
    }
    assert loading.changed(experiment, experiment.grid.variants["a"]).model["name"] == "Masque"


def test_a_variant_names_a_folder(file: Path) -> None:
    file.write_text(f"{TEXT}grid: {{variants: {{a/b: {{training.steps: 9}}}}}}\n")
    with pytest.raises(ValueError, match="it has no `/`. Received: grid.variants.a/b"):
        loading.load(file)

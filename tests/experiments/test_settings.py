"""Settings from YAML: defaults, overrides, extension, and errors with the nearest name."""

import dataclasses
import typing

import pytest

from tfmrc.experiments.settings import (
    Evaluation,
    Source,
    Training,
    changed,
    experiment as fields,
    read_settings,
    write_settings,
)
from tfmrc.experiments.steps.train import count_steps

TEXT = """
name: small
sources:
- {format: squad_passages, styles: [span], train: a.json, options: {num_passages: 2}}
- {format: dream, styles: [free]}
- {format: squad, styles: [span]}
model: {name: Masque, hidden_dim: 8, dropout: 0.1}
training: {steps: 3, optimizer: {learning_rate: 1e-3}}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_load_fills_defaults_and_reads_nested_values(file):
    experiment = read_settings(file)
    assert experiment.name == "small"
    assert experiment.styles == ("span", "free")
    assert experiment.sources[0] == Source(
        "squad_passages", ("span",), train="a.json", options={"num_passages": 2}
    )
    assert experiment.training == Training(steps=3, optimizer={"learning_rate": 0.001})
    assert experiment.evaluation == Evaluation()


def test_the_home_folder_is_found_in_settings(file, monkeypatch):
    monkeypatch.setenv("HOME", str(file.parent))
    experiment = read_settings("~/config.yaml", "start_from=~/runs/x", "encoder.preset=~")
    assert experiment.start_from == f"{file.parent}/runs/x"
    assert experiment.encoder == {"preset": None}


def test_a_text_that_looks_like_a_number_stays_one(file):
    """The settings of a run are written and read again by every command."""
    experiment = read_settings(file, "title='1e-3'", "model.style='12e4'", "model.rate=1e-3")
    write_settings(experiment, file)
    assert read_settings(file) == experiment
    assert experiment.model["style"] == "12e4" and experiment.model["rate"] == 0.001


@pytest.mark.parametrize("more", ["training: {epochs: 2}", "split: {seed: 1, seed: 2}"])
def test_a_setting_that_is_given_twice_is_an_error(file, more):
    file.write_text(f"{TEXT}{more}\n", encoding="utf-8")
    name = "training" if "epochs" in more else "seed"
    with pytest.raises(ValueError, match=f"config.yaml: Not YAML: `{name}` is given twice"):
        read_settings(file)


def test_overrides_reach_settings_and_free_arguments(file):
    experiment = read_settings(
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


def test_a_file_extends_another_and_leaves_out_variants(file):
    variants = "{a: {seed: 1}, b: {model: {name: SAN}}}"
    file.write_text(TEXT + f"grid: {{variants: {variants}, seeds: [1, 2]}}\n", encoding="utf-8")
    child = file.with_name("child.yaml")
    child.write_text(
        "extends: config.yaml\nname: child\ntraining: {steps: 6}\n"
        "model: {dropout: 0.5}\nsources: [{format: dream}]\ngrid: {variants: {a: null}}\n"
    )
    experiment = read_settings(child)
    assert (experiment.name, experiment.training.steps) == ("child", 6)
    assert experiment.training.optimizer == {"learning_rate": 0.001}
    assert experiment.model == {"name": "Masque", "hidden_dim": 8, "dropout": 0.5}
    assert experiment.sources == (Source("dream"),)
    assert list(experiment.grid.variants) == ["b"] and experiment.grid.seeds == (1, 2)


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("training.step=9", "did you mean `training.steps`? Received: training.step=9"),
        ("sources.7.format=squad", "index of an entry in a list, from 0"),
        ("training={steps: 3, stops: 4}", "did you mean `training.steps`?"),
        ("steps", "NAME=VALUE"),
        ("grid.variants={a: {training.stepz: 1}}", "grid.variants.a: There is no setting"),
        ("training.steps=0", "greater than or equal to 1. Received: training.steps=0"),
        ("grid.seeds=[1, 4294967296]", "less than 4294967296"),
        ("vocabulary.all_vector_words=true", "`all_vector_words` needs `vectors`"),
        ("imports=[no_such_module]", "searched: "),
    ],
)
def test_wrong_settings_are_named(file, override, said):
    with pytest.raises(ValueError) as raised:
        read_settings(file, override)
    assert said in str(raised.value) and str(file) in str(raised.value)


def test_a_changed_mapping_is_replaced_whole(file):
    experiment = changed(
        read_settings(file), {"model": {"name": "SAN"}, "training.steps": 5, "seed": 7}
    )
    assert experiment.model == {"name": "SAN"}
    assert (experiment.training.steps, experiment.seed) == (5, 7)
    assert experiment.training.optimizer == {"learning_rate": 0.001}


@pytest.mark.parametrize(("steps", "near"), [(20, 24), (5, 12), (31, 36)])
def test_steps_that_no_evaluation_ends_name_those_that_one_ends(file, steps, near):
    experiment = read_settings(file, f"training.steps={steps}", "training.batch_size=4")
    words = f"steps={near}, or eval_every_steps={steps}. Received: .* a pass of 12 steps"
    with pytest.raises(ValueError, match=words):
        count_steps(experiment, 50)
    experiment = read_settings(file, "training.steps=24", "training.batch_size=4")
    assert count_steps(experiment, 50) == (24, 12)


def test_a_setting_of_a_variant_is_changed_beside_its_others(file):
    file.write_text(
        f"{TEXT}grid: {{variants: {{a: {{model.hidden_dim: 16, training.steps: 9}}, b: null}}}}\n"
    )
    experiment = read_settings(
        file,
        "grid.variants.a.model.hidden_dim=32",
        "grid.variants.a.sources.0.test=b.json",
        "grid.variants.b.model.dropout=0.2",
    )
    assert experiment.grid.variants == {
        "a": {"model.hidden_dim": 32, "training.steps": 9, "sources.0.test": "b.json"},
        "b": {"model.dropout": 0.2},
    }
    assert changed(experiment, experiment.grid.variants["a"]).model["name"] == "Masque"


KINDS = [kind for kind in vars(fields).values() if dataclasses.is_dataclass(kind)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_setting_says_what_it_affects(kind):
    hints = typing.get_type_hints(kind, include_extras=True)
    for name, hint in hints.items():
        if fields.dataclass_of(kind, name) is None:
            labels = {*getattr(hint, "__metadata__", ())} & {*typing.get_args(fields.Affects)}
            assert len(labels) == 1, name


@pytest.mark.parametrize(
    ("setting", "kind"),
    [
        ("sources.0.train=b.json", "data"),
        ("sources.0.options.num_passages=3", "data"),
        ("split.seed=9", "data"),
        ("vocabulary.size=5", "data"),
        ("sources.1.sequence=answer", "weights"),
        ("model.hidden_dim=16", "weights"),
        ("training.steps=6", "weights"),
        ("sources.0.test=b.json", "report"),
        ("sources.0.paper={Masque: {f1: 1.0}}", "report"),
        ("training.max_minutes=5", "report"),
        ("evaluation.limit=3", "report"),
        ("grid.seeds=[1, 2]", "report"),
    ],
)
def test_a_changed_setting_differs_in_what_it_affects(file, setting, kind):
    before, after = read_settings(file), read_settings(file, setting)
    differ = [kind for kind in ("data", "weights", "report") if before.differences(after, kind)]
    assert differ == [kind]


@pytest.mark.parametrize("split", ["split.by=sentence", "split.ids=lists"])
def test_a_test_file_that_is_validated_on_belongs_to_the_data(file, split):
    before, after = read_settings(file, split), read_settings(file, split, "sources.0.test=b.json")
    assert before.differences(after, "data") == {"sources.0.test": (None, "b.json")}


@pytest.mark.parametrize(("multiplies", "dtype"), [(True, "mixed_bfloat16"), (False, "float32")])
def test_the_automatic_precision_is_that_of_the_machine(file, monkeypatch, multiplies, dtype):
    monkeypatch.setattr("tfmrc.ops.portable.multiplies_bfloat16", lambda: multiplies)
    experiment = read_settings(file, "training.dtype=auto")
    assert experiment.training.dtype == dtype

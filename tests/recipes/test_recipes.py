"""Every YAML file that is shipped makes its models, and every command of the tables parses."""

import argparse
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from recipes.dataset_sizes import main as dataset_sizes, to_squad
from recipes.masque_ensemble import main as masque_ensemble
from recipes.reproduction.main import read_tables
from recipes.round_trip import main as round_trip
from tfmrc import cli, encoders, text
from tfmrc.experiments import find_recipe, read_settings
from tfmrc.experiments.building import model as building
from tfmrc.experiments.classes import find_model_class
from tfmrc.experiments.plan import Plan, members
from tfmrc.experiments.settings import Experiment, Source

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
FILES = [
    path
    for path in sorted(RECIPES.glob("*/*.yaml"))
    if path.parent.name not in ("reproduction", "round_trip")  # which have their own
]
SIZES = {
    "word_dim": 4,
    "hidden_dim": 4,
    "num_heads": 2,
    "intermediate_dim": 4,
    "num_shared_blocks": 1,
    "num_question_blocks": 1,
    "num_passage_blocks": 1,
    "num_decoder_blocks": 1,
    "units": 2,
    "align_dim": 2,
    "num_layers": 1,
    "num_steps": 2,
    "character_dim": 4,
    "num_lstm_layers": 1,
    "inner_dim": 4,
}


@cache
def _loaded(path: Path, *changes: str) -> Experiment:
    """A recipe, which many commands name: YAML is read slowly."""
    return read_settings(path, *changes)


def test_the_recipes_are_found_by_name():
    assert find_recipe("san_squad") == RECIPES / "san_squad" / "config.yaml"
    assert find_recipe("san_squad/paper_size") == RECIPES / "san_squad" / "paper_size.yaml"
    assert find_recipe(str(FILES[0])) == FILES[0]
    assert {path.parent.name for path in FILES} >= {
        "daanet_squad", "masque_demo", "masque_msmarco", "masque_narrativeqa", "masque_squad",
        "maxout_pointer_qg_squad", "san_msmarco", "san_squad", "squad_demo",
    }  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_shipped_file_makes_its_models(path):
    experiment = _loaded(path)
    runs = members(experiment, Path("runs"))
    assert len({member.folder for member in runs}) == len(runs)
    for member in runs:
        assert member.classes.predictor
        optimizer = member.experiment.training.optimizer
        assert optimizer.get("warmup_steps", 0) < (member.experiment.training.steps or 10**9)
        model = dict(member.experiment.model)
        if model.get("contextual_embedding") is not None:
            continue  # made from files
        model |= {name: size for name, size in SIZES.items() if _takes(model["name"], name)}
        preprocessor = dict(member.experiment.preprocessor)
        built = _build(
            repr(sorted(model.items(), key=str)),
            repr(sorted(preprocessor.items(), key=str)),
            member.experiment.styles,
        )
        assert built > 0


def _takes(model: str, name: str) -> bool:
    import inspect

    return name in inspect.signature(find_model_class(model)).parameters


@cache
def _build(model: str, preprocessor: str, styles: tuple[str, ...]) -> int:
    """Weights of a small model; those that differ in nothing but size are made once."""
    values: dict[str, Any] = dict(eval(model))
    source = Source("examples", styles, train="train.jsonl")
    experiment = Experiment("x", (source,), values, preprocessor=dict(eval(preprocessor)))
    plan = Plan(experiment, Path("run"))
    # These have nothing but an encoder.
    encoder = _encoder() if values["name"] in ("ExtractiveReader", "EvidenceReader") else None
    made = building.build_preprocessor(
        plan,
        text.Vocabulary(["who", "met", "ada"], num_oov_buckets=2),
        {"encoder": encoder} if encoder else {},
    )
    # Of its preprocessor a model sees what that determines, no lengths.
    key = model, repr(sorted(made.model_kwargs().items(), key=str))
    if key not in _weights:
        _weights[key] = building.build_model(plan, made, encoder=encoder).count_params()
    return _weights[key]


_weights: dict[tuple[str, str], int] = {}


@cache
def _encoder() -> encoders.Encoder:
    return encoders.from_vocabulary(["who", "met", "ada"], num_layers=1)


# === Commands ===


PARSERS = {
    "recipes.dataset_sizes.main": dataset_sizes.parser,
    "recipes.masque_ensemble.main": masque_ensemble.parser,
    "recipes.round_trip.main": round_trip.parser,
    "recipes.dataset_sizes.to_squad": to_squad.parser,
}


def _commands() -> list[str]:
    tables = read_tables()
    found = [c for table in tables for part in table.parts for c in part.command_lines()]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("command", _commands())
def test_every_command_of_the_tables_parses(command):
    words = shlex.split(command, comments=True)
    if words == ["make", "demo-masque"]:
        return
    if words[0] == "tfmrc":
        options = cli.parser().parse_args(words[1:])
        if options.command in ("prepare", "train"):
            experiment = _loaded(find_recipe(options.recipe), *options.set)
            members(experiment, Path("runs"), options.variants, options.seeds)
        elif options.command == "evaluate":
            _check_settings(options)
        return
    assert words[:2] == ["python", "-m"]
    parser: argparse.ArgumentParser = PARSERS[words[2]]()
    parser.parse_args(words[3:])


def _check_settings(options: argparse.Namespace) -> None:
    """The settings of `evaluate` fit the recipe that the run is named after."""
    name = Path(options.run).name
    known = {_loaded(path).name: path for path in FILES}
    path = known.get(name)
    if path is not None:
        _loaded(path, *options.set)
    else:
        assert not options.set, "the settings of a run of unknown name cannot be checked"

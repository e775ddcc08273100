"""Contextual embeddings and taggers from a YAML file: Masque with ELMo, and what is refused."""

import keras
import numpy as np
import pytest

import tfmrc
from tests.encoders import elmo_files
from tests.running import eagerly
from tfmrc import cli, data, experiments
from tfmrc.data import Example
from tfmrc.encoders import load_elmo
from tfmrc.experiments.building import check_experiment

NAMES = ("Ada", "Bob", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hana")
SMALL = (
    "model.preset=null", "model.word_dim=6", "model.hidden_dim=8", "model.num_heads=2",
    "model.intermediate_dim=8", "model.num_shared_blocks=1", "model.num_question_blocks=1",
    "model.num_passage_blocks=1", "model.num_decoder_blocks=1", "training.epochs=1",
    "training.steps=2", "training.batch_size=2", "training.eval_every_steps=2",
    "training.optimizer.warmup_steps=1", "split.validation_share=0.3",
)  # fmt: skip
ELMO = "contextual={elmo: {options: options.json, weights: weights.hdf5}}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recipe for Masque, its data, files of ELMo and a pipeline that knows the names."""
    place = tmp_path_factory.mktemp("contextual")
    elmo_files.write(place)
    examples = [
        Example(
            str(number), f"Who met {name}?",
            (f"In the mill an owl met {name} .",),
            {"span": (name,)}, group=name,
        )
        for number, name in enumerate(NAMES)
    ]  # fmt: skip
    data.write_examples(place / "mine.jsonl", examples)
    experiments.init(place / "mine.yaml", model="masque", data=place / "mine.jsonl")
    return place


@pytest.mark.slow
def test_masque_with_elmo(folder):
    run = str(folder / "run")
    train = ["train", str(folder / "mine.yaml"), "--data", str(folder), "--run", run]
    with eagerly():
        assert cli.main([*train, "--set", *SMALL, ELMO]) == 0
    predictor = tfmrc.load(folder / "run")
    assert predictor.preprocessor.characters
    files = load_elmo(folder / "options.json", folder / "weights.hdf5")
    moved = set()
    elmo = predictor.model.contextual_embedding
    for ours, theirs in zip(elmo.weights, files.weights, strict=True):
        if not np.array_equal(*map(keras.ops.convert_to_numpy, (ours, theirs))):
            moved.add(theirs.name)
    assert moved and moved <= {"mix_weights", "gamma"}
    with eagerly():
        assert predictor.answer(question="Who met Ada?", passages=["Bob met Ada."], max_length=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["contextual={glove: x}"], "`{cove: FILE}` or .*Received: contextual={'glove': 'x'}"),
        (["contextual={elmo: x}"], "{elmo: {options: FILE, weights: FILE}}"),
        ([ELMO, "model={name: MaxoutPointerQG}"], "MaxoutPointerQG takes no contextual embedding"),
        (["tagger=names"], "reads no tags"),
    ],
)
def test_settings_that_do_not_fit_are_refused_at_once(folder, settings, message):
    with pytest.raises(ValueError, match=message):
        check_experiment(experiments.load(folder / "mine.yaml", *settings))


def test_a_missing_file_is_named(folder, capsys):
    train = ["train", str(folder / "mine.yaml"), "--data", str(folder), "--run", str(folder / "no")]
    assert cli.main([*train, "--set", *SMALL, "contextual={cove: nowhere.pth}"]) != 0
    assert "nowhere.pth" in capsys.readouterr().err

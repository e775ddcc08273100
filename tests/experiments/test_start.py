"""Training that starts from a trained model: its weights, words and frozen layers."""

import json
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import tfmrc
from tests.predictors.small import extractive_reader
from tests.running import eagerly
from tests.serving.predictors import make_predictor
from tfmrc import cli, data, experiments
from tfmrc.data import Example, Span
from tfmrc.experiments.building.start import load_start
from tfmrc.experiments.plan import Plan
from tfmrc.predictors import Calibration
from tfmrc.utils import keras_private

BIRDS = ("owl", "crow", "kite", "wren", "gull", "swan")
SMALL = (
    "model.units=4", "model.word_dim=8", "model.align_dim=4", "model.num_layers=1",
    "model.answer=one_step",
)  # fmt: skip
ONCE = ("training.epochs=1", "training.batch_size=4", "split.validation_share=0.3")


def examples(place):
    for number, bird in enumerate(BIRDS * 2):
        passage = f"The {bird} flew far. It saw the {place}."
        start = passage.index(place)
        span = Span(0, start, start + len(place))
        yield Example(
            str(number), f"What did the {bird} see?", (passage,), {"span": (place,)},
            answerable=True, spans=(span,), group=bird,
        )  # fmt: skip


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder with two files of questions and a run that was trained on the first one."""
    folder = tmp_path_factory.mktemp("start")
    for name, place in (("one", "mill"), ("two", "lighthouse")):
        data.write_examples(folder / f"{name}.jsonl", examples(place))
        options = {"data": folder / f"{name}.jsonl", "encoder": "none", "test_share": 0.0}
        experiments.init(folder / f"{name}.yaml", model="san", **options)
    train(folder, "one", *SMALL)
    return folder


def train(folder, name, *settings, run=None, start=None):
    target = folder / (run or name)
    more = [] if start is None else ["--from", str(start)]
    command = ["train", str(folder / f"{name}.yaml"), "--run", str(target), *more]
    with eagerly():
        assert cli.main([*command, "--set", *ONCE, *settings]) == 0
    return target


def weights(folder):
    model = tfmrc.load(folder).model
    return {weight.path: keras.ops.convert_to_numpy(weight) for weight in model.weights}


RATE = "training.optimizer.learning_rate=0.0001"


@pytest.fixture(scope="module")
def further(first):
    """A run that starts from the first one, with two frozen layers."""
    frozen = "training.frozen=[contextual_encoding, memory_generation]"
    return train(first, "two", frozen, RATE, run="further", start=first / "one")


def test_a_run_refuses_as_its_start_does(first, tmp_path):
    """It keeps the calibration, so that a reader that was fine-tuned does not answer everything."""
    predictor = tfmrc.load(first / "one")
    predictor.calibration = Calibration(slope=1.5, intercept=-0.5, threshold=0.4)
    start = predictor.save(tmp_path / "start")
    run = train(first, "two", RATE, run="calibrated", start=start)
    assert tfmrc.load(run).calibration == predictor.calibration
    assert tfmrc.load(first / "one").calibration is None


def test_training_starts_from_the_weights_and_words_of_the_folder(first, further):
    """A few small updates move the weights a little; those of frozen layers stay equal."""
    before, after = weights(first / "one"), weights(further)
    assert before.keys() == after.keys()
    for name, value in before.items():  # Adamax moves a weight by at most the rate per update
        np.testing.assert_allclose(value, after[name], rtol=0, atol=0.01, err_msg=name)
    moved = {name for name, value in before.items() if (value != after[name]).any()}
    assert not [name for name in moved if "contextual_encoding" in name or "memory_gen" in name]
    assert [name for name in moved if "answer_module" in name]
    words = (further / "vocabulary.txt").read_text()
    assert words == (first / "one" / "vocabulary.txt").read_text()
    assert "lighthouse" not in words.split()
    facts = json.loads((further / "training.json").read_text())
    assert Path(facts["started_from"]) == first / "one"


def test_layers_that_were_frozen_before_are_trained_unless_they_are_named_again(
    first, further, capsys
):
    again = "training.frozen=[memory_generation]"
    whole = train(first, "two", again, RATE, run="whole", start=further)
    [line] = [x for x in capsys.readouterr().out.splitlines() if "are trained now" in x]
    assert "layers contextual_encoding of" in line and "memory_generation" not in line
    before, after = weights(further), weights(whole)
    moved = {name for name, value in before.items() if (value != after[name]).any()}
    assert [name for name in moved if "contextual_encoding" in name]
    assert not [name for name in moved if "memory_generation" in name]
    model = tfmrc.load(whole).model  # the words' rows of the preset are fixed by an argument
    assert (
        model.word_embedding.trainable == tfmrc.load(first / "one").model.word_embedding.trainable
    )


def test_the_model_that_training_started_from_is_a_baseline(first, further, tmp_path):
    with eagerly():
        report = experiments.evaluate_file(further, first / "two.jsonl", tmp_path)
        alone = experiments.evaluate_file(first / "one", first / "two.jsonl").systems["one"]
    before = report.systems["one (before training)"]
    assert {name: row.value for name, row in before.items()} == {
        name: row.value for name, row in alone.items()
    }
    assert ("further", "one (before training)") in report.tests
    assert (tmp_path / "start" / "predictions-answer.jsonl").is_file()


def test_the_seed_reaches_the_dropout_of_a_model_that_is_trained_further(first):
    """Seeds of a grid would otherwise drop the same values in every run."""
    folder = first / "one"
    before = tfmrc.load(folder).model
    assert before.get_config()["seed"] == 1
    run = experiments.read_settings(folder / "config.yaml", f"start_from={folder}", "seed=2")
    model = load_start(Plan(run, folder)).model
    assert model.get_config() == {**before.get_config(), "seed": 2}
    for weight, value in zip(model.weights, before.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, value)
    seeds = [_fixed_seeds(each) for each in (before, model)]
    assert seeds[0] and seeds[1] == [seed + 1 for seed in seeds[0]]


def plan_of(predictor, folder, training, **preprocessor):
    """A plan that starts from a predictor, which is saved below the folder."""
    experiment = SimpleNamespace(
        styles=predictor.preprocessor.styles[:1], seed=1, training=training, start_from="start",
        preprocessor=preprocessor,
    )  # fmt: skip
    start = predictor.save(folder / "start")
    classes = SimpleNamespace(predictor=tfmrc.Predictor)
    return SimpleNamespace(start=start, classes=classes, experiment=experiment)


def test_training_may_have_another_number_of_passages_than_the_start(tmp_path):
    start = make_predictor()  # of three
    training = SimpleNamespace(dtype="float32", frozen=())
    longer = load_start(plan_of(start, tmp_path, training, num_passages=4))
    assert longer.preprocessor.num_passages == longer.model.num_passages == 4
    query = {"question": "Who named the river?", "passages": ["Old Tamsin.", "A mill"]}
    one, other = (each.answer(**query, style="qa") for each in (start, longer))
    assert one.text == other.text
    assert one.relevance == pytest.approx(other.relevance)


def test_training_may_have_another_precision_than_the_start(tmp_path):
    reader = extractive_reader()
    training = SimpleNamespace(dtype="mixed_bfloat16", frozen=())
    model = load_start(plan_of(reader, tmp_path, training)).model
    for layer in (model, model.encoder, model.encoder.backbone):
        assert (layer.compute_dtype, layer.variable_dtype) == ("bfloat16", "float32")
    for weight, value in zip(model.weights, reader.model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, value)


def _fixed_seeds(model):
    """The seeds of the dropout that follow from that of the model; the others are random."""
    states = [
        int(keras.ops.convert_to_numpy(generator.state)[0])
        for generator in keras_private.seed_generators(model)
    ]
    return sorted(state for state in states if state < 1000)


@pytest.mark.parametrize(
    ("settings", "start", "message"),
    [
        ((), "nowhere", "`start_from` must be the folder of a trained model"),
        (("sources.0.styles=[qa]",), "one", r"which has \('span',\). Received: sources.styles="),
        (("model.name=Masque", "model.preset=masque_small"), "one", "SAN"),
        (("training.frozen=[encodr]",), "one", "has no layer.*encodr"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(first, settings, start, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        experiments.train(
            experiments.read_settings(
                first / "two.yaml", f"start_from={json.dumps(str(first / start))}", *ONCE, *settings
            ),
            run=tmp_path / "run",
        )

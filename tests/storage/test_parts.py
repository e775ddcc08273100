"""Saved predictors: what is in the folder, that damage is found, that a user's classes load."""

import json
import shutil
from dataclasses import replace

import keras
import numpy as np
import pytest

import tfmrc
from tests.serving.predictors import REQUEST, make_predictor
from tfmrc import models, predictors, preprocessing, text, training
from tfmrc.data import Example
from tfmrc.predictors import Predictor
from tfmrc.storage import DamagedError

pytestmark = pytest.mark.usefixtures("without_graphs")


@keras.saving.register_keras_serializable(package="test_storage")
class Louder(models.SAN):
    """A user's model."""


@keras.saving.register_keras_serializable(package="test_storage")
class LouderPreprocessor(preprocessing.SANPreprocessor):
    """A user's preprocessor."""


@keras.saving.register_keras_serializable(package="test_storage")
class LouderPredictor(predictors.SANPredictor):
    """A user's predictor, with an argument of its own."""

    model_class = Louder
    preprocessor_class = LouderPreprocessor

    def __init__(self, model, preprocessor, mark="!"):
        super().__init__(model, preprocessor)
        self.mark = mark

    def get_config(self):
        return {"mark": self.mark}

    def predict_batch(self, queries, task, options):
        for answer in super().predict_batch(queries, task, options):
            yield type(answer)(answer.text + self.mark, start=answer.start, end=answer.end)


class Unregistered(predictors.SANPredictor):
    """A predictor that could not be loaded."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "predictor"
    return make_predictor(decoder=False).save(folder, metrics={"mrr": 0.5})


@pytest.fixture
def copy(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "predictor")


def test_a_loaded_predictor_answers_the_same(predictor, tmp_path):
    folder = predictor.save(tmp_path / "run" / "predictor", metrics={"rouge_l": 0.75})
    before = predictor.run("serving_default", REQUEST)
    for loaded in (Predictor.load(folder), tfmrc.load(folder.parent)):
        after = loaded.run("serving_default", REQUEST)
        assert set(before) == set(after)
        for name, values in before.items():
            np.testing.assert_array_equal(after[name], values, err_msg=name)
        assert loaded.metrics == {"rouge_l": 0.75}
        assert loaded.preprocessor.vocabulary.words == predictor.preprocessor.vocabulary.words


def test_the_folder_is_plain_files(saved):
    assert sorted(str(p.relative_to(saved)) for p in saved.rglob("*") if p.is_file()) == [
        "assets/vocabulary.txt",
        "config.json",
        "manifest.json",
        "metrics.json",
        "model.weights.h5",
    ]
    config = json.loads((saved / "config.json").read_text())
    assert config["predictor"] == {"class": "tfmrc>MasquePredictor", "config": {}}
    assert config["model"]["class"] == "tfmrc>Masque"
    assert config["preprocessor"]["class"] == "tfmrc>MasquePreprocessor"
    assert config["versions"]["tfmrc"] == tfmrc.__version__
    assert json.loads((saved / "metrics.json").read_text()) == {"mrr": 0.5}
    assert {p.name for p in saved.parent.iterdir()} <= {"predictor", ".predictor.lock"}


def test_the_state_of_the_optimizer_is_left_out(predictor, tmp_path):
    model = predictor.model
    plain = predictor.save(tmp_path / "plain") / "model.weights.h5"
    model.compile(training.AdamW(0.1, use_ema=True), "mse")
    try:
        model.optimizer.build(model.trainable_variables)
        compiled = predictor.save(tmp_path / "compiled") / "model.weights.h5"
    finally:
        model.optimizer = None
    assert compiled.stat().st_size < 1.1 * plain.stat().st_size
    loaded = Predictor.load(compiled.parent).model
    for weight, expected in zip(loaded.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, expected)


def test_saving_again_replaces_what_is_ours_alone(copy, tmp_path):
    predictor = Predictor.load(copy)
    assert predictor.metrics == {"mrr": 0.5}
    predictor.save(copy, metrics={"mrr": 1.0})
    assert Predictor.load(copy).metrics == {"mrr": 1.0}
    (copy / "thesis.txt").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text("{}")
    (tmp_path / "link").symlink_to(copy)
    for folder, words in (
        (copy, "holds thesis.txt, which was not written"),
        (tmp_path / "other", "holds config.json, which was not written"),
        (tmp_path / "link", "is a link or a file"),
        (copy / "thesis.txt", "is a link or a file"),
    ):
        with pytest.raises(FileExistsError, match=words):
            predictor.save(folder)
    assert (copy / "thesis.txt").read_text() == "mine"


def test_a_failure_while_saving_leaves_what_was_there(copy, monkeypatch):
    predictor = Predictor.load(copy)

    def fail(folder):
        raise OSError("the disk is full")

    monkeypatch.setattr(predictor.preprocessor, "save_assets", fail)
    with pytest.raises(OSError, match="the disk is full"):
        predictor.save(copy)
    monkeypatch.setattr("shutil.disk_usage", lambda path: shutil._ntuple_diskusage(10, 9, 1))
    with pytest.raises(OSError, match="not enough disk space for .* 1 are free"):
        predictor.save(copy)
    monkeypatch.undo()
    assert [p.name for p in copy.parent.iterdir() if p.name != ".predictor.lock"] == ["predictor"]
    assert Predictor.load(copy).metrics == {"mrr": 0.5}


@pytest.mark.parametrize("name", ["config.json", "model.weights.h5", "assets"])
def test_a_missing_part_is_named(copy, name):
    path = copy / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(FileNotFoundError, match=f"not a saved predictor: {name} is missing"):
        Predictor.load(copy)


def change(folder, **entries):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ({"format": 99}, "written by another version of tfmrc .* Received: format=99"),
        ({"model": {"class": "os.system", "config": {}}}, "names a model class that is not reg"),
    ],
)
def test_only_registered_classes_of_this_format_are_built(copy, entries, words):
    change(copy, **entries)
    with pytest.raises(ValueError, match=words):
        Predictor.load(copy, verify=False)


def test_a_file_that_is_no_json_is_named(copy):
    (copy / "config.json").write_text('{"format": 2,')
    with pytest.raises(ValueError, match="config.json is damaged"):
        Predictor.load(copy)


def test_damage_is_found_before_anything_is_built(copy):
    vocabulary = copy / "assets" / "vocabulary.txt"
    words = vocabulary.read_text().split("\n")
    words[8], words[9] = words[9], words[8]
    vocabulary.write_text("\n".join(words))
    with pytest.raises(DamagedError, match="assets/vocabulary.txt differs from what was written"):
        Predictor.load(copy)
    loaded = Predictor.load(copy, verify=False)
    assert loaded.preprocessor.vocabulary.words[8] == words[8]
    vocabulary.unlink()
    with pytest.raises(DamagedError, match="assets/vocabulary.txt is missing"):
        Predictor.load(copy)
    weights = copy / "model.weights.h5"
    weights.write_bytes(weights.read_bytes()[:2000])
    vocabulary.write_text("\n".join(words))
    with pytest.raises(ValueError, match="does not fit the model of .* or is damaged"):
        Predictor.load(copy, verify=False)
    (copy / "manifest.json").write_text('{"files": [')
    with pytest.raises(DamagedError, match="manifest.json is damaged"):
        Predictor.load(copy)
    (copy / "manifest.json").unlink()
    with pytest.raises(FileNotFoundError, match="has no manifest.json"):
        Predictor.load(copy)


def make_louder():
    keras.utils.set_random_seed(1)
    preprocessor = LouderPreprocessor(text.Vocabulary(["owl", "flew", "who"]))
    model = Louder(vocabulary_size=7, word_dim=4, units=2, align_dim=2, num_layers=1)
    return Predictor(model, preprocessor)


def test_a_user_s_registered_classes_are_saved_and_loaded(tmp_path):
    predictor = make_louder()
    assert type(predictor) is LouderPredictor
    predictor.mark = "?!"
    question = {"question": "Who flew?", "passages": ["An owl flew."]}
    right = predictor.answer(**question)
    assert right.text.endswith("?!")
    again = tfmrc.load(predictor.save(tmp_path / "louder"))
    assert (type(again), type(again.model)) == (LouderPredictor, Louder)
    assert type(again.preprocessor) is LouderPreprocessor
    assert again.answer(**question) == right
    config = json.loads((tmp_path / "louder" / "config.json").read_text())
    assert config["predictor"] == {
        "class": "test_storage>LouderPredictor",
        "config": {"mark": "?!"},
    }
    plain = preprocessing.SANPreprocessor(predictor.preprocessor.vocabulary)
    assert type(Predictor(predictor.model, plain)) is predictors.SANPredictor
    with pytest.raises(ValueError, match="Unregistered is not registered"):
        Unregistered(predictor.model, plain).save(tmp_path / "unregistered")
    assert not (tmp_path / "unregistered").exists()


def test_a_forked_process_is_told_to_load_again(tmp_path, monkeypatch):
    predictor = make_louder()
    predictor.save(tmp_path / "louder")
    monkeypatch.setattr("os.getpid", lambda: -1)
    for use in (
        lambda: predictor.answer(question="Who?", passages=["An owl."]),
        lambda: tfmrc.load(tmp_path / "louder"),
        lambda: Predictor(predictor.model, predictor.preprocessor),
    ):
        with pytest.raises(RuntimeError, match="started by `spawn`, or in one that is forked"):
            use()


def test_outputs_without_labels_are_left_out_and_said(tmp_path):
    """`fit` notes them; those of a loaded predictor stay trained, or may be trained later."""
    made = make_predictor(num_decoder_blocks=1)
    model, preprocessor = made.model, made.preprocessor
    style = preprocessor.styles[0]
    passages = ("An owl flew.", "It is high.")
    plain = [Example("1", "Who flew?", passages, {style: ("An owl.",)})]
    ranked = [replace(plain[0], relevance=(True, False))]
    model.compile(**training.masque(steps=9, warmup_steps=1, model=model), run_eagerly=True)
    model.fit(preprocessor.dataset(plain, batch_size=1), verbose=0)
    with pytest.warns(UserWarning, match="label for ranker, classifier: it was not trained"):
        predictor = Predictor(model, preprocessor)
    outputs = predictor.run("serving_default", REQUEST, max_length=2)
    assert "relevance" not in outputs and "answerable_probability" not in outputs
    loaded = Predictor.load(predictor.save(tmp_path / "predictor"))
    model = loaded.model
    model.compile(**training.masque(steps=9, warmup_steps=1, model=model), run_eagerly=True)
    model.fit(preprocessor.dataset(ranked, batch_size=1), verbose=0)
    assert model.trained_outputs == ("ranker", "decoder")
    outputs = loaded.run("serving_default", REQUEST, max_length=2)
    assert "relevance" in outputs and "answerable_probability" not in outputs
    model.fit(preprocessor.dataset(plain, batch_size=1), verbose=0)
    assert model.trained_outputs == ("ranker", "decoder")

import json
import shutil

import numpy as np
import pytest

import tfmrc
from tests.serving.predictors import REQUEST, make_reader
from tfmrc import MasquePredictor


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "predictor"
    return make_reader(decoder=False).save_to(folder, metrics={"mrr": 0.5})


@pytest.fixture
def copy(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "predictor")


def test_a_loaded_reader_answers_the_same(predictor, tmp_path):
    folder = predictor.save_to(tmp_path / "predictor", metrics={"rouge_l": 0.75})
    loaded = MasquePredictor.load(folder)
    request = (REQUEST["question"], REQUEST["passages"], REQUEST["style"])
    before, after = predictor.read(*request), loaded.read(*request)
    assert set(before) == set(after)
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values, err_msg=name)
    assert loaded.metrics == {"rouge_l": 0.75}
    assert loaded.preprocessor.vocabulary.words == predictor.preprocessor.vocabulary.words


def test_the_folder_is_plain_files(saved):
    assert sorted(str(p.relative_to(saved)) for p in saved.rglob("*") if p.is_file()) == [
        "assets/vocabulary.txt",
        "config.json",
        "metrics.json",
        "model.weights.h5",
    ]
    config = json.loads((saved / "config.json").read_text())
    assert config["model"]["class"] == "Masque"
    assert config["preprocessor"]["class"] == "MasquePreprocessor"
    assert config["versions"]["tfmrc"] == tfmrc.__version__
    assert json.loads((saved / "metrics.json").read_text()) == {"mrr": 0.5}


def test_saving_again_replaces(saved, copy):
    predictor = MasquePredictor.load(copy)
    assert predictor.metrics == {"mrr": 0.5}
    predictor.save_to(copy, metrics={"mrr": 1.0})
    assert MasquePredictor.load(copy).metrics == {"mrr": 1.0}


@pytest.mark.parametrize("name", ["config.json", "model.weights.h5", "assets"])
def test_a_missing_part_is_named(copy, name):
    path = copy / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(FileNotFoundError, match=f"not a saved predictor: {name} is missing"):
        MasquePredictor.load(copy)


def change(folder, **entries):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


def test_a_newer_format_is_named(copy):
    change(copy, format=99)
    with pytest.raises(ValueError, match="Install a newer tfmrc. Received: format=99"):
        MasquePredictor.load(copy)


@pytest.mark.parametrize("name", ["Lambda", "os.system", "__builtins__", "", None])
def test_only_tfmrc_s_own_classes_are_built(copy, name):
    change(copy, model={"class": name, "config": {}})
    with pytest.raises(ValueError, match="that tfmrc.models does not have. Received: class="):
        MasquePredictor.load(copy)


def test_damage_is_named(copy):
    weights = copy / "model.weights.h5"
    weights.write_bytes(weights.read_bytes()[:2000])
    with pytest.raises(ValueError, match="does not fit the model of .* or is damaged"):
        MasquePredictor.load(copy)
    (copy / "config.json").write_text('{"format": 1,')
    with pytest.raises(ValueError, match="config.json is damaged"):
        MasquePredictor.load(copy)

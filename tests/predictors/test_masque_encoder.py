"""Masque with a pretrained encoder: strings to answers, saved, loaded, exported."""

import json

import keras
import numpy as np
import pytest

from tests.models import encoded
from tests.running import eagerly
from tests.serving.predictors import LOADERS, assert_same_outputs, run_loader
from tfmrc import Predictor
from tfmrc.predictors import MasquePredictor

REQUEST = {
    "question": encoded.QUESTIONS,
    "passages": encoded.PASSAGES,
    "style": encoded.STYLES,
}
OPTIONS = {"num_beams": 2, "num_return_sequences": 2, "max_length": 4}


@pytest.fixture(scope="module")
def predictor():
    model, preprocessor, _ = encoded.make(
        layers="mix", pooling="mean", num_layers=2, trainable_layers=1
    )
    yield Predictor(model, preprocessor)
    keras.backend.clear_session()


@pytest.fixture(scope="module")
def arrays(predictor):
    with eagerly():
        return predictor.run("serving_default", REQUEST, **OPTIONS)


def test_one_question_alone(predictor, arrays):
    assert isinstance(predictor, MasquePredictor)
    for row in (0, 2):
        with eagerly():
            alone = predictor.run(
                "serving_default",
                {name: values[row : row + 1] for name, values in REQUEST.items()},
                **OPTIONS,
            )
        assert alone["answer"][0] == arrays["answer"][row]
        np.testing.assert_allclose(alone["score"][0], arrays["score"][row], rtol=1e-3)
        np.testing.assert_allclose(alone["relevance"][0], arrays["relevance"][row], atol=1e-5)
    assert arrays["relevance"][2].tolist() == [0, 0, 0]


def test_saved_and_loaded(predictor, arrays, tmp_path):
    predictor.save(tmp_path / "saved")
    assert (tmp_path / "saved" / "assets" / "encoder" / "vocab.txt").is_file()
    again = Predictor.load(tmp_path / "saved")
    assert again.model.get_config() == predictor.model.get_config()
    assert again.preprocessor.get_config() == predictor.preprocessor.get_config()
    assert len(again.model.trainable_variables) == len(predictor.model.trainable_variables)
    with eagerly():
        found = again.run("serving_default", REQUEST, **OPTIONS)
    assert found["answer"].tolist() == arrays["answer"].tolist()
    for name in ("score", "relevance", "answerable_probability", "mixture"):
        np.testing.assert_allclose(found[name], arrays[name], rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def exported(predictor, tmp_path_factory):
    return predictor.export(tmp_path_factory.mktemp("models") / "masque" / "1", **OPTIONS)


def test_the_model_card_names_the_encoder(exported):
    card = json.loads((exported / "assets.extra" / "model_card.json").read_text())
    expected = {"family": "bert", "name": "new bert", "trained_layers": 1}
    assert card["model"]["encoder"] == expected


@pytest.mark.parametrize("loader", LOADERS)
def test_a_process_without_tfmrc_finds_the_same(exported, arrays, loader):
    (found,) = run_loader(loader, exported, [REQUEST])
    assert_same_outputs(found["outputs"], arrays, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("loader", ["tf_loader.py", "c_api_loader.py"])
def test_the_same_under_tensorflow_2_20(exported, arrays, older_python, loader):
    (found,) = run_loader(loader, exported, [REQUEST], older_python)
    assert_same_outputs(found["outputs"], arrays, rtol=1e-3)


def test_bad_input_gives_an_answer(predictor):
    odd = ["a" * 3000, "\x00", b"\xff\xfe hill".decode("utf-8", "replace"), "hill " * 300]
    request = {
        "question": ["How?", "\x00", "hill " * 300],
        "passages": [[text, "", "   "] for text in odd[:3]],
        "style": ["qa"] * 3,
    }
    with eagerly():
        found = predictor.run("serving_default", request, max_length=3)
    assert np.isfinite(found["score"]).all() and np.isfinite(found["relevance"]).all()

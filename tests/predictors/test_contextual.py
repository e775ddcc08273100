"""Predictors and exports of Masque with ELMo and SAN with CoVe: strings in, equal answers."""

import keras
import numpy as np
import pytest

import tfmrc
from tests.models.papers import masque_with_elmo, san_with_cove
from tests.running import eagerly
from tests.serving.predictors import assert_same_outputs, run_loader

PASSAGES = ["Ada Lee met the king.", "It was Bob"]
QUESTION = "Who met the king?"
ODD = ["", "\U0001f989 é ١", "x" * 300]
REQUESTS = {
    "masque": {
        "question": [QUESTION, *ODD],
        "passages": [PASSAGES, ["", ""], ["\u200b", "the"], ["the queen", " "]],
        "style": ["qa"] * 4,
    },
    "san": {
        "question": [QUESTION, *ODD],
        "passages": [PASSAGES[:1], [""], ["\u200b"], ["x" * 300]],
    },
}
MADE = {"masque": masque_with_elmo, "san": san_with_cove}
OPTIONS = {"masque": {"max_length": 4, "num_beams": 2}, "san": {}}


@pytest.fixture(scope="module", params=MADE)
def case(request, tmp_path_factory):
    """Name, predictor, options and export."""
    predictor = tfmrc.Predictor(*MADE[request.param]())
    folder = tmp_path_factory.mktemp("exports") / request.param / "1"
    predictor.export(folder, **OPTIONS[request.param])
    return request.param, predictor, OPTIONS[request.param], folder


def test_a_saved_folder_an_export_and_keras_files_give_the_same_answer(case, tmp_path):
    name, predictor, options, export = case
    question = {"question": QUESTION, "passages": PASSAGES}
    with eagerly():
        answer = predictor.answer(**question, **options)
        predictor.save(tmp_path / "folder")
        again = tfmrc.load(tmp_path / "folder").answer(**question, **options)
    served = tfmrc.load(export).answer(**question)
    for other in (again, served):
        assert other.text == answer.text
        assert other.log_probability == pytest.approx(answer.log_probability, abs=1e-4)
    predictor.model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    for ours, theirs in zip(loaded.weights, predictor.model.weights, strict=True):
        assert np.array_equal(*map(keras.ops.convert_to_numpy, (ours, theirs))), theirs.path


@pytest.mark.parametrize(
    "case", ["san", pytest.param("masque", marks=pytest.mark.slow)], indirect=True
)
def test_a_process_without_tfmrc_gives_the_same_answers(case):
    name, predictor, options, export = case
    with eagerly():
        outputs = predictor.run("serving_default", REQUESTS[name], **options)
    alone = {key: values[:1] for key, values in REQUESTS[name].items()}
    together, single = run_loader("c_api_loader.py", export, [REQUESTS[name], alone])
    assert_same_outputs(together["outputs"], outputs)
    assert single["outputs"]["answer"] == together["outputs"]["answer"][:1]


@pytest.mark.slow
def test_the_same_under_tensorflow_2_20(case, older_python):
    name, predictor, options, export = case
    with eagerly():
        outputs = predictor.run("serving_default", REQUESTS[name], **options)
    for loader in ("tf_loader.py", "c_api_loader.py"):
        (found,) = run_loader(loader, export, [REQUESTS[name]], older_python)
        assert_same_outputs(found["outputs"], outputs)

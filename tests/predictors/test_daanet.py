"""A dual model as a user holds it and as it is exported."""

import numpy as np
import pytest

import tfmrc
from tests.predictors.small import DAANET_OPTIONS, daanet
from tests.serving.predictors import assert_batched_as_alone, assert_same_outputs, run_loader
from tests.trained import made_once
from tfmrc.predictors import DAANetPredictor

pytestmark = pytest.mark.usefixtures("exports_once", "without_graphs")

PASSAGES = ["It rained. Mt. Brannoch is 1,310.5 metres high.", "Old Tamsin named the Éala."]
REQUESTS = {
    "answer": {"question": ["How high is it?", "Who?"], "passages": [[text] for text in PASSAGES]},
    "ask": {"answer": ["1,310.5 metres", "Tamsin"], "passage": PASSAGES},
}


@pytest.fixture(scope="module")
def predictor():
    return daanet()


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    def export(path):
        daanet().export(path / "1", **DAANET_OPTIONS)

    return made_once(tmp_path_factory, "DAANet", export) / "1"


def arrays(predictor, task):
    return predictor.run(task, REQUESTS[task], **DAANET_OPTIONS)


def generate(predictor, task, given, passage, **options):
    """The best text and its alternatives."""
    if task == "ask":
        best = predictor.ask(passage=passage, answer=given, **options)
    else:
        best = predictor.answer(question=given, passages=[passage], **options)
    return [best, *best.alternatives]


def test_an_export_answers_and_asks_by_one_call(predictor, exported):
    export = tfmrc.load(exported)
    assert set(export.saved_model.signatures) == {"answer", "ask", "serving_default"}
    best, other = generate(predictor, "answer", "Who?", " ".join(PASSAGES), **DAANET_OPTIONS)
    found = export.answer(question="Who?", passages=PASSAGES)  # joined in the graph
    assert (found.text, [a.text for a in found.alternatives]) == (best.text, [other.text])
    asked = generate(export, "ask", "Tamsin", PASSAGES[1])
    right = generate(predictor, "ask", "Tamsin", PASSAGES[1], **DAANET_OPTIONS)
    assert [a.text for a in asked] == [r.text for r in right]
    assert [(a.answer, a.answer_start) for a in asked] == [("Tamsin", None)] * 2
    with pytest.raises(ValueError, match="finds no answers to ask about: give one"):
        next(export.generate_from_passage(PASSAGES))
    with pytest.raises(TypeError, match="fixed in it, by .*Received: num_beams"):
        export.answer(question="Who?", passages=PASSAGES, num_beams=4)


def test_requests_of_a_server_s_batch_are_answered_as_alone(exported):
    for task, request in REQUESTS.items():
        alone = [{name: [column[row]] for name, column in request.items()} for row in (0, 1)]
        assert_batched_as_alone(exported, alone, task)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["answer", "ask"])
def test_a_process_without_tfmrc_answers_and_asks_the_same(predictor, exported, task):
    blank = {name: [[""]] if name == "passages" else [""] for name in REQUESTS[task]}
    uneven = {name: column[:n] for n, (name, column) in enumerate(REQUESTS[task].items(), 1)}
    requests = [REQUESTS[task], blank, uneven]
    found = run_loader(exported, requests, signature=task)
    assert_same_outputs(found[0]["outputs"], arrays(predictor, task))
    assert "error" not in found[1]
    assert found[2]["code"] == 3 and "as many rows" in found[2]["error"]


def test_saved_and_loaded_and_a_task_that_is_missing(tmp_path, predictor):
    again = DAANetPredictor.load(predictor.save(tmp_path / "predictor"))
    found, right = arrays(again, "ask"), arrays(predictor, "ask")
    np.testing.assert_array_equal(found["questions"], right["questions"])
    np.testing.assert_allclose(found["log_probabilities"], right["log_probabilities"], rtol=1e-4)
    single = daanet(tasks=("ask",))
    asked = single.ask(passage=PASSAGES[1], answer="Tamsin", max_length=3)
    assert asked.answer == "Tamsin" and asked.probability > 0
    with pytest.raises(ValueError, match="does not answer questions; it has the tasks ask"):
        single.answer(question="Who?", passages=PASSAGES)
    again.model.trained_outputs = ("answer",)
    assert [task.name for task in again.tasks] == ["answer"]
    with pytest.warns(UserWarning, match="no label for ask: it was not trained"):
        assert len(arrays(again, "answer")["answer"]) == 2

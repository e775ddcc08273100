"""One form of question: every answerer takes passages, in Python as in its export."""

import pickle
import random

import keras
import numpy as np
import pytest

import tfmrc
from tests.attacks.texts import odd_text
from tests.predictors import small
from tests.running import eagerly
from tests.serving.predictors import EXPORT_OPTIONS, assert_same_outputs
from tests.trained import made_once
from tfmrc.predictors import SANPredictor

pytestmark = pytest.mark.usefixtures("exports_once")

QUESTION = "How high is Mt. Brannoch?"
PASSAGES = ["Mt. Brannoch is 1,310.5 metres high.", "Who named the hill?", "A mill is high."]
CASES = {"one": PASSAGES[:1], "three": PASSAGES, "an empty one": [PASSAGES[0], "", PASSAGES[2]]}
MADE = {
    "SAN": (small.san, small.SAN_OPTIONS),
    "Masque": (None, EXPORT_OPTIONS),
    "DAANet": (small.daanet, small.DAANET_OPTIONS),
    "ExtractiveReader": (small.extractive_reader, {"num_return_sequences": 3}),
}
OUTPUTS = {"answer", "passage", "probability", "answers", "probabilities"}
OUTPUTS |= {"truncated", "is_confident"}
OF_SPANS = {"start", "end", "starts", "ends", "answer_passages"}


@pytest.fixture(scope="module", params=MADE)
def case(request, tmp_path_factory):
    """Predictor, options, and its export loaded; Masque's are those of the whole run."""
    make, options = MADE[request.param]
    if make is None:
        predictor, path = map(request.getfixturevalue, ("predictor", "exported"))
        return predictor, options, tfmrc.load(path)
    predictor, name = make(), request.param
    folder = made_once(tmp_path_factory, name, lambda path: predictor.export(path / "1", **options))
    return predictor, options, tfmrc.load(folder / "1")


@pytest.mark.parametrize("passages", CASES.values(), ids=CASES)
def test_an_export_answers_as_its_predictor(case, passages):
    predictor, options, exported = case
    style = [predictor.tasks[0].style] * (len(predictor.preprocessor.styles) > 1)
    inputs = {"question": [QUESTION], "passages": [passages]} | ({"style": style} if style else {})
    with eagerly():
        expected = predictor.run("serving_default", inputs, **options)
        answer = predictor.answer(question=QUESTION, passages=passages, **options)
        [row] = predictor.predict([{"question": QUESTION, "passages": passages}], **options)
    assert row.text == answer.text
    names = set(expected)
    assert names >= OUTPUTS | (OF_SPANS if "starts" in names else set())
    assert_same_outputs(exported.run("serving_default", inputs), expected, rtol=1e-3)
    found = exported.answer(question=QUESTION, passages=passages)
    assert (found.text, found.passage) == (answer.text, answer.passage)
    assert [a.text for a in found.alternatives] == [a.text for a in answer.alternatives]
    assert found.probability == pytest.approx(answer.probability, rel=1e-3)
    assert expected["probabilities"].sum() <= 1 + 1e-5
    if "starts" in names and found.start >= 0:
        assert passages[found.passage][found.start : found.end] == found.text


def test_odd_texts_get_answers_that_stand_in_them(case):
    predictor, _, exported = case
    rng = random.Random(7)
    asked, texts = ([odd_text(rng) for _ in range(20)] for _ in range(2))
    inputs = {"question": asked, "passages": [[text] for text in texts]}
    if len(predictor.preprocessor.styles) > 1:
        inputs["style"] = [predictor.tasks[0].style] * 20
    outputs = exported.run("serving_default", inputs)
    assert ((outputs["probability"] >= 0) & (outputs["probability"] <= 1 + 1e-5)).all()
    for row, start in enumerate(outputs.get("start", ())):
        found = texts[row].decode("utf-8", "replace")[max(start, 0) : max(outputs["end"][row], 0)]
        assert found == outputs["answer"][row].decode("utf-8", "replace")


def test_an_empty_passage_changes_nothing_and_no_passage_is_an_answer(case):
    predictor, options, _ = case
    with eagerly():
        few, more = (
            predictor.answer(question=QUESTION, passages=passages, **options)
            for passages in (PASSAGES[:2], [*PASSAGES[:2], ""])
        )
        none = predictor.answer(question=QUESTION, passages=[], **options)
    assert (few.text, few.passage) == (more.text, more.passage)
    assert few.probability == pytest.approx(more.probability, rel=1e-4)
    assert 0 <= none.probability <= 1 and not none.truncated


def test_the_probabilities_of_san_by_hand():
    """P(k, span) = r_k P_k(span) / (r_1 + …), over the passages with words."""
    predictor = small.san()
    passages, relevance = (
        ["A hill", "", "The mill is high.", "Who named it?"],
        [2.0, 9.0, 1.0, 0.0],
    )

    def spans(passages, **inputs):
        request = {"question": [QUESTION], "passages": [passages], **inputs}
        outputs = predictor.run("serving_default", request, num_return_sequences=99)
        names = ("answer_passages", "starts", "ends", "probabilities")
        rows = zip(*(outputs[name][0].tolist() for name in names), strict=True)
        return {tuple(place): chance for *place, chance in rows if chance > 0}

    with eagerly():
        single = [spans([text]) for text in passages]
        ranked = spans(passages, relevance=[relevance])
        equal, unknown = spans(passages), spans(passages, relevance=[[0.0] * 4])
    for found, shares in ((ranked, (2 / 3, 0, 1 / 3, 0)), (equal, (1 / 3, 0, 1 / 3, 1 / 3))):
        expected = {
            (number, start, end): share * chance
            for number, share in enumerate(shares)
            for (_, start, end), chance in single[number].items()
            if share
        }
        assert found.keys() == expected.keys() and expected
        np.testing.assert_allclose(
            [found[key] for key in expected], list(expected.values()), rtol=1e-4
        )
    assert unknown == pytest.approx(equal, rel=1e-5)  # if none is relevant, all are equally so


def test_a_predictor_is_loaded_where_it_is_used():
    """A pool whose workers fail as they unpickle it would start them again for ever."""
    with pytest.raises(TypeError, match=r"tfmrc.load\(folder\)"):
        pickle.dumps(small.san())


def test_a_model_without_what_its_predictor_calls_is_refused():
    with pytest.raises(TypeError, match="no `find`, `spans`, which SANPredictor calls: see tfmrc"):
        SANPredictor(keras.Model(), small.san().preprocessor)

"""Calibration of predictors: the map, the threshold, and all that carries them."""

import math
from dataclasses import replace

import numpy as np
import pytest

import tfmrc
from tests.predictors.small import extractive_reader, san
from tests.running import eagerly
from tests.serving.predictors import assert_same_outputs, make_predictor
from tfmrc.data import Example
from tfmrc.predictors import Calibration
from tfmrc.predictors.hugging_face.folder import load_hugging_face

MAKE = {"SAN": san, "Masque": make_predictor, "ExtractiveReader": extractive_reader}
PASSAGE = "Mt. Brannoch is 1,310.5 metres high."
MAP = Calibration(slope=0.5, intercept=-1.0, threshold=0.9999)


def mapped(probability, slope=0.5, intercept=-1.0):
    """The map in plain float64."""
    if probability == 0:
        return 0.0
    p = min(max(float(probability), 1e-37), 1 - 2.0**-24)
    return 1 / (1 + math.exp(-slope * (math.log(p) - math.log1p(-p)) - intercept))


def certain(outputs):
    """The best answer's geometric mean of the words and their end, times that there is one."""
    if "num_words" not in outputs:
        return outputs["probability"]
    num_words = outputs["num_words"] + outputs["finished"][:, 0]
    mean = np.exp(outputs["log_probabilities"][:, 0] / np.maximum(num_words, 1))
    return mean * outputs["answerable_probability"]


@pytest.fixture(scope="module")
def reader():
    return extractive_reader()


@pytest.fixture(autouse=True)
def uncalibrated(reader):
    yield
    reader.calibration = None


def inputs_of(predictor):
    return {name: rows[:1] for name, rows in predictor.warmup_request().items()}


@pytest.mark.parametrize("name", MAKE)
def test_the_graph_maps_every_probability_of_an_answer(name):
    predictor = MAKE[name]()
    with eagerly():
        raw = predictor.run("serving_default", inputs_of(predictor))
        predictor.calibration = MAP
        outputs = predictor.run("serving_default", inputs_of(predictor))
        sure = predictor.run("serving_default", inputs_of(predictor), min_probability=0.0)
    expected = np.vectorize(mapped)(certain(raw))
    np.testing.assert_allclose(outputs["probability"], expected, rtol=1e-4)
    assert sure["is_confident"].all()
    assert not outputs["is_confident"].any()
    changed = {"probability", "probabilities", "is_confident"}
    same = [{k: v for k, v in each.items() if k not in changed} for each in (outputs, raw)]
    assert_same_outputs(*same, rtol=1e-3)


ASKED = {
    "question": ["Who named the mill?", "How high is it?", "Who"],
    "passages": [
        ["the owl named a mill", "The mill is 1 m high. " * 9],
        [PASSAGE, ""],
        ["owl", ""],
    ],
}


@pytest.mark.parametrize("calibration", [None, Calibration(slope=0.3, intercept=2.0)])
@pytest.mark.parametrize("name", MAKE)
def test_the_answers_to_a_question_have_at_most_all_of_the_probability(name, calibration):
    predictor = MAKE[name]()
    inputs, options = ASKED, {"num_return_sequences": 9}
    if name == "Masque":
        inputs = ASKED | {"style": ["qa"] * 3}
        options = {"num_return_sequences": 4, "num_beams": 4, "max_length": 3}
    predictor.calibration = calibration
    with eagerly():
        outputs = predictor.run("serving_default", inputs, **options)
    found = outputs["probabilities"]
    assert (np.diff(found) <= 1e-7).all() and (found.sum(axis=1) <= 1 + 1e-5).all()
    np.testing.assert_allclose(found[:, 0], outputs["probability"], rtol=1e-5)


def test_a_writer_is_confident_where_an_answer_is_possible():
    predictor = make_predictor()
    inputs = predictor.warmup_request()
    with eagerly():
        outputs = predictor.run("serving_default", inputs)
    possible = outputs["answerable_probability"]
    np.testing.assert_array_equal(outputs["is_confident"], possible >= 0.5)
    expected = possible[:, None] * np.exp(outputs["log_probabilities"])
    np.testing.assert_allclose(outputs["probabilities"], expected, rtol=1e-5)


def test_a_saved_and_an_exported_predictor_keep_it(reader, tmp_path, without_graphs):
    reader.calibration = MAP
    expected = reader.answer(question="How high is it?", passages=[PASSAGE])
    assert not expected.is_confident
    path = reader.export(tmp_path / "exports" / "1")
    folders = [
        reader.save(tmp_path / "saved"), reader.save_hugging_face(tmp_path / "hub"), path
    ]  # fmt: skip
    for folder in folders:
        loaded = tfmrc.load(folder)
        found = loaded.answer(question="How high is it?", passages=[PASSAGE])
        assert (found.text, found.is_confident) == (expected.text, False)
        assert found.probability == pytest.approx(expected.probability, rel=1e-3)
    assert tfmrc.load(path).saved_model.card["calibration"] == MAP.to_json()
    assert load_hugging_face(folders[1]).calibration == MAP
    reader.calibration = None
    assert tfmrc.load(reader.save(tmp_path / "saved")).calibration is None


def test_the_pipeline_maps_the_merged_scores_unless_legacy(reader, without_graphs):
    pipeline = tfmrc.pipeline("question-answering", reader)
    asked = {"question": "Who named it?", "context": "The owl named the mill. The owl."}
    options = {"top_k": 4, "handle_impossible_answer": True}
    raw, legacy = pipeline(asked, **options), pipeline(asked, **options, legacy=True)
    reader.calibration = MAP
    found = pipeline(asked, **options)
    assert [a["answer"] for a in found] == [a["answer"] for a in raw]
    first, *others = [answer["score"] for answer in raw]
    left = (1 - mapped(first)) / (1 - first)
    expected = [mapped(first), *(min(mapped(score), score * left) for score in others)]
    np.testing.assert_allclose([a["score"] for a in found], expected, rtol=1e-4)
    assert pipeline(asked, **options, legacy=True) == legacy


@pytest.fixture(scope="module")
def examples(reader):
    """Questions; the reader's own answer is the reference of two in three."""
    rng, words = np.random.default_rng(0), "the owl named a mill hill how high is it 1 m".split()
    texts = [" ".join(row) for row in rng.permuted([words] * 30, axis=1)]
    asked = [Example(str(n), "Who named it?", (text,)) for n, text in enumerate(texts)]
    with eagerly():
        answers = [str(result) for result in reader.predict(asked)]
    known = [
        replace(one, answers={"qa": (text,)} if n % 3 else {}, answerable=bool(n % 3))
        for n, (one, text) in enumerate(zip(asked, answers, strict=True))
    ]
    return [asked[0], *known[1:]]  # the answer of the first one is not known


def test_a_fitted_map_is_platts(reader, examples, without_graphs):
    results = list(reader.predict(examples[1:]))
    report = reader.calibrate(examples, precision=0.7)
    found = reader.calibration
    assert (found.right, found.precision) == ("exact_match", 0.7)
    raw = np.array([result.probability for result in results])
    right = np.array([example.answerable for example in examples[1:]])
    np.testing.assert_allclose(report.raw, raw, rtol=1e-5)
    np.testing.assert_array_equal(report.is_right, right)
    # At the least loss the gradient against Platt's smoothed targets is zero.
    target = np.where(right, (right.sum() + 1) / (right.sum() + 2), 1 / ((~right).sum() + 2))
    chance = np.array([mapped(p, found.slope, found.intercept) for p in raw])
    odds = np.log(raw) - np.log1p(-raw)
    assert abs((chance - target).sum()) < 1e-6 and abs(((chance - target) * odds).sum()) < 1e-5
    # The lowest threshold that reaches the precision.
    least = min(p for p in chance if right[chance >= p].mean() >= 0.7)
    assert max([0, *chance[chance < least]]) < found.threshold < least
    again = reader.measure_calibration(examples)
    np.testing.assert_allclose(again.calibrated, chance, rtol=1e-6)
    assert report.scores["brier"].value != again.scores["brier"].value  # of the other half's map
    assert found == Calibration.from_json({**found.to_json(), "report": {}})


def test_a_threshold_that_cannot_be_reached_accepts_nothing(reader, examples, without_graphs):
    results = list(reader.predict(examples))
    rank = np.argsort(np.argsort([result.probability for result in results]))
    known = [  # the most and the least probable answers are wrong
        replace(one, answers={"qa": (str(result) if 10 <= n < 20 else "never",)}, answerable=True)
        for one, result, n in zip(examples, results, rank, strict=True)
    ]
    reader.calibrate(known, precision=1.0)
    assert reader.calibration.threshold == 1.0
    reader.calibrate(known, precision=None)
    assert reader.calibration.threshold is None
    assert next(reader.predict(examples[:1])).is_confident


def test_written_answers_are_right_by_rouge(without_graphs):
    predictor = make_predictor()
    style = predictor.tasks[0].style
    examples = [Example(str(n), f"How high is {n}?", (PASSAGE,)) for n in range(20)]
    own = [result.text for result in predictor.predict(examples, max_length=3)]
    examples = [
        replace(one, answers={style: (text if n % 4 < 2 else "never so",)})
        for n, (one, text) in enumerate(zip(examples, own, strict=True))
    ]
    report = predictor.calibrate(examples, max_length=3)
    assert predictor.calibration.right == "rouge_l"
    assert [*predictor.calibration.styles] == [style]
    assert report.is_right.tolist() == [n % 4 < 2 for n in range(20)]
    assert "right: ROUGE-L of at least 0.5." in report.markdown()
    assert f"style {style}: slope {predictor.calibration.of(style).slope}, " in report.markdown()


def test_each_style_has_its_map_and_threshold():
    predictor, inputs = make_predictor(), ASKED | {"style": ["qa", "nlg", "qa"]}
    options = {"num_return_sequences": 4, "num_beams": 4, "max_length": 3}
    with eagerly():
        raw = predictor.run("serving_default", inputs, **options)
        nlg = Calibration(slope=0.1, intercept=2.0, threshold=0.2)
        predictor.calibration = Calibration.from_json(replace(MAP, styles={"nlg": nlg}).to_json())
        outputs = predictor.run("serving_default", inputs, **options)
    maps = [(0.5, -1.0), (0.1, 2.0), (0.5, -1.0)]
    expected = [mapped(p, *values) for p, values in zip(certain(raw), maps, strict=True)]
    np.testing.assert_allclose(outputs["probability"], expected, rtol=1e-4)
    np.testing.assert_allclose(outputs["probabilities"][:, 0], expected, rtol=1e-4)
    assert outputs["is_confident"].tolist() == [False, True, False]


def test_the_map_of_a_style_is_fitted_on_its_answers():
    rng = np.random.default_rng(0)
    raw, right = rng.uniform(0.01, 0.99, 90), rng.random(90) < 0.5
    style = np.array(["qa"] * 40 + ["nlg"] * 40 + ["few"] * 10, object)
    none = np.full(90, None)
    found = Calibration.fit(raw, right, style, 0.5, "rouge_l")
    assert [*found.styles] == ["nlg", "qa"]
    alone = Calibration.fit(raw[40:80], right[40:80], none[40:80], 0.5, "rouge_l")
    assert found.styles["nlg"] == alone and alone.threshold != found.threshold
    every = Calibration.fit(raw, right, none, 0.5, "rouge_l")
    assert found.of("few") == replace(every, styles=found.styles)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 90}, r"above 0 and at most 1. Received: precision=90"),
        ({}, r"at least 20 answers .* are known. Received: 1$"),
        (None, r"not calibrated. Received: calibration=None"),
    ],
)
def test_errors(reader, options, message, without_graphs):
    examples = [Example("1", "Who?", ("The owl.",), {"qa": ("owl",)})]
    with pytest.raises(ValueError, match=message):
        if options is None:
            reader.measure_calibration(examples)
        reader.calibrate(examples, **(options or {}))


@pytest.mark.parametrize("answers", [{"qa": ("a bee",)}, {}])
def test_answers_that_are_all_wrong_are_no_calibration(reader, examples, answers, without_graphs):
    wrong = [replace(one, answers=answers, answerable=bool(answers)) for one in examples]
    with pytest.raises(ValueError, match=r"right and wrong answers.* 0 of them right"):
        reader.calibrate(wrong)
    assert reader.calibration is None

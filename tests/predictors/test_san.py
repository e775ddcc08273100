"""Spans from strings: exact words of the passage, windows, several passages, tags, export."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from tests.predictors.reader_reference import comparable
from tests.predictors.small import SAN_OPTIONS, san
from tests.running import eagerly
from tests.serving.predictors import assert_batched_as_alone, assert_same_outputs, run_loader
from tests.trained import made_once
from tfmrc import Predictor, cli, preprocessing, text
from tfmrc.data import Example
from tfmrc.predictors import SANPredictor, ensemble_predictor

pytestmark = pytest.mark.usefixtures("exports_once")

PASSAGE = "Mt. Brannoch is 1,310.5 metres (4,300 ft) high; Éala's mill isn't."
LONG = " ".join(f"Word{n}, 川 and {n}." for n in range(12))
REQUEST = {
    "question": ["How high is Mt. Brannoch?", "Who named the mill?", "", "?", "Who"],
    "passages": [[PASSAGE, ""], [LONG, ""], ["", "A hill."], ["", ""], ["hill", ""]],
}


def run(predictor, questions, passages, **options):
    inputs = {"question": questions, "passages": passages}
    with eagerly():
        return predictor.run("serving_default", inputs, **options)


@pytest.fixture(scope="module")
def predictor():
    return san()


@pytest.fixture(scope="module")
def arrays(predictor):
    return run(predictor, REQUEST["question"], REQUEST["passages"], **SAN_OPTIONS)


def test_answers_are_the_exact_characters(arrays):
    for row, passages in enumerate(REQUEST["passages"]):
        best = arrays["probabilities"][row]
        assert (np.diff(best) <= 0).all()
        seen = set()
        for k in range(3):
            start, end = arrays["starts"][row, k], arrays["ends"][row, k]
            answer = arrays["answers"][row, k].decode()
            passage = passages[arrays["answer_passages"][row, k]]
            assert answer == (passage[start:end] if start >= 0 else "")
            assert (start >= 0) == (best[k] > 0)
            if start >= 0:
                assert (start, end) not in seen
                seen.add((start, end))
    np.testing.assert_array_equal(arrays["answer"], arrays["answers"][:, 0])
    assert arrays["passage"].tolist() == [0, 0, 1, -1, 0]
    assert arrays["answer"][3] == b"" and arrays["start"][3] == -1
    assert arrays["answer"][4] == b"hill" and (arrays["starts"][4, 1:] == -1).all()


def spans_of_windows(preprocessor, models):
    """All spans of `LONG` by the mean of the models' probabilities, best first."""
    source = preprocessor.source(REQUEST["question"][1:2], [LONG], limit=1000)
    starts, ends = source["starts"].numpy()[0], source["ends"].numpy()[0]
    firsts = range(0, len(starts) - 10, 10)
    x = {}
    for name in preprocessor.model_inputs:
        values = source[name].numpy()
        parts = [values if name == "question_ids" else values[:, f : f + 20] for f in firsts]
        size = max(part.shape[1] for part in parts)
        filled = [
            np.pad(part, [(0, 0), (0, size - part.shape[1])] + [(0, 0)] * (part.ndim - 2))
            for part in parts
        ]
        x[name] = tf.constant(np.concatenate(filled))
    single = [model.find(x) for model in models]
    found = {n: np.mean([np.exp(one[n]) for one in single], axis=0) for n in single[0]}
    scores = {}
    for window, first in enumerate(firsts):
        length = min(20, len(starts) - first)
        for i in range(length):
            for j in range(i, min(i + 4, length)):
                place = int(starts[first + i]), int(ends[first + j])
                score = found["begin"][window, i] * found["end"][window, j] / len(firsts)
                scores[place] = max(score, scores.get(place, 0.0))
    ranked = sorted(scores.items(), key=lambda found: found[1])
    texts = {comparable(LONG[slice(*place)]): (place, score) for place, score in ranked}
    return sorted(texts.values(), key=lambda found: -found[1])  # the best place of each text


def assert_best(arrays, row, spans):
    places, scores = zip(*spans[:3], strict=True)
    assert tuple(zip(arrays["starts"][row], arrays["ends"][row], strict=True)) == places
    np.testing.assert_allclose(arrays["probabilities"][row], scores, rtol=1e-3)


def test_the_windows_of_a_passage_share_its_probability(predictor, arrays):
    assert_best(arrays, 1, spans_of_windows(predictor.preprocessor, [predictor.model]))


def test_an_ensemble_reads_by_the_mean_of_its_members(tmp_path):
    first, second = (san(seed, model={"num_layers": 1}) for seed in (1, 2))
    together = ensemble_predictor([first, second])
    asked = REQUEST["question"][1:2], [[LONG]]
    with eagerly():
        found = run(together, *asked, **SAN_OPTIONS)
        assert_best(found, 0, spans_of_windows(first.preprocessor, [first.model, second.model]))
        alone = run(first, *asked, **SAN_OPTIONS)["probability"]
        assert found["probability"] != pytest.approx(alone, rel=1e-3)
        again = Predictor.load(together.save(tmp_path / "predictor"))
        np.testing.assert_array_equal(
            run(again, *asked, **SAN_OPTIONS)["answers"], found["answers"]
        )
    other = preprocessing.SANPreprocessor(first.preprocessor.vocabulary, answer_length=4)
    with pytest.raises(ValueError, match="same preprocessor"):
        ensemble_predictor([first, SimpleNamespace(preprocessor=other, model=first.model)])


def test_a_ranker_weighs_the_passages(predictor):
    passages = ["A hill.", PASSAGE, "The mill is high."]
    with eagerly():
        single = [predictor.answer(question="How high?", passages=text) for text in passages]
        for chosen in range(3):
            relevance = [0.0] * 3
            relevance[chosen] = 0.5
            predictor.ranker = lambda q, p, r=relevance: r
            answer = predictor.answer(question="How high?", passages=passages)
            predictor.ranker = None
            assert (answer.passage, answer.text) == (chosen, single[chosen].text)
            assert answer.probability == pytest.approx(single[chosen].probability, rel=1e-3)
        examples = [Example("1", "How high?", tuple(passages)), Example("2", "Who?", ())]
        first, second = predictor.predict(examples, batch_size=2)
        together = predictor.answer(question="How high?", passages=passages)
    assert first.text == together.text and second.text == "" and second.probability == 0


def test_equal_passages_answer_as_one(predictor):
    texts = [PASSAGE, "A hill."]
    found = run(predictor, ["How high?"] * 2, [[PASSAGE], [PASSAGE] * 3], **SAN_OPTIONS)
    np.testing.assert_allclose(found["probabilities"][1], found["probabilities"][0], rtol=1e-5)
    assert found["answers"][1].tolist() == found["answers"][0].tolist()
    answer = predictor.answer(question="How high?", passages=texts, num_return_sequences=9)
    assert len({str(each) for each in (answer, *answer.alternatives)}) == 9


def test_steps_on_request(predictor):
    request = {"question": ["How high?", "How?"], "passages": [["", PASSAGE], ["", ""]]}
    found = predictor.run("serving_default", request, num_steps=2, return_steps=True)  # a graph
    assert found["step_begin"].shape[:2] == (2, 2) and not found["step_begin"][1].any()
    begin, end = (found[f"step_{name}"].mean(axis=1)[0] for name in ("begin", "end"))
    i = int(np.flatnonzero(found["word_starts"][0] == found["start"][0])[0])
    j = int(np.flatnonzero(found["word_ends"][0] == found["end"][0])[0])
    assert begin[i] * end[j] == pytest.approx(found["probability"][0], rel=1e-3)
    np.testing.assert_allclose(found["step_weights"], [[0.5, 0.5], [0.0, 0.0]], rtol=1e-6)


@pytest.fixture(scope="module")
def exported(predictor, tmp_path_factory):
    def export(path):
        predictor.export(path / "1", **SAN_OPTIONS)

    return made_once(tmp_path_factory, "SAN", export) / "1"


@pytest.mark.slow
def test_a_process_without_tfmrc_finds_the_same(exported, arrays):
    uneven = {"question": ["Who?"], "passages": [["A hill."], ["A mill."]]}
    found, refused = run_loader(exported, [REQUEST, uneven])
    assert_same_outputs(found["outputs"], arrays, rtol=1e-3)
    assert refused["code"] == 3 and "questions and passages" in refused["error"]


def test_the_command_exports_a_run_that_holds_a_predictor(predictor, capsys, tmp_path, monkeypatch):
    exports = []

    def export(self, path, *, metrics, overwrite):
        exports.append((type(self), self.metrics, path, overwrite))
        return path

    monkeypatch.setattr(SANPredictor, "export", export)
    monkeypatch.chdir(tmp_path)
    predictor.save(tmp_path / "stochastic-1" / "predictor", metrics={"f1": 0.5})
    for version in ("4", "\N{ARABIC-INDIC DIGIT NINE}", "20261126123456789012", "5-backup"):
        (tmp_path / "savedmodels" / "stochastic-1" / version).mkdir(parents=True)
    to = tmp_path / "models" / "san" / "3"
    assert cli.main(["export", "stochastic-1", "--to", str(to)]) == 0
    assert f"Exported {to}" in capsys.readouterr().out
    assert cli.main(["export", "stochastic-1/predictor"]) == 0
    assert cli.main(["export", "stochastic-1", "--overwrite"]) == 0
    names = ["models/san/3", "savedmodels/predictor/1", "savedmodels/stochastic-1/5"]
    found = [(kind, metrics, path.absolute()) for kind, metrics, path, _ in exports]
    assert found == [(SANPredictor, {"f1": 0.5}, tmp_path / name) for name in names]
    assert [overwrite for *_, overwrite in exports] == [False, False, True]


def test_requests_of_a_server_s_batch_are_answered_as_alone(exported):
    rows = zip(*REQUEST.values(), strict=True)
    alone = [{"question": [question], "passages": [passages]} for question, passages in rows]
    assert_batched_as_alone(exported, [*alone, REQUEST])


def tag(questions, passages):
    words = text.Tokenizer().tokenize
    return {
        "passage_pos": [
            " ".join("NUM" if word[:1].isdigit() else "WORD" for word in row)
            for row in (t.numpy().tolist() for t in words(list(passages)).surface)
        ]
    }


def test_a_model_with_tags_asks_for_them_everywhere(tmp_path):
    with pytest.raises(ValueError, match="tagger=None"):
        san(pos_tags=("NUM",), model={"tagger": None})
    with pytest.raises(ValueError, match="'rules 1'"):
        san(pos_tags=("NUM",)).answer(question="How high?", passages=PASSAGE)
    predictor = san(pos_tags=("NUM",), tagger=tag)
    passages = [PASSAGE, "A hill."]
    given = {"question": ["How high?"], "passages": [passages]}
    tags = {name: [values] for name, values in tag(["How high?"], passages).items()}
    with eagerly():
        answer = predictor.answer(question="How high?", passages=passages)
        assert predictor.run("serving_default", given | tags)["answer"][0].decode() == answer.text
    path = predictor.export(tmp_path / "tags" / "1")
    signature = tf.saved_model.load(str(path)).signatures["serving_default"]
    assert set(signature.structured_input_signature[1]) == {"question", "passages", "passage_pos"}
    found = signature(**{name: tf.constant(values) for name, values in (given | tags).items()})
    assert found["answer"].numpy()[0].decode() == answer.text
    card = json.loads((path / "assets.extra" / "model_card.json").read_text())
    assert card["model"]["tagger"] == "rules 1"


def test_bad_input_gives_an_answer(predictor):
    odd = ["a" * 5000, "\x00", b"\xff\xfe hill", "hill " * 300, "   "]
    found = run(predictor, ["How?"] * 5, [[text] for text in odd])
    assert np.isfinite(found["probability"]).all()
    assert found["start"][4] == -1

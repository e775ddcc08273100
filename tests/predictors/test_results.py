"""Results: read from outputs, described, as JSON, in a notebook."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tfmrc.predictors import GeneratedText, Result, Word
from tfmrc.predictors.exported.queries import read_result

OUTPUTS = {
    "answer": np.array([b"8,611 m", b"", b"\xff"], object),
    "passage": np.array([-1, -1, 0], np.int32),
    "num_words": np.array([2, 0, 1], np.int32),
    "words": np.array([[b"8,611", b"m"], [b"", b""], [b"\xff", b""]], object),
    "sources": np.array([[b"passage", b"vocabulary"], [b"", b""], [b"question", b""]], object),
    "word_passages": np.array([[1, -1], [-1, -1], [-1, -1]], np.int32),
    "word_starts": np.array([[7, -1], [-1, -1], [0, -1]], np.int32),
    "word_ends": np.array([[12, -1], [-1, -1], [1, -1]], np.int32),
    "source_texts": np.array([[b"8,611", b""], [b"", b""], ["\ufffd".encode(), b""]], object),
    "mixture": np.zeros([3, 2, 3], np.float32) + [0.5, 0.25, 0.25],
    "answers": np.array([[b"8,611 m", b"8,611"], [b"", b"no"], [b"\xff", b""]], object),
    "scores": np.array([[-0.5, -1.5], [-9.0, -10.0], [-1.0, -2.0]], np.float32),
    "probabilities": np.array([[0.75, 0.5], [0.0, 0.0], [0.5, 0.0]], np.float32),
    "log_probabilities": np.array([[-0.25, -0.5], [-9.0, -10.0], [-1.0, -2.0]], np.float32),
    "finished": np.array([[True, True], [True, True], [False, True]]),
    "relevance": np.array([[0.25, 0.75], [0.0, 0.0], [1.0, 0.0]], np.float32),
    "answerable_probability": np.array([0.875, 0.125, 0.5], np.float32),
    "truncated": np.array([False, False, True]),
}
MIXTURE = (0.5, 0.25, 0.25)


def as_json(value):
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@pytest.mark.parametrize("form", ["arrays", "nested lists of a REST reply"])
def test_a_row_of_outputs_becomes_a_text_with_its_words(form):
    outputs = OUTPUTS
    if form != "arrays":
        outputs = {name: as_json(values.tolist()) for name, values in OUTPUTS.items()}
    shared = {"relevance": (0.25, 0.75), "answerable_probability": 0.875}
    other = GeneratedText("8,611", probability=0.5, log_probability=-0.5, score=-1.5, **shared)
    words = (
        Word("8,611", "passage", 1, 7, 12, MIXTURE, "8,611"),
        Word("m", "vocabulary", None, None, None, MIXTURE),
    )
    answer = read_result(outputs, 0)
    assert answer == GeneratedText(
        "8,611 m", probability=0.75, log_probability=-0.25, score=-0.5, words=words,
        alternatives=(other,), **shared,
    )  # fmt: skip
    found = json.loads(json.dumps(answer.to_json()))
    assert found.pop("alternatives") == [other.to_json() | {"relevance": [0.25, 0.75]}]
    assert [word["text"] for word in found.pop("words")] == ["8,611", "m"]
    assert found == {
        "text": "8,611 m", "probability": 0.75, "log_probability": -0.25, "score": -0.5,
        "is_confident": True, "truncated": False, "finished": True, "relevance": [0.25, 0.75],
        "answerable_probability": 0.875,
    }  # fmt: skip


def test_an_empty_answer_and_one_of_strange_bytes():
    empty = read_result(OUTPUTS, 1, num_passages=1)
    assert (empty.text, empty.words, empty.relevance, empty.passage) == ("", (), (0.0,), None)
    assert empty.headline == "No answer in these passages."
    assert replace(empty, answer="an owl").headline == ""
    unsure = read_result(OUTPUTS | {"is_confident": np.array([False] * 3)}, 0)
    assert not unsure.is_confident and unsure.text == "8,611 m"
    assert unsure.describe().startswith("No confident answer. Best guess: 8,611 m (0.75)\n")
    assert "No confident answer. Best guess: 8,611 m (0.75)" in unsure._repr_html_()
    strange = read_result(OUTPUTS, 2)
    assert strange.words == (Word("\ufffd", "question", None, 0, 1, MIXTURE, "\ufffd"),)
    assert strange.passage == 0
    assert "the input was longer than the model reads and was cut" in strange.describe()
    assert "the text was cut at the greatest length" in strange.describe()


SPANS = {
    "answer": [b"owl"], "start": [3], "end": [6], "passage": [1], "probability": [0.5],
    "answers": [[b"owl", b"mill", b""]], "starts": [[3, 0, -1]], "ends": [[6, 4, -1]],
    "answer_passages": [[1, 0, -1]], "probabilities": [[0.5, 0.25, 0.0]], "truncated": [True],
}  # fmt: skip


def test_a_row_of_outputs_becomes_a_span():
    best = read_result(SPANS, 0)
    assert (best.text, best.passage, best.start, best.end) == ("owl", 1, 3, 6)
    assert best.log_probability == pytest.approx(np.log(0.5)) and best.truncated
    assert [(other.text, other.passage) for other in best.alternatives] == [("mill", 0)]
    none = SPANS | {"answer": [b""], "start": [-1], "end": [-1], "passage": [-1]}
    none |= {"starts": [[-1, -1, -1]]}
    found = read_result(none | {"probability": [0.0], "answerable_probability": [0.25]}, 0)
    assert (found.text, found.passage, found.probability) == ("", -1, 0.0)
    assert found.headline == "No answer in these passages."
    assert found.alternatives == () and found.answerable_probability == 0.25


WORDS = (
    Word("<b>8,611</b>", "passage", 1, 7, 12, (0.25, 0.0, 0.75), "8,611"),
    Word("metres", "vocabulary", None, None, None, (0.9, 0.05, 0.05)),
)


def test_a_notebook_shows_texts_as_texts():
    other = Result("a & b", probability=0.1)
    found = Result("an <owl>", probability=0.5, alternatives=(other,))._repr_html_()
    assert "an &lt;owl&gt;" in found and "a &amp; b (0.1)" in found and "<owl>" not in found
    found = GeneratedText("x", words=WORDS, relevance=(0.125, 0.875))._repr_html_()
    assert "&lt;b&gt;8,611" in found and "<b>8,611" not in found and "0.12 0.88" in found
    assert "passage 2, characters 7-12, written" in found

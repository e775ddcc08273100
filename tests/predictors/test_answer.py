import json

import numpy as np
import pytest

from tfmrc.predictors import Answer, Word

OUTPUTS = {
    "answer": np.array([b"8,611 m", b"", b"\xff"], object),
    "num_words": np.array([2, 0, 1], np.int32),
    "words": np.array([[b"8,611", b"m"], [b"", b""], [b"\xff", b""]], object),
    "sources": np.array([[b"passage", b"vocabulary"], [b"", b""], [b"question", b""]], object),
    "passage_indices": np.array([[1, -1], [-1, -1], [-1, -1]], np.int32),
    "starts": np.array([[7, -1], [-1, -1], [0, -1]], np.int32),
    "ends": np.array([[12, -1], [-1, -1], [1, -1]], np.int32),
    "source_texts": np.array([[b"8,611", b""], [b"", b""], ["\ufffd".encode(), b""]], object),
    "mixture": np.zeros([3, 2, 3], np.float32) + [0.5, 0.25, 0.25],
    "score": np.array([-0.5, -9.0, -1.0], np.float32),
    "probability": np.array([0.75, 0.0, 0.5], np.float32),
    "log_probability": np.array([-0.25, -9.0, -1.0], np.float32),
    "finished": np.array([True, True, False]),
    "relevance": np.array([[0.25, 0.75], [0.0, 0.0], [1.0, 0.0]], np.float32),
    "answerable_probability": np.array([0.875, 0.125, 0.5], np.float32),
    "truncated": np.array([False, False, True]),
    "alternatives": np.array([[b"8,611"], [b"no"], [b""]], object),
    "alternative_scores": np.array([[-1.5], [-10.0], [-2.0]], np.float32),
    "alternative_log_probabilities": np.array([[0.0], [-10.0], [-2.0]], np.float32),
}
MIXTURE = (0.5, 0.25, 0.25)


def as_json(value):
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


@pytest.mark.parametrize("form", ["arrays", "nested lists of a REST reply"])
def test_a_row_of_outputs_becomes_an_answer(form):
    outputs = OUTPUTS
    if form != "arrays":
        outputs = {name: as_json(values.tolist()) for name, values in OUTPUTS.items()}
    answer = Answer.from_outputs(outputs, 0)
    assert answer == Answer(
        "8,611 m",
        probability=0.75,
        log_probability=-0.25,
        words=(
            Word("8,611", "passage", 1, 7, 12, MIXTURE, "8,611"),
            Word("m", "vocabulary", None, None, None, MIXTURE),
        ),
        relevance=(0.25, 0.75),
        answerable_probability=0.875,
        score=-0.5,
        alternatives=(
            Answer(
                "8,611",
                probability=1.0,
                log_probability=0.0,
                relevance=(0.25, 0.75),
                answerable_probability=0.875,
                score=-1.5,
            ),
        ),
    )
    assert str(answer) == "8,611 m"
    assert json.loads(json.dumps(answer.to_json())) == {
        "text": "8,611 m",
        "probability": 0.75,
        "log_probability": -0.25,
        "truncated": False,
        "finished": True,
        "alternatives": [
            {
                "text": "8,611",
                "probability": 1.0,
                "log_probability": 0.0,
                "truncated": False,
                "finished": True,
                "relevance": [0.25, 0.75],
                "answerable_probability": 0.875,
                "score": -1.5,
            }
        ],
        "words": [
            {
                "text": "8,611",
                "source": "passage",
                "passage": 1,
                "start": 7,
                "end": 12,
                "mixture": list(MIXTURE),
                "source_text": "8,611",
            },
            {"text": "m", "source": "vocabulary", "mixture": list(MIXTURE)},
        ],
        "relevance": [0.25, 0.75],
        "answerable_probability": 0.875,
        "score": -0.5,
    }


def test_an_empty_answer_and_one_of_strange_bytes():
    empty = Answer.from_outputs(OUTPUTS, 1, num_passages=1)
    assert (empty.text, empty.words, empty.relevance) == ("", (), (0.0,))
    assert empty.describe().startswith("(no words)\n")
    strange = Answer.from_outputs(OUTPUTS, 2)
    assert strange.words == (Word("\ufffd", "question", None, 0, 1, MIXTURE, "\ufffd"),)
    assert "the input was longer than the model reads and was cut" in strange.describe()
    assert "the text was cut at the greatest length" in strange.describe()


def test_a_model_without_a_decoder_gives_relevance_alone():
    outputs = {name: OUTPUTS[name] for name in ("relevance", "truncated")}
    assert Answer.from_outputs(outputs, 2) == Answer("", relevance=(1.0, 0.0), truncated=True)

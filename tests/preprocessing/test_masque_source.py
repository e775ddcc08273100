"""Model inputs by hand; input ids: the 4, king 5, met 6, queen 7, and 8."""

import numpy as np
import pytest
import tensorflow as tf

from tests.text.helpers import preprocessor, text_of


def lists(source):
    return {name: tensor.numpy().tolist() for name, tensor in source.items()}


def test_ids():
    # Generable: the, king, met (ids below 7). "queen" and "and" are known but must be copied.
    source = preprocessor().source(
        ["Who met Ada, the Queen?"], [["The queen Ada and K2", "ada MET the k2 and K2."]], ["nlg"]
    )
    result = lists(source)
    # who met ada , the queen ?
    assert result["question_ids"] == [[1, 6, 1, 1, 4, 7, 1]]
    assert result["passage_ids"] == [[[2, 4, 7, 1, 8, 1, 0, 0], [2, 1, 6, 4, 1, 8, 1, 1]]]
    # Positions: question 0-6, passage 1 7-14, passage 2 15-22. who 0, ada 2, "," 3, queen 5, ? 6,
    # and 11, k2 12, "." 22.
    assert result["extended_ids"] == [
        [7, 6, 9, 10, 4, 12, 13]
        + [0, 4, 12, 9, 18, 19, 0, 0]
        + [0, 9, 6, 4, 19, 18, 19, 29]
    ]  # fmt: skip
    assert result["style_ids"] == [1]
    assert result["truncated"] == [False]
    assert text_of(source["words"])[0][:13] == [
        "Who", "met", "Ada", ",", "the", "Queen", "?", "", "The", "queen", "Ada", "and", "K2"
    ]  # fmt: skip
    assert text_of(source["compared"])[0][15:] == ["", "ada", "met", "the", "k2", "and", "k2", "."]
    assert result["starts"][0] == [0, 4, 8, 11, 13, 17, 22] + [0, 0, 4, 10, 14, 18, 0, 0] + [
        0, 0, 4, 8, 12, 15, 19, 21
    ]  # fmt: skip
    assert result["ends"][0][15:] == [0, 3, 7, 11, 14, 18, 21, 22]
    assert {tensor.dtype for name, tensor in source.items() if name.endswith("ids")} == {tf.int32}


@pytest.mark.parametrize("passages", [[[""]], [["", ""]], np.zeros([1, 0], "S1")])
def test_nothing_at_all_has_length_one(passages):
    result = lists(preprocessor().source([""], passages, ["qa"]))
    assert result["question_ids"] == [[0]]
    assert result["passage_ids"] == [[[0], [0]]]
    assert result["extended_ids"] == [[0, 0, 0]]
    assert result["truncated"] == [False]


def test_any_bytes_and_emoji():
    thumb = "👍🏽".encode()
    source = preprocessor().source([b"\xff " + thumb], [[b"\xe4\xbd " + thumb + b" \xff"]], ["qa"])
    assert source["extended_ids"].numpy().tolist() == [[7, 8, 0, 7, 8, 7, 0, 0, 0, 0]]
    assert text_of(source["words"])[0][3:6] == ["\ufffd", "👍🏽", "\ufffd"]
    assert source["starts"].numpy()[0, 3:6].tolist() == [0, 2, 5]

"""Tokens of pathological texts: with quadratic time or memory none of these would end."""

import pytest
import tensorflow as tf

from tfmrc.text import Tokenizer
from tfmrc.text.occurrence import first_occurrence
from tfmrc.text.words.answer_candidates import answer_candidates
from tfmrc.text.words.sentences import sentence_numbers

SIZE = 100_000
SHAPES = {
    "addresses": "www.",
    "schemes of words": "http://a",
    "one word": "a",
    "spaces": " ",
    "letters and marks": "e\u0323\u0301",
    "abbreviations": "Mr.",
    "joined emoji": "\U0001f468\u200d",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_tokens_hold_every_character_once(shape):
    text = SHAPES[shape] * (SIZE // len(SHAPES[shape]))
    tokens = Tokenizer().tokenize([text, "and"])
    assert tf.strings.reduce_join(tokens.surface[0]).numpy().decode() == "".join(text.split())
    assert tokens.surface[1].numpy().tolist() == [b"and"]
    starts, ends = tokens.starts[0].numpy(), tokens.ends[0].numpy()
    assert (starts < ends).all() and (ends[:-1] <= starts[1:]).all()
    numbers = sentence_numbers([text, "and"], tokens).numpy()
    assert len(numbers) == len(starts) + 1


@pytest.mark.parametrize("size", [1, 28])
def test_marks_in_any_order_are_compared_as_equal(size):
    words = ["é" + "\u0323" * size, "e" + "\u0323" * size + "\u0301", "É" + "\u0323" * size]
    compared = Tokenizer().tokenize(words).compared.values.numpy()
    assert len(compared) == 3 and len(set(compared)) == 1


@pytest.mark.parametrize("size", [30, 31, 500])
def test_words_with_more_marks_than_any_language_has_equal_themselves(size):
    words = ["e" + "\u0301" * size, "E" + "\u0301" * size, "e" + "\u0301" * (size + 1)]
    first, upper, longer = Tokenizer().tokenize(words).compared.values.numpy()
    assert first == upper != longer


def test_answers_are_found_in_long_texts():
    text = "Ada " * 100_000
    assert first_occurrence([text + "Bo"], ["Bo"]).numpy().tolist() == [400_000]
    result = answer_candidates(Tokenizer(), [text, "Bo 5"], limit=3)
    assert {*result.row.numpy()} == {0, 1}

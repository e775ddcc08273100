import pytest
import tensorflow as tf

from tests.text.helpers import surfaces, text_of
from tfmrc.text import Vocabulary, join_words
from tfmrc.text.words.detokenize import words_of_ids

SAME = [
    "It doesn't cost $5 (well-known).",
    'He said, "yes," and left.',
    'the "Doctor"',
    "the dogs' tails",
    "a 'fine' day",
    "the owls' nest, the dogs' house and the CATS' bed",
    "a 'fine' house of the owls'",
    "he says 'the owls' and 'the dogs'",
    "John's 1,000.5 men; 50% of them: who?",
    "1990-91 and 1914–18",
    "and/or 9/11",
    "yes—no",
    "大元は 2024",
    "U.S. and e.g. this...",
    "they're I'm we've you'll he'd can't",
    "",
]


@pytest.mark.parametrize("text", SAME)
def test_tokens_are_joined_as_they_were_written(text):
    assert join_words(tf.constant(surfaces(text), tf.string)).numpy().decode() == text


def test_rows_do_not_see_one_another():
    rows = [['"', "a", ""], ["b", '"', "c"], ["", "", ""], ["$", "", "5"], ["-", "d", "-"]]
    assert text_of(join_words(rows)) == ['"a', 'b" c', "", "$5", "- d -"]


def test_any_number_of_axes():
    assert text_of(join_words([[["a", "."], ["", "b"]]])) == [["a.", "b"]]
    assert join_words(tf.zeros([2, 3, 0], tf.string)).shape == (2, 3)
    assert join_words(tf.zeros([0, 3], tf.string)).shape == (0,)


WORDS = ["the", "king", "rare"]
SOURCE = [["Who", "", "K2"], ["ß", "", ""]]


def test_words_of_ids():
    ids = [[4, 8, 1, 5, 3, 4], [6, 2, 3, 0, 8, 0]]
    result = words_of_ids(ids, tf.constant(SOURCE), Vocabulary(WORDS), 6)
    assert text_of(result) == [["the", "K2", "[UNK]", "king", "", ""], ["ß", "", "", "", "", ""]]


def test_words_of_several_hypotheses():
    ids = [[[4, 3], [8, 3]], [[6, 5], [3, 4]]]
    result = words_of_ids(ids, tf.constant(SOURCE), Vocabulary(WORDS), 6)
    assert text_of(result) == [[["the", ""], ["K2", ""]], [["ß", "king"], ["", ""]]]

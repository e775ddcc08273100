"""Decoder inputs, targets and what comes back from ids; generable: the 4, king 5, met 6."""

from functools import cache

import tensorflow as tf

from tests.text.helpers import preprocessor, text_of


@cache
def built():
    return preprocessor(answer_length=3)


def source():
    return built().source(
        ["Who met K2?", "and"], [["the Queen", ""], ["k2 k2", "Queen"]], ["qa", "nlg"]
    )


def test_targets():
    # Source: J = 4, L = 3, S = 10. K2 is position 2 in the first, 5 in the second example.
    target = built().target(["The queen K2", "k2 everest"], source())
    assert target["answer_ids"].numpy().tolist() == [[2, 4, 7, 1], [2, 1, 1, 0]]
    assert target["target_ids"].numpy().tolist() == [[4, 7 + 6, 7 + 2, 3], [7 + 5, 1, 3, 0]]
    assert target["answer_ids"].dtype == target["target_ids"].dtype == tf.int32


def test_bucket_ids_are_read_and_extended_ids_are_written():
    built = preprocessor(num_oov_buckets=1)
    result = built.source(["k2"], [["a"]], ["qa"])
    target = built.target(["k2 x9 queen king"], result)
    assert target["answer_ids"].numpy().tolist() == [[2, 9, 9, 7, 5]]
    assert target["target_ids"].numpy().tolist() == [[7, 1, 1, 5, 3]]


def test_ids_come_back_as_the_words_of_the_source():
    result = source()
    target = built().target(["THE queen k2", "k2 everest"], result)
    answer, words = built().detokenize(target["target_ids"], result)
    assert text_of(answer) == ["the Queen K2", "k2 [UNK]"]
    assert text_of(words) == [["the", "Queen", "K2", ""], ["k2", "[UNK]", "", ""]]


def test_several_hypotheses_of_each_example():
    answer, words = built().detokenize([[[9, 3], [4, 3]], [[12, 5], [3, 0]]], source())
    assert text_of(answer) == [["K2", "the"], ["k2 king", ""]]
    assert words.shape == (2, 2, 2)

"""Extended ids against a plain Python reference, and by hand."""

import numpy as np
import tensorflow as tf
from hypothesis import given, settings, strategies as st

from tfmrc.text.extended_ids import first_positions, source_extended_ids, target_extended_ids

SIZE = 7  # generable: the words 4, 5 and 6, besides the special ones
IDS = {"the": 4, "of": 5, "king": 6, "rare": 7, "seldom": 8}
WORDS = st.sampled_from([*IDS, "k2", "x9", ""])
EXAMPLES = st.lists(
    st.tuples(st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=5)), min_size=1, max_size=4
)


def ids_of(words):
    return tf.constant([IDS.get(word, 1) for word in words], tf.int32)


def test_first_positions_of_nothing():
    result = first_positions(
        tf.zeros([0], tf.int64), tf.zeros([0], tf.string), tf.zeros([0], tf.int32)
    )
    assert result.shape == (0,)


def test_words_with_the_same_id_are_told_apart_by_their_letters():
    words = ["k2", "x9", "k2", "x9"]
    result = source_extended_ids([1, 1, 1, 1], words, [0, 0, 0, 0], [0, 1, 2, 3], SIZE)
    assert result.numpy().tolist() == [7, 8, 7, 8]


def test_known_words_beyond_the_generable_ones_are_copied():
    result = source_extended_ids(
        [8, 7, 8, 6], ["seldom", "rare", "seldom", "king"], [0] * 4, [3, 5, 9, 10], SIZE
    )
    assert result.numpy().tolist() == [10, 12, 10, 6]


def test_bucket_rows_are_copied():
    result = source_extended_ids([9, 9], ["k2", "x9"], [0, 0], [0, 1], SIZE)
    assert result.numpy().tolist() == [7, 8]


def test_target_words_come_from_their_own_example():
    source_ids = [[4, SIZE + 1, 0], [SIZE, 0, SIZE + 2]]
    source_words = [["the", "k2", ""], ["x9", "", "rare"]]
    result = target_extended_ids(
        [1, 1, 7, 7, 1, 4],
        ["k2", "x9", "rare", "rare", "x9", "the"],
        [0, 0, 0, 1, 1, 1],
        source_ids,
        source_words,
        SIZE,
    )
    assert result.numpy().tolist() == [SIZE + 1, 1, 1, SIZE + 2, SIZE, 4]


@settings(max_examples=40, deadline=None)
@given(EXAMPLES)
def test_like_the_plain_definition(examples):
    longest = max(1, *(len(source) for source, _ in examples))
    group, words, positions, expected = [], [], [], []
    dense_ids = np.zeros([len(examples), longest], np.int32)
    dense_words = np.full([len(examples), longest], "", object)
    target_group, target_words, target_expected = [], [], []
    for row, (source, target) in enumerate(examples):
        for position, word in enumerate(source):
            group.append(row)
            words.append(word)
            positions.append(position)
            generable = IDS.get(word, 99) < SIZE
            expected.append(IDS[word] if generable else SIZE + source.index(word))
            dense_ids[row, position] = expected[-1]
            dense_words[row, position] = word
        for word in target:
            target_group.append(row)
            target_words.append(word)
            if IDS.get(word, 99) < SIZE:
                target_expected.append(IDS[word])
            else:
                target_expected.append(SIZE + source.index(word) if word in source else 1)
    result = source_extended_ids(
        ids_of(words),
        tf.constant(words, tf.string),
        tf.constant(group, tf.int32),
        tf.constant(positions, tf.int32),
        SIZE,
    )
    assert result.numpy().tolist() == expected
    result = target_extended_ids(
        ids_of(target_words),
        tf.constant(target_words, tf.string),
        tf.constant(target_group, tf.int32),
        dense_ids,
        dense_words.tolist(),
        SIZE,
    )
    assert result.numpy().tolist() == target_expected

"""Extended ids against a plain Python reference."""

import numpy as np
import tensorflow as tf
from hypothesis import given, settings, strategies as st

from tfmrc.text.extended_ids import source_extended_ids, target_extended_ids

SIZE = 7  # generable: the words 4, 5 and 6, besides the special ones
IDS = {"the": 4, "of": 5, "king": 6, "rare": 7, "seldom": 8}
WORDS = st.sampled_from([*IDS, "k2", "x9", ""])
EXAMPLES = st.lists(
    st.tuples(st.lists(WORDS, max_size=8), st.lists(WORDS, max_size=5)), min_size=1, max_size=4
)


def ids_of(words):
    return tf.constant([IDS.get(word, 1) for word in words], tf.int32)


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

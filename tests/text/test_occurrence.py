"""Finding a string in another, against Python."""

import numpy as np
from hypothesis import given, strategies as st

from tfmrc.text import Tokenizer
from tfmrc.text.occurrence import first_occurrence, occurs_at

TEXT = st.text(alphabet="abé\U0001f600 ", max_size=12)


def encode(texts):
    return np.array([text.encode() for text in texts], object)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_is_pythons_find(pairs):
    texts, parts = zip(*pairs, strict=True)
    expected = [text.find(part) if part else -1 for text, part in pairs]
    got = first_occurrence(encode(texts), encode(parts)).numpy()
    np.testing.assert_array_equal(got, expected)
    there = occurs_at(encode(texts), encode(parts), got).numpy()
    np.testing.assert_array_equal(there, got >= 0)


@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5))
def test_an_occurrence_of_whole_tokens_is_preferred(pairs):
    texts, parts = zip(*pairs, strict=True)
    tokens = Tokenizer().tokenize(encode(texts))
    expected = []
    for row, (text, part) in enumerate(pairs):
        pairs_of = zip(tokens.starts[row].numpy(), tokens.ends[row].numpy(), strict=True)
        inside = {place for start, end in pairs_of for place in range(start + 1, end)}
        places = [i for i in range(len(text)) if part and text.startswith(part, i)]
        whole = [i for i in places if not inside & {i, i + len(part)}]
        expected.append([*whole, *places, -1][0])
    got = first_occurrence(encode(texts), encode(parts), tokens).numpy()
    np.testing.assert_array_equal(got, expected)


def test_long_text_and_bytes_that_are_not_utf8():
    long = ("ab" * 200_000).encode() + b"c"
    got = first_occurrence([long, b"a\xff\xfeb", b""], [b"bc", b"b", b"x"]).numpy()
    np.testing.assert_array_equal(got, [399_999, 3, -1])

"""Words, sentences, and passages of whole sentences."""

import pytest
from hypothesis import assume, given, strategies as st

from tfmrc.data.transforms.sentences import sentences, words
from tfmrc.data.transforms.windows import covered, windows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("It flew. It sat! Did it? Yes.", ["It flew.", "It sat!", "Did it?", "Yes."]),
        ("Mr. Owl met Dr. Cat on St. Mary St. today.", None),
        ("J. R. Owl flew at 3.5 m.p.h. over e.g. ponds.", None),
        ("It came to an end, etc. Then it rained.", ["It came to an end, etc.", "Then it rained."]),
        ('He said "Go." She went.', ['He said "Go."', "She went."]),
        ('"Why?" asked the owl. (It sat.) So.', ['"Why?" asked the owl.', "(It sat.)", "So."]),
        ("First line\nsecond line.", ["First line", "second line."]),
        ("彼は来た。彼女は見た。", ["彼は来た。", "彼女は見た。"]),
    ],
)
def test_sentences(text, expected):
    result = [text[start:end] for start, end in sentences(text)]
    assert result == ([text] if expected is None else expected)


def story(lengths):
    return " ".join(
        " ".join([f"W{n}"] + [f"w{n}x{k}" for k in range(length - 2)] + ["."])
        for n, length in enumerate(lengths)
    )


lengths = st.lists(st.integers(2, 30), min_size=1, max_size=40)


@given(lengths, st.integers(30, 60), st.booleans())
def test_every_sentence_stands_whole_in_a_passage(lengths, size, overlap):
    text = story(lengths)
    positions = windows(text, size, overlap=overlap)
    for start, end in positions:
        assert len(words(text[start:end])) <= size
    for sentence in sentences(text):
        assert any(a <= sentence[0] and sentence[1] <= b for a, b in positions)
    starts = [start for start, _ in positions]
    assert starts == sorted(set(starts))
    assert covered(text, positions) == 1
    edges = {a for a, _ in sentences(text)}
    assert set(starts) <= edges


@given(lengths, st.integers(30, 60), st.integers(1, 6))
def test_at_most_num_passages_and_the_end_is_what_is_cut(lengths, size, most):
    text = story(lengths)
    needed = windows(text, size)
    for overlap in (False, True):
        positions = windows(text, size, most, overlap=overlap)
        assert len(positions) <= most
        if len(needed) <= most:
            assert covered(text, positions) == 1
        else:
            assert len(positions) == most
            inside = words(text[: positions[-1][1]])
            assert covered(text, positions) == len(inside) / len(words(text)) < 1


@given(lengths, st.integers(30, 60))
def test_without_overlap_no_passage_is_spare(lengths, size):
    text = story(lengths)
    greedy, left = 1, size
    for length in lengths:
        if length > left:
            greedy, left = greedy + 1, size
        left -= length
    assert len(windows(text, size)) == greedy


def test_a_long_summary_makes_ten_passages_of_130_words():
    text = story([20] * 33)
    passages = [text[a:b] for a, b in windows(text, 130, 10, overlap=True)]
    assert len(passages) == 10
    assert {len(words(passage)) for passage in passages} == {120}
    starts = [text.index(passage) for passage in passages]
    steps = [b - a for a, b in zip(starts, starts[1:], strict=False)]
    assert max(steps) < 2 * min(steps), "the passages begin evenly over the text"


@given(st.integers(1, 12), st.integers(1, 40))
def test_a_sentence_that_is_too_long_is_cut(size, length):
    assume(length > size)
    text = " ".join(f"w{n}" for n in range(length))
    positions = windows(text, size)
    assert covered(text, positions) == 1
    assert all(len(words(text[a:b])) <= size for a, b in positions)

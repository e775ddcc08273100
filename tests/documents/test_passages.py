"""Passages: whole sentences below one heading, at their places in the text."""

import pytest
from hypothesis import given, strategies as st

from tfmrc.data.transforms.sentences import sentences
from tfmrc.documents import DocumentBuilder, read_document, split_document
from tfmrc.documents.passages import subword_count

WORDS = st.lists(
    st.sampled_from(["An owl flew.", "It slept!", "Dr. Holt saw", "a mill"]), max_size=6
)
BLOCKS = st.lists(st.tuples(WORDS.map(" ".join), st.integers(0, 3)), min_size=1, max_size=9)


@given(BLOCKS, st.integers(1, 20))
def test_passages_are_whole_sentences_of_the_text(parts, length):
    builder = DocumentBuilder()
    for text, level in parts:
        builder.add(text, level)
    document = builder.build()
    passages = list(split_document(document, "a", length))
    for passage in passages:
        assert document.text[passage.start : passage.end] == passage.text
        whole = [passage.text[slice(*span)] for span in sentences(passage.text)]
        assert subword_count(passage.text) <= length or len(whole) == 1
    cut = [sentence for passage in passages for sentence in _sentences(passage.text)]
    bodies = [document.text[b.start : b.end] for b in document.blocks if not b.level]
    assert cut == [sentence for body in bodies for sentence in _sentences(body)]


def _sentences(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "length, expected",
    [
        (100, ["An owl flew over the mill. It slept there.\n\nOne. Two."]),
        (12, ["An owl flew over the mill. It slept there.", "One. Two."]),
        (7, ["An owl flew over the mill.", "It slept there.", "One. Two."]),
    ],
)
def test_paragraphs_stay_whole_if_they_fit(length, expected):
    document = read_document(b"An owl flew over the mill. It slept there.\n\nOne. Two.", "a.txt")
    found = split_document(document, "a.txt", length)
    assert [passage.text for passage in found] == expected


def test_a_line_that_is_wrapped_does_not_end_a_sentence():
    text = (
        "The owl that lives in the mill above the river\nflew. It slept there until\nthe evening."
    )
    document = read_document(text.encode(), "a.txt")
    first, *_ = split_document(document, "a.txt", 8)
    assert first.text == text[: text.index(" It")]


def test_headings_form_a_path():
    document = read_document(
        b"One.\n# A\n## B\nTwo.\n### C\nThree.\n## D\nFour.\n# E\nFive.", "a.md"
    )
    assert [passage.heading for passage in split_document(document)] == [
        (), ("A", "B"), ("A", "B", "C"), ("A", "D"), ("E",),
    ]  # fmt: skip


def test_a_list_of_numbers_without_an_end_is_divided():
    document = read_document(b"123456789 " * 2_000, "a.txt")
    passages = list(split_document(document))
    assert max(len(passage.text) for passage in passages) <= 5_000
    assert sum(len(passage.text.split()) for passage in passages) == 2_000


def test_rows_of_a_table_are_passages_with_their_numbers():
    lines = b'{"text": "One."}\n\n{"title": "Owls", "text": "An owl flew."}\n{"a": 3, "b": 4}'
    passages = list(split_document(read_document(lines, "a.jsonl")))
    assert [(passage.page, passage.heading, passage.text) for passage in passages] == [
        (1, (), "One."),
        (3, ("Owls",), "An owl flew."),
        (4, (), "a: 3; b: 4"),
    ]

"""Example and Span: what they accept, and their file of JSON lines."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from tests.data.builders import write
from tfmrc.data import Example, RecordError, Span, read_examples, write_examples

GOOD = Example(
    id="1",
    question="Who flew? 😀",
    passages=("An owl flew.", ""),
    answers={"qa": ("An owl", "owl")},
    answerable=True,
    relevance=(True, False),
    spans=(Span(0, 0, 6),),
    query_type="PERSON",
    group="Owls",
)
OTHER = replace(GOOD, id="2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"question": "\ud800"}, "valid Unicode"),
        ({"passages": "An owl flew."}, "sequence of strings. Received: passages='An owl flew.'"),
        ({"answers": {"qa": ("owl", " ")}}, "no answer may be blank"),
        ({"answerable": False}, "must not have answers"),
        ({"relevance": (True,)}, r"relevance=\(True,\), len\(passages\)=2"),
        ({"spans": (Span(0, 0, 13),)}, r"lengths of the passages: \[12, 0\]"),
    ],
)
def test_contradictions_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        replace(GOOD, **change)


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
answers = texts.filter(str.strip)


@given(
    st.builds(
        Example,
        id=texts,
        question=texts,
        passages=st.lists(texts, max_size=3),
        answers=st.dictionaries(texts, st.lists(answers, min_size=1, max_size=2), max_size=2),
        answerable=st.sampled_from([True, None]),
        query_type=st.none() | texts,
        group=st.none() | texts,
    )
)
def test_json_round_trip(example):
    line = example.to_json()
    assert "\n" not in line
    assert Example.from_json(line) == example


@pytest.mark.parametrize("name", ["examples.jsonl", "examples.jsonl.gz"])
def test_file_round_trip(tmp_path, name):
    examples = [GOOD, Example("2", "line\u2028separator\x85", ())]
    assert write_examples(tmp_path / name, examples) == 2
    stream = read_examples(tmp_path / name)
    assert list(stream) == examples
    assert list(stream) == examples, "a stream can be read again"
    assert stream.account.read == 2


BROKEN = ["{", '{"id": "1", "question": "?", "passages": [], "extra": 1}']
BROKEN += ["\udcff", "[" * 100_000]


@pytest.mark.parametrize("line", BROKEN)
def test_broken_lines_are_named_or_skipped(tmp_path, line):
    lines = f"{GOOD.to_json()}\n{line}\n{OTHER.to_json()}\n"
    path = write(tmp_path / "a.jsonl", lines.encode("utf-8", "surrogateescape"))
    with pytest.raises(RecordError, match=r"a\.jsonl: line 2: "):
        list(read_examples(path))
    stream = read_examples(path, on_error="skip")
    assert list(stream) == [GOOD, OTHER]
    assert stream.skipped == 1
    assert "line 2" in str(stream.account)


def test_an_id_that_occurs_twice_is_named_with_both_lines(tmp_path):
    again = replace(OTHER, id=GOOD.id)
    path = write(tmp_path / "a.jsonl", f"{GOOD.to_json()}\n\n{again.to_json()}\n")
    message = r"a\.jsonl: line 3: id: occurs twice\. Received: '1'"
    with pytest.raises(RecordError, match=message):
        list(read_examples(path))
    stream = read_examples(path, on_error="skip")
    assert list(stream) == [GOOD] and stream.skipped == 1
    assert list(stream) == [GOOD], "every pass counts separately"

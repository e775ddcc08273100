"""Values of a JSON file one at a time: nesting, surrogates, what follows, lines."""

import io
import json

import ijson
import pytest
from hypothesis import given, strategies as st

from tests.data.builders import squad, write
from tfmrc.data import RecordError, read_squad
from tfmrc.data.formats import json_stream
from tfmrc.data.formats.json_stream import MAX_DEPTH, JSONFile, json_events, json_items, json_value
from tfmrc.data.stream import Report

texts = st.text(st.sampled_from('ab"\\{}[]:,é😀\n?') | st.characters(), max_size=8)
values = st.recursive(
    texts | st.integers(-99, 99) | st.none() | st.booleans() | st.floats(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def read(data: bytes):
    file = JSONFile(io.BytesIO(data))
    return file.restored(json_value(json_events(file)))


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_values_are_those_of_the_json_module(value, ascii_only, indent):
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "replace")
    assert read(data) == json.loads(data)


class Pieces:
    """A file that gives its bytes in pieces of given sizes."""

    def __init__(self, data, size):
        self._file, self._size = io.BytesIO(data), size

    def read(self, size):
        return self._file.read(min(size, self._size))


@given(
    st.lists(
        st.sampled_from(
            [r"\ud83d", r"\ude00", r"\uD83D\uDE00", "\\\\", r"\"", r"\n", "ud83d", "x", r"é"]
        ),
        max_size=12,
    ),
    st.integers(1, 9),
)
def test_lone_surrogates_are_found_in_pieces_of_any_size(parts, size):
    data = ('["' + "".join(parts) + '"]').encode()
    file = JSONFile(Pieces(data, size))
    events = ijson.basic_parse(file, buf_size=16, use_float=True)
    [value] = file.restored(json_value(iter(events)))
    [wanted] = json.loads(data)
    lone = [c for c in wanted if "\ud800" <= c <= "\udfff"]
    assert file.lone_surrogates == bool(lone)
    assert value == "".join("\ud800" if c in lone else c for c in wanted)


def test_many_backslashes_are_read_in_linear_time():
    counts = []
    for size in (20_000, 40_000):
        data = b'["' + b"\\\\" * size + b'"]'
        file, calls = JSONFile(Pieces(data, 64)), []
        while piece := file.read(64):
            calls.append(len(piece))
        assert sum(calls) == len(data)
        counts.append(len(calls))
    assert counts[1] <= 2 * counts[0] + 2


@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"a":', "}")])
def test_nesting(opening, closing):
    inner = "1" if opening != "[" else ""
    fits = opening * MAX_DEPTH + inner + closing * MAX_DEPTH
    assert read(fits.encode()) == json.loads(fits)
    for depth in (MAX_DEPTH + 1, 200_000):
        deep = "[" + opening * depth + inner + closing * depth + ', "next"]'
        report = Report("skip")
        items = list(json_items(io.BytesIO(deep.encode()), "a.json", None, "item", report))
        assert items == [(2, "next")] and report.skipped == 1
        assert "a.json: item 1: is nested deeper than 100 levels" in str(report.errors[0])


def test_a_deep_question_of_squad_costs_its_article(tmp_path):
    content = squad()
    deep = "[" * 200_000 + "]" * 200_000
    text = json.dumps(content).replace('"What does the heron hunt?"', deep)
    path = write(tmp_path / "a.json", text)
    with pytest.raises(RecordError, match="article 1: is nested deeper than 100 levels"):
        list(read_squad(path))
    stream = read_squad(path, on_error="skip")
    assert [example.id for example in stream] == ["m1"] and stream.skipped == 1


def test_a_lone_surrogate_is_an_error_of_its_question(tmp_path):
    text = json.dumps(squad()).replace("What does the heron hunt?", r"What \ud83d hunts?")
    path = write(tmp_path / "a.json", text)
    with pytest.raises(RecordError, match="id 'h1': question must be valid Unicode"):
        list(read_squad(path))
    stream = read_squad(path, on_error="skip")
    assert [example.id for example in stream] == ["h2", "w1", "m1"]
    pairs = json.dumps(squad()).replace("What does the heron hunt?", r"What \uD83D\uDE00 hunts?")
    assert next(iter(read_squad(write(path, pairs)))).question == "What 😀 hunts?"


def test_an_id_that_occurs_twice_is_named_with_both_questions(tmp_path):
    content = squad()
    content["data"][1]["paragraphs"][0]["qas"][0]["id"] = "h2"
    path = write(tmp_path / "a.json", content)
    message = (
        "article 'Mill', paragraph 1, question 1: id: occurs twice; it is also that of "
        "article 'Pond', paragraph 1, question 2"
    )
    with pytest.raises(RecordError, match=message):
        list(read_squad(path))
    stream = read_squad(path, on_error="skip")
    assert [example.id for example in stream] == ["h1", "h2", "w1"] and stream.skipped == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t + t, "data follows the JSON value"),
        (lambda t: t + "x", "data follows the JSON value"),
        (lambda t: t[:-1] + ', "data": []}', "file: data: occurs twice"),
        (lambda t: t.replace('"data": [', '"data": {"a": [')[:-1] + "}}", "data: must be a list"),
        (lambda t: "[" + t + "]", "must be an object with 'data'"),
        (lambda t: t.replace('"data"', '"date"'), "file: data: is missing"),
    ],
)
def test_files_of_another_form(tmp_path, change, message):
    path = write(tmp_path / "a.json", change(json.dumps(squad())))
    with pytest.raises(RecordError, match=message):
        list(read_squad(path))


def test_bytes_that_are_no_utf8(tmp_path):
    for bad in (b"\xff", b"\xed\xa0\x80"):
        data = json.dumps(squad()).encode().replace(b"heron hunt", b"heron " + bad)
        with pytest.raises(RecordError, match=r"a\.json: after article 0: the (file|text) is no"):
            list(read_squad(write(tmp_path / "a.json", data)))


def test_too_deep_lines_are_a_value_error():
    with pytest.raises(ValueError, match="nested too deep"):
        json_stream.json_line(b"[" * 100_000)

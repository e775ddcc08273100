"""Columns of a JSON object: found at byte level, read side by side."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.builders import write
from tfmrc.data import RecordError
from tfmrc.data.formats import json_columns, json_scan
from tfmrc.data.formats.json_columns import json_rows
from tfmrc.data.formats.json_scan import column_places

text = st.text(st.sampled_from('ab"\\{}[]:,é😀\n'), max_size=6)
values = st.recursive(
    text | st.integers(0, 99) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.text("abc", min_size=1), values, max_size=4),
    st.integers(1, 7),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_places_are_those_of_the_values(content, chunk, ascii_only, indent):
    data = json.dumps(content, ensure_ascii=ascii_only, indent=indent).encode()
    before, json_scan.CHUNK = json_scan.CHUNK, chunk
    try:
        places = column_places(io.BytesIO(data).read, "x.json")
    finally:
        json_scan.CHUNK = before
    found = {name: json.loads(data[begin:end]) for name, (begin, end) in places.items()}
    assert found == {n: v for n, v in content.items() if isinstance(v, dict | list)}


@given(st.integers(1, 40))
def test_a_cut_object_is_an_error(length):
    data = b'{"a": {"0": "\\"}"}, "b": {"1": ["x", {}]}}'
    with pytest.raises(RecordError, match="ends too early"):
        column_places(io.BytesIO(data[:length]).read, "x.json")


@given(st.dictionaries(text, values, max_size=8), st.integers(1, 9), st.sampled_from([None, 1]))
def test_rows_are_those_of_the_column(tmp_path_factory, column, buffer, indent):
    path = tmp_path_factory.mktemp("rows") / "a.json"
    write(path, json.dumps({"before": [1], "large": column}, indent=indent))
    before, json_columns.BUFFER = json_columns.BUFFER, buffer
    try:
        rows = list(json_rows(path, "large", ("large",)))
    finally:
        json_columns.BUFFER = before
    assert [record["large"] for record, _, wrong in rows if wrong is None] == list(column.values())
    assert [place.record for _, place, _ in rows] == [f"row {key!r}" for key in column]


def test_a_column_may_lack_rows_and_run_ahead(tmp_path, monkeypatch):
    monkeypatch.setattr(json_columns, "LOOKAHEAD", 3)
    content = {
        "small": {"b": 2, "a": 1, "d": 4, "x": 9},
        "large": {"a": "A", "b": "B", "c": "C", "d": "D"},
    }
    rows = list(json_rows(write(tmp_path / "a.json", content), "large", ("small", "other")))
    assert [place.record for _, place, _ in rows] == [f"row {key!r}" for key in "abcdx"]
    good = [record for record, _, wrong in rows if wrong is None]
    assert good == [
        {"large": "A", "small": 1},
        {"large": "B", "small": 2},
        {"large": "D", "small": 4},
    ]
    assert [(w.record, w.field) for _, _, w in rows if w] == [
        ("row 'c'", "small"),
        ("row 'x'", "large"),
    ]


def test_the_first_pass_is_done_once_while_the_file_is_unchanged(tmp_path, monkeypatch):
    path = write(tmp_path / "a.json", {"large": {"a": 1}})
    passes = []
    original = column_places

    def counted(*arguments):
        passes.append(1)
        return original(*arguments)

    monkeypatch.setattr(json_columns, "column_places", counted)
    known = {}
    for _ in range(2):
        assert len(list(json_rows(path, "large", (), known))) == 1
    assert len(passes) == 1
    write(path, {"large": {"a": 1, "b": 2}})
    assert len(list(json_rows(path, "large", (), known))) == 2
    assert len(passes) == 2

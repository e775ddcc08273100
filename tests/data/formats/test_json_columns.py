"""Columns of a JSON object, read side by side."""

import json

import pytest
from hypothesis import given, strategies as st

from tests.data.builders import write
from tfmrc.data import RecordError
from tfmrc.data.formats import json_columns
from tfmrc.data.formats.json_columns import json_rows

text = st.text(st.sampled_from('ab"\\{}[]:,é😀\n'), max_size=6)
values = st.recursive(
    text | st.integers(0, 99) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)


@given(st.integers(1, 49), st.sampled_from(["large", "small"]))
def test_a_cut_object_is_an_error(tmp_path_factory, length, leader):
    data = b'{"large": {"0": "\\"}"}, "small": {"0": ["x", {}]}}'
    path = write(tmp_path_factory.mktemp("cut") / "a.json", data[:length])
    with pytest.raises(RecordError, match="ends too early"):
        next(json_rows(path, leader, ("large", "small")))


@given(
    st.dictionaries(text, values, max_size=8),
    st.permutations(["before", "large", "small"]),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_rows_are_those_of_the_columns(tmp_path_factory, column, order, ascii_only, indent):
    path = tmp_path_factory.mktemp("rows") / "a.json"
    content = {"before": [1], "large": column, "small": {key: [key] for key in column}}
    content = {name: content[name] for name in order}
    write(path, json.dumps(content, indent=indent, ensure_ascii=ascii_only))
    rows = list(json_rows(path, "large", ("small",)))
    assert [record for record, _, wrong in rows if wrong is None] == [
        {"large": value, "small": [key]} for key, value in column.items()
    ]
    assert [location.record for _, location, _ in rows] == [f"row {key!r}" for key in column]


def test_a_column_may_lack_rows_and_run_ahead(tmp_path, monkeypatch):
    monkeypatch.setattr(json_columns, "LOOKAHEAD", 3)
    content = {
        "small": {"b": 2, "a": 1, "d": 4, "x": 9},
        "large": {"a": "A", "b": "B", "c": "C", "d": "D"},
    }
    rows = list(json_rows(write(tmp_path / "a.json", content), "large", ("small", "other")))
    assert [location.record for _, location, _ in rows] == [f"row {key!r}" for key in "abcdx"]
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


def test_a_row_that_a_column_repeats_is_an_error(tmp_path):
    data = b'{"small": {"x": 1, "x": 2, "a": 3}, "large": {"a": "A", "x": "X"}}'
    rows = list(json_rows(write(tmp_path / "a.json", data), "large", ("small",)))
    assert [wrong is None for _, _, wrong in rows] == [True, False]
    assert str(rows[1][2]).endswith("row 'x': small: the row occurs twice")


def test_no_temporary_file_is_left_open(tmp_path, monkeypatch):
    opened = []
    original = json_columns.tempfile.TemporaryFile

    def counted(*arguments, **options):
        opened.append(original(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(json_columns.tempfile, "TemporaryFile", counted)
    path = write(tmp_path / "a.json", {"large": {"a": 1, "b": 2}, "small": {"a": 1, "b": 2}})
    rows = json_rows(path, "large", ("small",))
    next(rows)
    rows.close()
    assert len(opened) == 1 and all(file.closed for file in opened)

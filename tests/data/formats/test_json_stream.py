"""Lists in JSON files, one item at a time: surrogates, damage, what surrounds the list."""

import io
import json

import pytest
from hypothesis import given, strategies as st

from tests.data.builders import squad, write
from tfmrc.data import RecordError, read_squad
from tfmrc.data.formats.json_stream import json_items

ESCAPES = [r"\ud83d", r"\ude00", r"\uD83D\uDE00", "\\\\", r"\"", r"\n", "ud83d", "x", "é"]


class Pieces:
    """A file that gives its bytes in pieces of a size."""

    def __init__(self, data, size):
        self._file, self._size = io.BytesIO(data), size

    def read(self, size):
        return self._file.read(min(size, self._size))


@given(st.lists(st.sampled_from(ESCAPES), max_size=12), st.integers(1, 9))
def test_lone_surrogates_in_pieces_of_any_size(parts, size):
    data = ('["' + "".join(parts) + '"]').encode()
    is_lone = any("\ud800" <= character <= "\udfff" for character in json.loads(data)[0])
    try:
        items = [item for _, item in json_items(Pieces(data, size), "a", None, "item")]
    except RecordError:
        assert is_lone
    else:
        assert items == json.loads(data) and not is_lone


def test_items_are_those_of_the_json_module():
    content = [{"a": [1, 2.5, None, True, {}]}, "é😀\n", [[]], 10**12, -0.5]
    data = json.dumps(content).encode()
    assert [item for _, item in json_items(io.BytesIO(data), "a", None, "item")] == content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[: t.index('"Mill"')], "after article 1: the file ends too early"),
        (lambda t: t.replace("heron hunt", "heron \xff"), ".*not JSON"),
        (
            lambda t: t.replace("heron hunt", r"heron \ud83d"),
            r".*not JSON .*lone surrogate \\ud83d",
        ),
        (lambda t: '{"data": []}', "file: data: contains no article"),
    ],
)
def test_damaged_files(tmp_path, change, message):
    data = change(json.dumps(squad())).encode("latin-1")
    with pytest.raises(RecordError, match=rf"a\.json: {message}"):
        list(read_squad(write(tmp_path / "a.json", data), on_error="skip"))

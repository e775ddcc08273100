"""Lists in JSON files, one item at a time: damage, what surrounds the list."""

import io
import json

import pytest

from tests.data.builders import squad, write
from tfmrc.data import RecordError, read_squad
from tfmrc.data.formats.json_stream import json_items


def test_items_are_those_of_the_json_module():
    content = [{"a": [1, 2.5, None, True, {}]}, "é😀\n", [[]], 10**12, -0.5]
    data = json.dumps(content).encode()
    assert [item for _, item in json_items(io.BytesIO(data), "a", None, "item")] == content


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t[: t.index('"Mill"')], "after article 1: the file ends too early"),
        (lambda t: t.replace("heron hunt", "heron \xff"), ".*not JSON"),
        (lambda t: '{"data": []}', "file: data: contains no article"),
    ],
)
def test_damaged_files(tmp_path, change, message):
    data = change(json.dumps(squad())).encode("latin-1")
    with pytest.raises(RecordError, match=rf"a\.json: {message}"):
        list(read_squad(write(tmp_path / "a.json", data), on_error="skip"))

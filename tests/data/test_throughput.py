"""The input's speed is counted over the whole file, from the raw text to the batch."""

import pytest

from tfmrc.data.throughput import measure
from tests.data.builders import squad, write


def test_every_record_and_word_is_counted(tmp_path):
    path = write(tmp_path / "a.json", squad())
    found = measure(path, batch_size=2, most=10, num_passages=2)
    assert found["reading"]["records"] == found["to the batch"]["records"] == 4
    begins = 7  # every passage begins with one id that is no word: 2 + 2 + 2 + 1 of them
    assert found["to the batch"]["words"] == found["reading"]["words"] + begins
    assert found["reading"]["words_per_second"] > 0
    assert 0 < found["padding"]["all"] < 1


def test_only_so_many_examples_are_read(tmp_path):
    path = write(tmp_path / "a.json", squad())
    found = measure(path, batch_size=1, most=2, num_passages=1)
    assert found["reading"]["records"] == found["to the batch"]["records"] == 2
    assert found["padding"]["passage_ids"] == pytest.approx(0)

"""The input's speed is counted over the whole file, from the raw text to the batch."""

import time

from benchmarks.file_throughput import measure
from tests.data.builders import squad, write


def test_every_record_and_word_is_counted(tmp_path):
    path = write(tmp_path / "a.json", squad())
    found = measure(path, batch_size=2, most=3, num_passages=2)
    assert found["reading"]["records"] == found["to the batch"]["records"] == 3
    begins = 6  # every passage begins with one id that is no word
    assert found["to the batch"]["words"] == found["reading"]["words"] + begins
    assert found["reading"]["words_per_second"] > 0
    assert 0 < found["padding"]["all"] < 1


def test_a_processor_clock_that_has_not_advanced(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "process_time", lambda: 5.0)
    found = measure(write(tmp_path / "a.json", squad()), batch_size=2, most=3, num_passages=2)
    assert found["reading"]["processor_seconds"] == 0
    assert found["reading"]["words_per_processor_second"] > 0

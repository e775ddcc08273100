"""The input's speed is counted over the whole file, from the raw text to the batch."""

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

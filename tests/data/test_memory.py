"""Readers hold a record, an article or a window, never a file."""

import gc
import json
import random
import tracemalloc

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.data.builders import write
from tfmrc.data import read_examples, read_msmarco, read_squad, read_table
from tfmrc.data.batching.sampler import BatchSampler

BOUND = 1_000_000
"""Bytes of Python objects that a pass may hold; the small file alone is larger than that."""
SIZES = (1_100_000, 2_600_000)


WORDS = [f"{'bdfgklmnprst'[n % 12]}{'aeiou'[n % 5]}{n}" for n in range(300)]


def sentences(rng, count):
    return " ".join(" ".join(rng.choices(WORDS, k=12)).capitalize() + "." for _ in range(count))


def marco_lines(path, size, rng):
    with path.open("w") as file:
        while file.tell() < size:
            passages = [
                {"is_selected": int(n == 2), "passage_text": sentences(rng, 4)} for n in range(10)
            ]
            record = {"query_id": file.tell(), "query": "what is it", "query_type": "ENTITY"}
            record |= {"passages": passages, "answers": [sentences(rng, 1)]}
            file.write(json.dumps(record | {"wellFormedAnswers": "[]"}) + "\n")
    return read_msmarco(path)


def squad(path, size, rng):
    articles = []
    for number in range(size // 6_000):
        paragraphs = []
        for p in range(10):
            context = sentences(rng, 8)
            answers = [{"text": context[:9], "answer_start": 0}]
            qas = [{"id": f"{number}-{p}", "question": "What?", "answers": answers}]
            paragraphs.append({"context": context, "qas": qas})
        articles.append({"title": str(number), "paragraphs": paragraphs})
    return read_squad(write(path, {"version": "1.1", "data": articles}))


def examples(path, size, rng):
    with path.open("w") as file:
        for number in range(size // 3_000):
            record = {"id": str(number), "question": "?", "passages": [sentences(rng, 50)]}
            file.write(json.dumps(record) + "\n")
    return read_examples(path)


WRITERS = (marco_lines, squad, examples)


def peak(stream):
    next(iter(stream))  # what is imported and compiled only once
    gc.collect()
    tracemalloc.start()
    count = sum(1 for _ in stream)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held, count


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
def test_memory_does_not_grow_with_the_file(tmp_path, writer):
    held, counts = [], []
    for size in SIZES:
        rng = random.Random(1)
        result, count = peak(writer(tmp_path / f"{size}.json", size, rng))
        held.append(result)
        counts.append(count)
    assert counts[1] > 2.2 * counts[0]
    assert max(held) < BOUND
    # A number for each id.
    assert held[1] - held[0] < 0.1 * (SIZES[1] - SIZES[0])


def test_of_a_parquet_file_a_few_batches_are_held(tmp_path):
    rng, path = random.Random(1), tmp_path / "questions.parquet"
    rows = [{"question": "?", "passage": sentences(rng, 5)} for _ in range(10_000)]
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=500)
    before, most = pa.total_allocated_bytes(), 0
    for _ in read_table(path):
        most = max(most, pa.total_allocated_bytes() - before)
    assert 0 < most < path.stat().st_size / 2


def test_batches_of_a_stream_hold_one_window(tmp_path):
    stream = examples(tmp_path / "a.json", SIZES[1], random.Random(1))
    batches = BatchSampler(stream, ["qa"], 4, shuffle=True, window=10)
    tracemalloc.start()
    count = sum(len(batch) for batch in batches.of_pass(0))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == SIZES[1] // 3_000
    assert held < BOUND

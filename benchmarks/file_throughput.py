"""Input throughput of a file of any known format: `python -m benchmarks.file_throughput FILE`."""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.data.batching.dataset import padding_share
from tfmrc.data.example import Example
from tfmrc.data.formats.detect import file_format, read_file
from tfmrc.data.formats.squad_passages import squad_for_masque
from tfmrc.data.stream import ExampleStream
from tfmrc.data.transforms.sentences import words
from tfmrc.preprocessing import MasquePreprocessor


def use_one_core() -> None:
    """Binds this process to one core, if the system supports it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


class _Clock:
    """Wall-clock and processor time since construction."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def rates(self, examples: int, count: int) -> dict[str, float]:
        wall = time.perf_counter() - self._wall
        # A processor clock of coarse ticks may not have advanced.
        tick = time.get_clock_info("process_time").resolution
        cpu = max(time.process_time() - self._cpu, tick)
        return {
            "records": examples,
            "words": count,
            "seconds": round(wall, 2),
            "processor_seconds": round(cpu, 2),
            "records_per_second": round(examples / wall),
            "words_per_second": round(count / wall),
            "words_per_processor_second": round(count / cpu),
        }


def measure(path: Path, batch_size: int, most: int, num_passages: int = 10) -> dict[str, Any]:
    """Times reading alone, and reading with preprocessor and batches, after a first batch.

    Args:
        path: Path. A file of a known format; SQuAD is read with paragraphs of the same article.
        batch_size: int. Records per batch.
        most: int. Number of examples that are read.
        num_passages: int. Passages per example. Default: 10.

    Returns:
        Records and words (of questions and passages) per second, and the padding share. A record
        is an example in one of its styles.
    """
    stream: ExampleStream
    if file_format(path) == "squad":
        stream = squad_for_masque(path, num_passages)
    else:
        stream = read_file(path)

    def source() -> Iterator[Example]:
        return islice(stream, most)

    total = _words(source())
    clock = _Clock()
    examples = sum(1 for _ in source())
    result: dict[str, Any] = {"reading": clock.rates(examples, total)}
    preprocessor = MasquePreprocessor.from_examples(
        source, vocabulary_size=45_000, num_passages=num_passages
    )
    dataset = preprocessor.dataset(source, batch_size, shuffle=True)
    next(iter(dataset))
    clock, count, examples = _Clock(), 0, 0
    for x, *_ in dataset:
        examples += x["question_ids"].shape[0]
        count += int(tf.math.count_nonzero(x["question_ids"]))
        count += int(tf.math.count_nonzero(x["passage_ids"]))
    result["to the batch"] = clock.rates(examples, count)
    result["padding"] = padding_share(dataset)
    return result


def _words(examples: Iterator[Example]) -> int:
    return sum(len(words(text)) for e in examples for text in (e.question, *e.passages))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures records and words per second on one core, from the raw file to the batch."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.file_throughput",
        description=str(main.__doc__).partition("\n")[0],
    )
    parser.add_argument("file", type=Path, help="SQuAD, MS MARCO, DREAM, qaps.csv, examples")
    parser.add_argument("--batch-size", type=int, default=32, help="records of a batch")
    parser.add_argument("--examples", type=int, default=5_000, help="how many are read")
    options = parser.parse_args(arguments)
    use_one_core()
    print(json.dumps(measure(options.file, options.batch_size, options.examples), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

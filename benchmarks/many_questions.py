"""Reading at scale: memory of `predict`, cost of `predict --engine ray`, speed of the files alone.

    python -m benchmarks.many_questions memory --questions 2000000
    python -m benchmarks.many_questions ray --model ready --questions 1000
    python -m benchmarks.many_questions files --gigabytes 10

Questions and passages are made of 2,000 words. `memory` writes and resumes predictions of an
answerer that only names the first word, so that the rest is what takes memory and time. `ray`
compares CPU seconds of whole commands with one actor, with two, and without Ray, at two sizes.
`files` reads Parquet through Ray and answers nothing.
"""

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetWriter

from benchmarks import measuring
from tfmrc.experiments.answering import write_answers
from tfmrc.experiments.tables.reading import read_questions
from tfmrc.predictors import Result

WORDS = [f"word{number}" for number in range(2000)]


def rows(count: int, words: int) -> Iterator[dict[str, str]]:
    """Yields made questions, each with a passage of about so many words."""
    draw = random.Random(0)
    for number in range(count):
        passage = draw.choices(WORDS, k=draw.randrange(words // 2, words * 3 // 2))
        question = draw.choices(WORDS, k=8)
        yield {"id": str(number), "question": " ".join(question), "passage": " ".join(passage)}


def write(path: Path, count: int, words: int) -> None:
    """Writes made questions as Parquet."""
    schema = pa.schema([(name, pa.string()) for name in ("id", "question", "passage")])
    batch: list[dict[str, str]] = []
    with ParquetWriter(path, schema) as file:
        for row in rows(count, words):
            batch.append(row)
            if len(batch) == 10_000:
                file.write_table(pa.Table.from_pylist(batch, schema))
                batch = []
        file.write_table(pa.Table.from_pylist(batch, schema))


class Cheap:
    """Answers with the first word, and notes the memory after each 100,000 questions."""

    def __init__(self) -> None:
        self.count, self.memory = 0, []

    def predict(self, examples: Any, **_: Any) -> Iterator[Result]:
        for example in examples:
            if self.count % 100_000 == 0:
                self.memory.append(measuring.memory())
            self.count += 1
            yield Result(example.passages[0].split()[0])


def memory(folder: Path, count: int) -> None:
    path, output = folder / "questions.parquet", folder / "predictions.jsonl"
    write(path, count, 40)

    def read() -> Any:
        return read_questions(path, on_error="skip", labels="none")[0]

    for what in ("written", "resumed after half"):
        predictor, began = Cheap(), time.process_time()
        how: dict[str, Any] = {"task": "answer", "options": {}, "batch_size": 32, "model": "cheap"}
        write_answers(predictor, read, output, **how)
        taken = time.process_time() - began
        peak = measuring.memory("VmHWM")
        print(
            f"{what}: {predictor.count:,} questions in {taken:,.0f} CPU seconds, MiB at each "
            f"100,000: {' '.join(f'{one:.0f}' for one in predictor.memory)}, peak {peak:.0f}"
        )
        os.truncate(output, output.stat().st_size // 2)


class Watched:
    """A command, and its processes while it runs: CPU seconds of all, memory of the largest."""

    def __init__(self, *words: object):
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        seconds: dict[int, float] = {}
        sizes: dict[str, list[int]] = {}
        while process.poll() is None:
            for number in _family(process.pid):
                try:
                    folder = Path(f"/proc/{number}")
                    fields = folder.joinpath("stat").read_text().rpartition(") ")[2].split()
                    name = folder.joinpath("cmdline").read_bytes().partition(b"\0")[0].decode()
                except OSError:
                    continue
                seconds[number] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                sizes.setdefault(name, []).append(int(fields[21]) * os.sysconf("SC_PAGESIZE"))
            time.sleep(0.2)
        assert process.returncode == 0, words
        self.wall, self.cpu = time.perf_counter() - began, sum(seconds.values())
        actors = [size for name, found in sizes.items() if "_Actor" in name for size in found]
        self.memory = max(actors or [size for found in sizes.values() for size in found]) / 2**20


def _family(process: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{process}/task").iterdir()
        children = [int(c) for task in tasks for c in (task / "children").read_text().split()]
    except OSError:
        return []
    return [process, *(one for child in children for one in _family(child))]


def compare(folder: Path, model: str, most: int) -> None:
    """Prints the cost of whole commands, and of each further question."""
    cost: dict[tuple[str, int], float] = {}
    for count in (most // 4, most):
        path = folder / f"{count}.parquet"
        write(path, count, 100)
        usual = ("-m", "tfmrc", "predict", model, "--input", path, "--output")
        commands = {"predict": (*usual, folder / f"{count}.jsonl")}
        for actors in (1, 2):
            out = folder / f"{count}-{actors}"
            commands[f"ray, {actors} actors"] = (*usual, out, "--engine", "ray", "--actors", actors)
        for name, words in commands.items():
            ran = Watched(*words)
            cost[name, count] = ran.cpu
            more = (ran.cpu - cost[name, most // 4]) / (most - most // 4) * 1000
            print(
                f"{name}, {count} questions: {ran.cpu:.0f} CPU seconds, {ran.wall:.0f} seconds, "
                f"{ran.memory:.0f} MiB with the model; {more:.1f} CPU ms per further question",
                flush=True,
            )


def files(folder: Path, gigabytes: float, words: int) -> None:
    """Reads links to one file through Ray and answers nothing."""
    import ray

    from tfmrc.experiments.answering import Asked, digest_of
    from tfmrc.integrations.ray import Files, Questions

    write(folder / "0.parquet", 30_000_000 // words, words)
    size = (folder / "0.parquet").stat().st_size
    for number in range(1, round(gigabytes * 1e9 / size)):
        (folder / f"{number}.parquet").symlink_to(folder / "0.parquet")
    found = Files.of(str(folder / "*.parquet"))
    rows = partial(read_questions, on_error="skip", labels="none")
    digest = partial(digest_of, task="answer", model="none", options={})
    ray.init()
    began, count = time.perf_counter(), 0
    read = ray.data.read_datasource(
        Questions(found, rows, Asked(None, False, False), digest),
        override_num_blocks=len(found.paths),
    )
    for bundle in read.repartition(target_num_rows_per_block=256).iter_internal_ref_bundles():
        count += bundle.num_rows()
    taken = time.perf_counter() - began
    print(
        f"{len(found.paths)} files of {size / 1e6:.0f} MB: {count:,} questions in {taken:.0f} "
        f"seconds on {os.cpu_count()} cores, {count / taken:,.0f} a second"
    )


def main() -> None:
    """Prints the figures of one part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("memory", "ray", "files"))
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--model", default="ready")
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--words", type=int, default=300, help="of a passage, for files")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        if options.part == "memory":
            memory(Path(folder), options.questions)
        elif options.part == "ray":
            compare(Path(folder), options.model, options.questions)
        else:
            files(Path(folder), options.gigabytes, options.words)


if __name__ == "__main__":
    main()

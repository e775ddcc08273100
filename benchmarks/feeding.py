"""How fast a core feeds a training from a stream, and whether its memory stays flat.

    python -m benchmarks.feeding --questions 800000 --seconds 300

Made questions with ten passages of about 60 words are read as `training.stream: true` reads them:
from the file to batches of the papers' sizes. Rates are per CPU second of all threads. "saved" are
the same batches from `tf.data.Dataset.save`. Each host prepares the whole batch, so that a core
which prepares P questions a second feeds P / R hosts that train on R questions a second each.
"""

import argparse
import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tensorflow as tf

from benchmarks.measuring import memory
from tfmrc.data import Example, Span, make_dataset, read_examples, write_examples
from tfmrc.preprocessing import MasquePreprocessor, SANPreprocessor
from tfmrc.text import Vocabulary

WORDS = [f"word{number}" for number in range(30_000)]
PAPERS = {
    "SAN": (SANPreprocessor, {}, 32),
    "Masque": (MasquePreprocessor, {"num_passages": 10}, 80),
}


def made(count: int) -> Iterator[Example]:
    """Yields questions with ten passages, the first one with the answer."""
    draw = random.Random(0)
    for number in range(count):
        texts = [" ".join(draw.choices(WORDS, k=draw.randrange(30, 90))) for _ in range(10)]
        question, answer = " ".join(draw.choices(WORDS, k=8)), texts[0].split()[3]
        start = texts[0].index(answer)
        spans = [Span(0, start, start + len(answer))]
        flags = [True, *[False] * 9]
        yield Example(str(number), question, texts, {"span": (answer,)}, True, flags, spans)


def run(name: str, batches: Iterable[Any], seconds: float) -> None:
    """Reads batches for some time, after the first ones, and prints rates and memory."""
    stream = iter(batches)
    for _ in range(5):
        next(stream)
    began, elapsed = time.process_time(), time.perf_counter()
    questions = words = steps = 0
    sizes = []
    for steps, (x, *_) in enumerate(stream, 1):
        questions += len(x["question_ids"])
        words += sum(int(tf.math.count_nonzero(x[n])) for n in ("question_ids", "passage_ids"))
        if steps % 100 == 1:
            sizes.append(memory())
        if time.perf_counter() - elapsed > seconds:
            break
    cpu = time.process_time() - began
    shown = sizes[:: max(1, len(sizes) // 6)]
    print(
        f"{name}: {questions:,} questions, {words / cpu:,.0f} words, {questions / cpu:,.0f} "
        f"questions and {steps / cpu:.2f} batches a CPU second; MiB "
        f"{' '.join(f'{size:.0f}' for size in shown)}",
        flush=True,
    )


def main() -> None:
    """Prints the rates of both papers' batches."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=800_000)
    parser.add_argument("--seconds", type=float, default=300, help="for each row")
    parser.add_argument("--saved", type=int, default=200, help="batches")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder, "questions.jsonl")
        write_examples(path, made(options.questions))
        print(f"{options.questions:,} questions, {path.stat().st_size / 1e9:.2f} GB", flush=True)
        for name, (preprocessor_class, sizes, batch_size) in PAPERS.items():
            preprocessor = preprocessor_class(Vocabulary(WORDS), styles=("span",), **sizes)
            batches = make_dataset(read_examples(path), preprocessor, batch_size, shuffle=True)
            run(f"{name}, batches of {batch_size}", batches, options.seconds)
            saved = str(Path(folder, name))
            batches.take(options.saved).save(saved)
            run(f"{name}, saved", tf.data.Dataset.load(saved).repeat(2), options.seconds)


if __name__ == "__main__":
    main()

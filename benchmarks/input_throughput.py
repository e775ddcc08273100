"""Input throughput on one core: from the raw SQuAD file to batches of numbers.

    python -m benchmarks.input_throughput --data ../shared/data

Measures separately, on one core: reading the file; the vocabulary pass; the tokeniser and
TensorFlow Text's plain tokenisers on the same strings; and whole batches with the paper's sizes,
with one passage per question (`read_squad`) and with ten (`squad_for_masque`). Words are separated
by spaces. Rates are per second of the process's computation in all threads, so other programs do
not affect them; `wall_seconds` is the elapsed time.
"""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text

from tfmrc import data
from tfmrc.preprocessing import MasquePreprocessor
from tfmrc.text import Tokenizer, Vocabulary

Result = dict[str, Any]


def one_core() -> None:
    """Pins the process to one core and TensorFlow to one thread of each kind."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)


def num_words(texts: Iterable[str]) -> int:
    """Returns the number of words separated by spaces."""
    return sum(len(text.split()) for text in texts)


def texts_of(examples: Iterable[data.Example]) -> list[str]:
    """Returns the questions and passages of all examples, with repetitions."""
    return [text for example in examples for text in (example.question, *example.passages)]


Seconds = tuple[float, float]  # computation, elapsed


def best_seconds(action: Callable[[], Any], repeats: int) -> Seconds:
    """Returns the shortest time of several runs."""
    seconds = []
    for _ in range(repeats):
        began, began_wall = time.process_time(), time.perf_counter()
        action()
        seconds.append((time.process_time() - began, time.perf_counter() - began_wall))
    return min(seconds)


def rates(name: str, timed: Seconds, **counts: int) -> Result:
    """Prints and returns the rates of a measurement."""
    seconds, wall = timed
    result: Result = {"what": name, "seconds": round(seconds, 3), "wall_seconds": round(wall, 3)}
    result |= {f"{what}_per_second": round(count / seconds) for what, count in counts.items()}
    print(json.dumps(result))
    return result


def tokenizers(strings: list[str], repeats: int) -> list[Result]:
    """Returns our tokeniser with all its outputs, and the plain ones of TensorFlow Text."""
    words = num_words(strings)
    inputs = tf.constant(strings)
    bare = (tf_text.WhitespaceTokenizer(), tf_text.UnicodeScriptTokenizer())
    functions = {"tfmrc.text.Tokenizer": Tokenizer().tokenize} | {
        f"tensorflow_text.{type(one).__name__}": tf.function(one.tokenize_with_offsets)
        for one in bare
    }
    results = []
    for name, function in functions.items():
        function(inputs[:8])
        seconds = best_seconds(lambda function=function: function(inputs), repeats)
        results.append(rates(f"tokenise, {name}", seconds, words=words))
    return results


def batches(
    name: str,
    stream: Iterable[data.Example],
    preprocessor: MasquePreprocessor,
    size: int,
    steps: int,
) -> Result:
    """Runs every stage from the raw file to batches; nothing is cached between runs."""
    first = list(islice(stream, steps * size))
    words_per_example = num_words(texts_of(first)) / max(1, len(first))
    dataset = data.make_dataset(stream, preprocessor, size, styles=preprocessor.styles, bucket=True)
    for _ in dataset.take(1):  # traces the graph
        pass
    examples = 0

    def read_all() -> None:
        nonlocal examples
        for x, _, _ in dataset.take(steps):
            examples += int(tf.shape(x["style_ids"])[0])

    seconds = best_seconds(read_all, 1)
    shares = data.padding_share(dataset, steps=min(steps, 20))
    result = rates(name, seconds, examples=examples, words=round(examples * words_per_example))
    return result | {
        "examples": examples,
        "batch_size": size,
        "padding_share": round(shares["all"], 3),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("TFMRC_DATA", "../shared/data"))
    )
    parser.add_argument("--file", default="squad/train.json", help="inside the data folder")
    parser.add_argument("--batch-size", type=int, default=80)
    parser.add_argument("--steps", type=int, default=100, help="batches to make, at most")
    parser.add_argument("--repeats", type=int, default=3, help="the best run counts")
    parser.add_argument("--output", type=Path, help="JSON file for the figures")
    options = parser.parse_args(arguments)
    path = options.data / options.file
    if not path.is_file():
        raise SystemExit(f"There is no {path}; --data names the folder of the data.")
    one_core()
    about = {
        "file": options.file,
        "bytes": path.stat().st_size,
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "tensorflow_text": tf_text.__version__,
        "cores": 1,
        "load_average": round(os.getloadavg()[0], 2),
    }
    print(json.dumps(about))

    single = data.read_squad(path)
    many = data.squad_for_masque(path, num_passages=10)
    examples = list(single)
    passages = sorted({passage for example in examples for passage in example.passages})
    results = [
        rates(
            "read_squad",
            best_seconds(lambda: list(single), options.repeats),
            examples=len(examples),
            words=num_words(texts_of(examples)),
        ),
        *tokenizers(passages, options.repeats),
        rates(
            "Vocabulary.from_examples",
            best_seconds(lambda: Vocabulary.from_examples(single), options.repeats),
            examples=len(examples),
            words=num_words(texts_of(examples)),
        ),
    ]
    vocabulary = Vocabulary.from_examples(single)
    for name, stream, count in (("1 passage", single, 1), ("10 passages", many, 10)):
        preprocessor = MasquePreprocessor(vocabulary, styles=("span",), num_passages=count)
        results.append(
            batches(
                f"file to batch, {name} per question",
                stream,
                preprocessor,
                options.batch_size,
                options.steps,
            )
        )
    if options.output:
        options.output.write_text(json.dumps({"about": about, "results": results}, indent=2))


if __name__ == "__main__":
    main()

"""Input throughput on one core: from the raw SQuAD file to batches of numbers.

    python -m benchmarks.input_throughput --data FOLDER

Measures separately, on one core: reading the file; the vocabulary pass; the tokeniser and
TensorFlow Text's plain tokenisers on the same strings; and whole batches with the paper's sizes,
with one passage per question (`read_squad`) and with ten (`squad_for_masque`). Words are separated
by spaces. Rates are per second of the process's computation in all threads, so other programs do
not affect them.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text

from benchmarks.measuring import print_head, print_row, seconds_of
from tfmrc import data
from tfmrc.preprocessing import MasquePreprocessor
from tfmrc.text import Tokenizer, Vocabulary


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


def print_rates(
    what: str, action: Callable[[], Any], repeats: int, words: int, examples: int | None = None
) -> None:
    """Prints the words and examples that the fastest of several runs has read in a second."""
    seconds = seconds_of(action, repeats, time.process_time)
    rates = ("" if count is None else f"{count / seconds:,.0f}" for count in (words, examples))
    print_row(what, f"{seconds:.3f}", *rates)


def tokenizers(strings: list[str], repeats: int) -> None:
    """Measures our tokeniser with all its outputs, and the plain ones of TensorFlow Text."""
    words = num_words(strings)
    inputs = tf.constant(strings)
    bare = (tf_text.WhitespaceTokenizer(), tf_text.UnicodeScriptTokenizer())
    functions = {"tfmrc.text.Tokenizer": Tokenizer().tokenize} | {
        f"tensorflow_text.{type(one).__name__}": tf.function(one.tokenize_with_offsets)
        for one in bare
    }
    for name, function in functions.items():
        function(inputs[:8])
        print_rates(f"tokenise, {name}", lambda f=function: f(inputs), repeats, words)


def batches(
    name: str,
    stream: Iterable[data.Example],
    preprocessor: MasquePreprocessor,
    size: int,
    steps: int,
) -> None:
    """Runs every stage from the raw file to batches; nothing is cached between runs."""
    first = list(islice(stream, steps * size))
    dataset = data.make_dataset(stream, preprocessor, size, styles=preprocessor.styles, bucket=True)
    next(iter(dataset))  # traces the graph
    print_rates(
        name, lambda: sum(1 for _ in dataset.take(steps)), 1, num_words(texts_of(first)), len(first)
    )
    share = data.padding_share(dataset, steps=min(steps, 20))["all"]
    print(f"Padding, {name}: {share:.3f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--file", default="squad/train.json", help="inside the data folder")
    parser.add_argument("--batch-size", type=int, default=80)
    parser.add_argument("--steps", type=int, default=100, help="batches to make, at most")
    parser.add_argument("--repeats", type=int, default=3, help="the best run counts")
    options = parser.parse_args(arguments)
    path = options.data / options.file
    if not path.is_file():
        raise SystemExit(f"There is no {path}; --data names the folder of the data.")
    one_core()
    print(f"{options.file}, TensorFlow {tf.__version__}, one core")
    print_head("what", "CPU seconds", "words a second", "examples a second")
    single = data.read_squad(path)
    many = data.squad_for_masque(path, num_passages=10)
    examples = list(single)
    passages = sorted({passage for example in examples for passage in example.passages})
    sizes = options.repeats, num_words(texts_of(examples)), len(examples)
    print_rates("read_squad", lambda: list(single), *sizes)
    tokenizers(passages, options.repeats)
    print_rates("Vocabulary.from_examples", lambda: Vocabulary.from_examples(single), *sizes)
    vocabulary = Vocabulary.from_examples(single)
    for name, stream, count in (("1 passage", single, 1), ("10 passages", many, 10)):
        preprocessor = MasquePreprocessor(vocabulary, styles=("span",), num_passages=count)
        what = f"file to batch, {name} per question"
        batches(what, stream, preprocessor, options.batch_size, options.steps)


if __name__ == "__main__":
    main()

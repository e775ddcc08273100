"""How the time of the exported graphs grows with the lengths of passage and answer.

    python -m benchmarks.growth
    python -m benchmarks.growth --models Masque SAN --figure growth

All four models have random weights and the sizes of their papers. A request has one passage and one
question; words are those of a vocabulary of 5,000. Each model and length runs in a process of its
own. "Reading" is a request whose answer has one word; a step is the slope from 20 words to 40 (at
each length of the passage), and from each length of the answer to the next (at 500 words).
`--figure` draws the curves.
"""

import argparse
import json
import sys
import time
from typing import Any

from benchmarks.measuring import answer_of, print_head, print_row, seconds_of
from benchmarks.random_models import PRESETS, build

SOURCES = (125, 250, 500, 1000, 2000)
ANSWERS = (10, 25, 50, 100, 200)
SOURCE = 500
WORDS = 5000


def main() -> None:
    """Prints two tables, and draws them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", choices=PRESETS, default=list(PRESETS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5, help="the fastest counts")
    parser.add_argument("--figure", help="a path; .png and .svg are added")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, words, lengths = options.measure
        found = _measure(name, int(words), json.loads(lengths), options.repeats)
        print(json.dumps(found))
        return
    by_source: dict[str, list[dict[str, float]]] = {}
    by_answer: dict[str, list[float]] = {}
    for name in options.models:
        for words in SOURCES:
            lengths = (1,) if name == "SAN" else (1, 20, 40)
            found = _in_process(name, words, lengths, options)
            row = {"read": found[0]}
            if len(lengths) > 1:
                row["step"] = (found[2] - found[1]) / 20
            by_source.setdefault(name, []).append(row)
        if name != "SAN":
            found = _in_process(name, SOURCE, (1, *ANSWERS), options)
            steps = zip(found, found[1:], (1, *ANSWERS), ANSWERS, strict=False)
            by_answer[name] = [(late - soon) / (long - short) for soon, late, short, long in steps]
    _print(by_source, by_answer, options)
    if options.figure:
        _draw(by_source, by_answer, options.figure)


def _in_process(
    name: str, words: int, lengths: tuple[int, ...], options: argparse.Namespace
) -> list[float]:
    print(f"{name}: {words} words, answers of {list(lengths)}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--repeats", options.repeats]
    command += ["--measure", name, words, json.dumps(lengths)]
    kinds = ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    return answer_of(*command, **dict.fromkeys(kinds, str(options.threads)))


def _measure(name: str, words: int, lengths: list[int], repeats: int) -> list[float]:
    """Returns the CPU seconds of a request for each length of the answer."""
    import numpy as np
    import tensorflow as tf

    from tfmrc import predictors

    one = {"num_passages": 1} if name == "Masque" else {}
    model, preprocessor = build(name, "paper", WORDS, passage_length=max(SOURCES), **one)
    signature = "answer" if name == "DAANet" else "serving_default"
    predictor: Any = predictors.Predictor(model, preprocessor)
    drawn = np.random.default_rng(0).integers(0, WORDS, words)
    passage = " ".join(f"word{number}" for number in drawn)
    given = {
        "passage": passage, "passages": [passage], "question": "word1 word2 word3 word4 word5",
        "answer": f"word{drawn[words // 2]}", "style": preprocessor.styles[0],
    }  # fmt: skip
    seconds = []
    for length in lengths:
        bounds = {} if name == "SAN" else {"min_length": length, "max_length": length}
        function = predictor.signature(signature, **bounds)
        given["relevance"] = [1.0]
        inputs = [tf.constant([given[spec.name]]) for spec in function.input_signature]
        function(*inputs)  # traced
        work = lambda function=function, inputs=inputs: function(*inputs)  # noqa: E731
        seconds.append(seconds_of(work, repeats, time.process_time))
    return seconds


def _print(
    by_source: dict[str, list[dict[str, float]]],
    by_answer: dict[str, list[float]],
    options: argparse.Namespace,
) -> None:
    import tensorflow as tf

    print(f"TensorFlow {tf.__version__}, {options.threads} threads, CPU milliseconds")
    print_head("words of the passage", *map(str, SOURCES))
    for name, rows in by_source.items():
        for key, label, places in (("read", "reading", 0), ("step", "a step", 1)):
            if key in rows[0]:
                print_row(f"{name}, {label}", *(f"{1e3 * row[key]:,.{places}f}" for row in rows))
    if not by_answer:
        return
    ranges = zip((1, *ANSWERS), ANSWERS, strict=False)
    print()
    print_head("words of the answer", *(f"{a} to {b}" for a, b in ranges))
    for name, steps in by_answer.items():
        print_row(f"{name}, a step", *(f"{1e3 * step:.1f}" for step in steps))


def _draw(
    by_source: dict[str, list[dict[str, float]]], by_answer: dict[str, list[float]], path: str
) -> None:
    from tfmrc.evaluation.plots.style import COLOURS, panels, save_figure

    figure, axes = panels(3, wide=3)
    colours = dict(zip(PRESETS, COLOURS, strict=False))
    for panel, (key, label) in zip(axes, (("read", "reading"), ("step", "a step")), strict=False):
        for name, rows in by_source.items():
            if key in rows[0]:
                values = [1e3 * row[key] for row in rows]
                panel.plot(SOURCES, values, marker="o", label=name, color=colours[name])
        panel.set(xlabel="words of the passage", ylabel=f"{label}, CPU ms", ylim=(0, None))
    for name, steps in by_answer.items():
        values = [1e3 * step for step in steps]
        axes[2].plot(ANSWERS, values, marker="o", label=name, color=colours[name])
    axes[2].set(xlabel="words of the answer", ylabel="a step, CPU ms", ylim=(0, None))
    axes[0].legend(frameon=False)
    for file in save_figure(figure, path):
        print(f"wrote {file}")


if __name__ == "__main__":
    main()

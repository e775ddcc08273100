"""Ask an export, with TensorFlow alone: python ask.py SAVEDMODEL QUESTIONS.jsonl [STYLE ...].

This program does not use tfmrc, nor Keras: it is what a user of an export needs.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any


def lines_of(record: dict[str, Any], answers: dict[str, dict[str, Any]]) -> Iterator[str]:
    """A question, its passages with their relevance, and the answers with their words' sources.

    Args:
        record: `question` and `passages`.
        answers: style -> the outputs of the signature for this question.
    """
    first = next(iter(answers.values()))
    yield f"Question: {record['question']}"
    for number, (passage, relevance) in enumerate(
        zip(record["passages"], first["relevance"], strict=False), 1
    ):
        yield f"  passage {number}, relevance {relevance:.2f}: {passage}"
    possible = float(first["answerable_probability"])
    yield f"  an answer is possible: {possible:.2f}" + (
        "" if possible >= 0.5 else " (so what follows is no more than a guess)"
    )
    for style, found in answers.items():
        yield f"  {style}: {found['answer'].decode()}"
        for number in range(found["num_words"]):
            word, source = found["words"][number].decode(), found["sources"][number].decode()
            start, end = found["word_starts"][number], found["word_ends"][number]
            place = source
            if source == "passage":
                place += f" {found['word_passages'][number] + 1}"
            if start >= 0:
                place += f", characters {start}-{end}"
            weights = " / ".join(f"{weight:.2f}" for weight in found["mixture"][number])
            yield f"      {word:<14} {place:<32} vocabulary / question / passages {weights}"
    yield ""


def main(arguments: Sequence[str]) -> None:
    """Load an export and answer the questions of a file in each style."""
    export, questions, *styles = arguments
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.modules["tfmrc"] = None  # type: ignore[assignment]  # to import it is an error from here
    import tensorflow as tf
    import tensorflow_text  # noqa: F401  registers the operations of the exported graph

    model = tf.saved_model.load(export)
    answer = model.signatures["serving_default"]
    with open(questions, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    for record in records:
        answers = {}
        for style in styles:
            outputs = answer(
                question=tf.constant([record["question"]]),
                passages=tf.constant([record["passages"]]),
                style=tf.constant([style]),
            )
            answers[style] = {name: value.numpy()[0] for name, value in outputs.items()}
        for line in lines_of(record, answers):
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The blind baselines: the corpus with the question or the passages taken away."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tfmrc.data import Example, load_corpus, write_examples

BLIND = ("question", "passages")
NO_QUESTION = "?"


def blinded(example: Example, hidden: str) -> Example:
    """The example with its question or its passages hidden; labels and answers stay.

    Args:
        example: the example.
        hidden: `"question"` or `"passages"`.
    """
    if hidden == "question":
        return replace(example, question=NO_QUESTION)
    return replace(example, passages=("",) * len(example.passages), spans=())


def write_blind_corpus(folder: Path, hidden: str) -> None:
    """Write the shipped corpus, one side hidden, under the names that the recipe reads."""
    if hidden not in BLIND:
        raise ValueError(f"Hide one of {', '.join(BLIND)}. Received: hidden={hidden!r}")
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "test"):
        write_examples(folder / f"{split}.jsonl.gz", _hidden(split, hidden))


def _hidden(split: str, hidden: str) -> Iterator[Example]:
    for example in load_corpus(split):
        yield blinded(example, hidden)

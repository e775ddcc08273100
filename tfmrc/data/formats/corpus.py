"""The corpus shipped with tfmrc: short passages about a fictional world, for demos and tests."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from tfmrc.data.example import Example
from tfmrc.data.formats.examples import read_examples
from tfmrc.data.formats.registry import register_format
from tfmrc.data.stream import Account, ExampleStream

NO_QUESTION = "?"

_FOLDER = Path(__file__).parents[1] / "corpus_files"


@register_format("corpus", is_file=False)
def load_corpus(
    split: str, *, hide: Literal["question", "passages"] | None = None
) -> ExampleStream:
    """Returns a split of the shipped corpus.

    Each group of examples describes three things of a made-up world (bridges, guilds, festivals,
    ...) in two passages per thing. A question asks for one fact about one thing and comes with
    three or four of the six passages. Half of the questions have no answer. Answers have two
    styles: ``concise`` (the words of the value) and ``sentence`` (the statement, clear without the
    question). Names in ``dev`` and ``test`` never occur in ``train``. `tools/corpus.py` makes it.

    Args:
        split: str. ``"train"``, ``"dev"`` or ``"test"``.
        hide: str or None. ``"question"`` or ``"passages"``: a part that is left blank, to measure
            a model that does not see it; labels and answers stay. Default: None.

    Returns:
        A stream of examples that can be read any number of times.

    Raises:
        ValueError: If there is no such part.

    Example:

    >>> example = next(example for example in load_corpus("test") if example.answerable)
    >>> sorted(example.answers)
    ['concise', 'sentence']
    """
    examples = read_examples(_FOLDER / f"{split}.jsonl.gz")

    def read(account: Account) -> Iterator[Example]:
        for example in examples:
            if hide == "question":
                example = replace(example, question=NO_QUESTION)
            elif hide == "passages":
                example = replace(example, passages=("",) * len(example.passages), spans=())
            yield example

    return ExampleStream(read)

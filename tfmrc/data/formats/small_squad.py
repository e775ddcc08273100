"""The part of SQuAD that tfmrc ships: real questions about real paragraphs, for demos and tests."""

from pathlib import Path

from tfmrc.data.formats.registry import register_format
from tfmrc.data.formats.squad import read_squad
from tfmrc.data.stream import ExampleStream

SPLITS = ("train", "test")

_FOLDER = Path(__file__).parents[1] / "squad_files"


@register_format("small_squad", is_file=False)
def load_small_squad(split: str, *, style: str = "span") -> ExampleStream:
    """Returns a split of the shipped part of SQuAD.

    2,539 training questions from 44 Wikipedia articles of SQuAD's training set and 527 test
    questions from 36 articles of its development set, all of them with an answer. The folder
    `squad_files` holds the files, their licence (CC BY-SA 4.0) and their attribution;
    `tools/squad_part.py` makes them.

    Args:
        split: str. `"train"` or `"test"`.
        style: str. Name of the answers' style. Default: `"span"`.

    Returns:
        A stream of examples that can be read as often as needed; `group` is the article's title.

    Raises:
        ValueError: There is no such split.

    Example:

    >>> example = next(iter(load_small_squad("test")))
    >>> example.group, example.question
    ('Normans', 'Where did the Normans and Byzantines sign the peace treaty?')

    Reference: Rajpurkar et al. 2016.
    """
    if split not in SPLITS:
        raise ValueError(
            f"The shipped part of SQuAD has the splits {list(SPLITS)}. Received: split={split!r}"
        )
    return read_squad(_FOLDER / f"{split}.json.gz", style=style)

"""The paper's two splits of SQuAD, by article and by sentence, with their lists of ids."""

import dataclasses
import heapq
from collections.abc import Iterable
from pathlib import Path

from recipes.maxout_pointer_qg_squad.settings import Settings
from tfmrc import data
from tfmrc.data.sentences import sentences
from tfmrc.data.splits import group_number

PARTS = ("train", "dev", "test")


def make(settings: Settings, folder: Path) -> dict[str, list[data.Example]]:
    """The answerable questions of train, dev and test.

    Args:
        settings: names files and the split.
        folder: the data folder.

    Raises:
        ValueError: the split is not known.
    """
    train = _answerable(data.read_squad(folder / settings.train))
    test = _answerable(data.read_squad(folder / settings.test))
    if settings.split == "split1":
        kept, dev = data.split_by_group(train, settings.validation_share, settings.seed)
        parts = {"train": list(kept), "dev": list(dev), "test": test}
    elif settings.split == "split2":
        rest, dev = data.split_by_group([by_sentence(e) for e in test], 0.5, settings.seed)
        parts = {"train": train, "dev": list(dev), "test": list(rest)}
    else:
        raise ValueError(f"The splits are split1 and split2. Received: split={settings.split!r}")
    if settings.limit is not None:
        for part in ("dev", "test"):
            parts[part] = drawn(parts[part], settings.limit)
    return parts


def by_sentence(example: data.Example) -> data.Example:
    """The example with its answer's sentence as its group."""
    passage, start = example.passages[0], example.spans[0].start
    found = [span for span in sentences(passage) if span[0] <= start < span[1]]
    first, end = found[0] if found else (0, len(passage))
    return dataclasses.replace(example, group=f"{example.group}\t{passage[first:end]}")


def drawn(examples: Iterable[data.Example], limit: int) -> list[data.Example]:
    """At most `limit` examples, drawn by their ids alone."""
    return heapq.nsmallest(limit, examples, key=lambda example: group_number(example.id))


def write_ids(parts: dict[str, list[data.Example]], folder: Path) -> None:
    """A file of ids for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, examples in parts.items():
        lines = "".join(f"{example.id}\n" for example in examples)
        (folder / f"{name}.txt").write_text(lines, encoding="utf-8")


def _answerable(examples: Iterable[data.Example]) -> list[data.Example]:
    return [example for example in examples if example.answers]

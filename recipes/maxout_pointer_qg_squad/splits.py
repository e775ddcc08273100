"""The paper's two splits of SQuAD, by article and by sentence, with their lists of ids."""

import dataclasses
import heapq
from collections.abc import Iterable
from pathlib import Path

from recipes.maxout_pointer_qg_squad import sources
from recipes.maxout_pointer_qg_squad.settings import Settings
from tfmrc import data
from tfmrc.data.transforms.sentences import sentences
from tfmrc.data.transforms.splits import group_number

PARTS = ("train", "dev", "test")


@dataclasses.dataclass(frozen=True)
class Parts:
    """What is trained on, validated with and reported on, and the references of each test id."""

    train: list[data.Example]
    dev: list[data.Example]
    test: list[data.Example]
    references: dict[str, list[str]]


def make(settings: Settings, folder: Path) -> Parts:
    """Train, dev and test.

    Args:
        settings: names files and the split, or lists of ids.
        folder: the data folder.

    Raises:
        ValueError: the split is not known, or the files lack an id of the lists.
    """
    train = sources.read(settings.format, folder / settings.train)
    test = sources.read(settings.format, folder / settings.test)
    references = sources.references(test)
    if settings.ids is not None:
        known = {example.id: example for example in (*train, *test)}
        parts = {part: _listed(known, Path(settings.ids, f"{part}.txt")) for part in PARTS}
        return Parts(**parts, references=references)
    if settings.split == "split1":
        kept, chosen = data.split_by_group(train, settings.validation_share, settings.seed)
        train, dev = list(kept), list(chosen)
    elif settings.split == "split2":
        by_place = [by_sentence(example) for example in test]
        rest, chosen = data.split_by_group(by_place, 0.5, settings.seed)
        test, dev = list(rest), list(chosen)
    else:
        raise ValueError(f"The splits are split1 and split2. Received: split={settings.split!r}")
    test = sources.one_a_text(test)
    if settings.limit is not None:
        dev, test = drawn(dev, settings.limit), drawn(test, settings.limit)
    return Parts(train, dev, test, references)


def by_sentence(example: data.Example) -> data.Example:
    """The example with its answer's sentence as its group; without an answer it stays as it is."""
    if not example.spans:
        return example
    passage, start = example.passages[0], example.spans[0].start
    found = [span for span in sentences(passage) if span[0] <= start < span[1]]
    first, end = found[0] if found else (0, len(passage))
    return dataclasses.replace(example, group=f"{example.group}\t{passage[first:end]}")


def drawn(examples: Iterable[data.Example], limit: int) -> list[data.Example]:
    """At most `limit` examples, drawn by their ids alone."""
    return heapq.nsmallest(limit, examples, key=lambda example: group_number(example.id))


def write_ids(parts: Parts, folder: Path) -> None:
    """A file of ids for each part."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in PARTS:
        lines = "".join(f"{example.id}\n" for example in getattr(parts, name))
        (folder / f"{name}.txt").write_text(lines, encoding="utf-8")


def _listed(known: dict[str, data.Example], path: Path) -> list[data.Example]:
    with path.open(encoding="utf-8") as file:
        names = [name for line in file if (name := line.rstrip("\n"))]
    absent = [name for name in names if name not in known]
    if absent:
        raise ValueError(f"{path}: {len(absent)} ids are not in the files. Received: {absent[0]!r}")
    return [known[name] for name in names]

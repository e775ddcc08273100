"""From a recipe's sources to examples: read, cut to a share, split by group. All are streams."""

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data.example import Example
from tfmrc.data.transforms.splits import group_number
from tfmrc.experiments.configuration import Recipe, Source

SUBSET_SEED = 1_000_003  # apart from the split's: a subset must not be cut along the split


def data_folder(given: str | Path | None) -> Path:
    """The folder of `--data`, or of the environment variable TFMRC_DATA.

    Raises:
        ValueError: if neither is given, or it is no folder.
    """
    folder = given or os.environ.get("TFMRC_DATA")
    if not folder:
        raise ValueError(
            "Where is the data? Pass --data FOLDER, or set the environment variable TFMRC_DATA."
        )
    if not Path(folder).is_dir():
        raise ValueError(f"The data folder is not there. Received: data={str(folder)!r}")
    return Path(folder)


def _squad(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.squad_for_masque(path, style=styles[0], **options)


def _narrativeqa(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    summaries = path.parent / options.pop("summaries", "summaries.csv")
    return data.read_narrativeqa(path, summaries, style=styles[0], **options)


def _dream(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_dream(path, style=styles[0], **options)


def _msmarco(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_msmarco(path, styles=styles, **options)


def _examples(path: Path, styles: tuple[str, ...], **options: Any) -> Iterable[Example]:
    return data.read_examples(path, **options)


READERS: dict[str, Callable[..., Iterable[Example]]] = {
    "squad": _squad,
    "narrativeqa": _narrativeqa,
    "dream": _dream,
    "msmarco": _msmarco,
    "examples": _examples,
}
ONE_STYLE = ("squad", "narrativeqa", "dream")


def read(source: Source, path: str, folder: Path, options: dict[str, Any]) -> Iterable[Example]:
    """The examples of one file of a source.

    Raises:
        ValueError: if the file is not there, the predictor has no such option, or the number of
            styles does not fit the format.
    """
    if source.format in ONE_STYLE and len(source.styles) != 1:
        raise ValueError(
            f"The format {source.format} has answers of one style. "
            f"Received: styles={list(source.styles)}"
        )
    file = folder / path
    if not file.is_file():
        raise ValueError(f"A file of the recipe is not there. Received: {file}")
    try:
        return READERS[source.format](file, source.styles, **source.options, **options)
    except TypeError as error:
        raise ValueError(f"The predictor of {source.format}: {error}") from error


@dataclass(frozen=True)
class Splits:
    """Examples of one source; every stream can be read as often as one likes.

    Attributes:
        source: the source.
        train: what is trained on; nothing if the source has no training file.
        validation: of groups of the training file that `train` has not.
        test: what figures are reported on; None if the source has no such file.
    """

    source: Source
    train: Iterable[Example] = ()
    validation: Iterable[Example] = ()
    test: Iterable[Example] | None = None


def splits(recipe: Recipe, folder: Path) -> list[Splits]:
    """What a recipe trains on, validates on and reports on, by source.

    Validation examples are split off the training files by group (article, document, dialogue);
    the test files are only reported on.

    Args:
        recipe: names files and shares.
        folder: the data folder.

    Returns:
        An entry for every source, in their order.

    Raises:
        ValueError: as `read`; or nothing is trained on.
    """
    if all(source.train is None for source in recipe.sources):
        raise ValueError("A recipe trains on at least one source. Received: none with a train file")
    return [_splits_of(source, recipe, folder) for source in recipe.sources]


def _splits_of(source: Source, recipe: Recipe, folder: Path) -> Splits:
    made = Splits(source)
    if source.train is not None:
        examples = _part(source, source.train, folder, source.train_options, source.train_share)
        share = recipe.training.validation_share
        rest, chosen = data.split_by_group(examples, share, recipe.seed)
        made = replace(made, train=rest, validation=chosen)
    if source.test is not None:
        examples = _part(source, source.test, folder, source.test_options, source.test_share)
        made = replace(made, test=examples)
    return made


def _part(
    source: Source, path: str, folder: Path, options: dict[str, Any], share: float
) -> Iterable[Example]:
    examples = read(source, path, folder, options)
    if share < 1:
        examples = data.split_by_group(examples, share, SUBSET_SEED)[1]
    if source.answerable_only:
        examples = Kept(examples, lambda example: bool(example.answers))
    return examples


@dataclass(frozen=True)
class Kept:
    """The examples of a stream that pass a test, readable as often as the stream."""

    examples: Iterable[Example]
    test: Callable[[Example], bool]

    def __iter__(self) -> Iterator[Example]:
        return filter(self.test, self.examples)


@dataclass(frozen=True)
class Mixed:
    """Several streams of known lengths, evenly mixed, in the same order at every pass.

    Example:

    >>> list(Mixed(("abcd", "XY"), (4, 2)))
    ['a', 'X', 'b', 'c', 'Y', 'd']
    """

    streams: tuple[Iterable[Any], ...]
    lengths: tuple[int, ...]

    def __iter__(self) -> Iterator[Any]:
        sides = [
            _placed(number, stream, length)
            for number, (stream, length) in enumerate(zip(self.streams, self.lengths, strict=True))
        ]
        for _, _, item in heapq.merge(*sides, key=lambda entry: entry[:2]):
            yield item


def _placed(number: int, stream: Iterable[Any], length: int) -> Iterator[tuple[float, int, Any]]:
    """The items of a stream with their places between 0 and 1, and the stream's number."""
    for place, item in enumerate(stream):
        yield (place + 0.5) / length, number, item


def limited(examples: Iterable[Example], limit: int | None) -> list[Example]:
    """At most `limit` examples, drawn by their ids alone, in their own order.

    Example:

    >>> from tfmrc.data import Example
    >>> examples = [Example(str(n), "Why?", ("So.",)) for n in range(100)]
    >>> [example.id for example in limited(examples, 4)]
    ['24', '30', '48', '96']
    """
    if limit is None:
        return list(examples)
    numbered = ((group_number(e.id, SUBSET_SEED), place, e) for place, e in enumerate(examples))
    chosen = heapq.nsmallest(limit, numbered, key=lambda item: item[:2])
    return [example for _, _, example in sorted(chosen, key=lambda item: item[1])]

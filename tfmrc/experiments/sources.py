"""Reads the examples of sources, limits them and splits them."""

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfmrc import data
from tfmrc.data import Example
from tfmrc.data.formats.registry import find_format
from tfmrc.data.stream import Filtered
from tfmrc.data.transforms.sentences import sentences
from tfmrc.data.transforms.splits import draw_by_id, group_of
from tfmrc.experiments.plan import classes_of
from tfmrc.experiments.run_folder import trained_folder
from tfmrc.experiments.settings import DRAW_SEED, Experiment, Source
from tfmrc.experiments.spans import with_spans
from tfmrc.utils.files import user_path

PARTS = ("train", "validation", "test")


def data_folder(given: str | Path | None, experiment: Experiment | None = None) -> Path:
    """Returns the folder of `--data`, or of the environment variable TFMRC_DATA.

    Args:
        given: str, path or None. The folder.
        experiment: `Experiment` or None. The experiment. No folder is needed if all its sources
            are shipped with tfmrc or named by absolute paths. Default: None.

    Raises:
        ValueError: If neither is given.
    """
    folder = given or os.environ.get("TFMRC_DATA")
    if not folder:
        if experiment is not None and not any(map(_needs_folder, experiment.sources)):
            return Path()
        raise ValueError(
            "No data folder. Pass --data FOLDER, or set the environment variable TFMRC_DATA."
        )
    return user_path(folder)


def _needs_folder(source: Source) -> bool:
    named = [name for name in (source.train, source.test) if name is not None]
    is_file = find_format(source.format).is_file
    return is_file and not all(Path(name).is_absolute() for name in named)


@dataclass(frozen=True)
class Splits:
    """Examples of one source; every part can be iterated repeatedly.

    Attributes:
        source: `Source`. The source.
        train: iterable of `Example`. Training examples; empty if the source has no training file.
            Default: ().
        validation: iterable of `Example`. Validation examples, of groups that are not in `train`.
            Default: ().
        test: iterable of `Example` or None. Test examples; None if the source has no test file.
            Default: None.
    """

    source: Source
    train: Iterable[Example] = ()
    validation: Iterable[Example] = ()
    test: Iterable[Example] | None = None


def input_files(experiment: Experiment, folder: Path) -> list[Path]:
    """Returns the files that a run is trained on, each once.

    Raises:
        ValueError: If one of them, or the folder of a model that training needs, does not exist.
    """
    files: list[Path] = []
    split = experiment.split
    takes_of_test = split.by == "sentence" or split.ids is not None
    for source in experiment.sources:
        if source.train is not None:
            files += files_of(source, source.train, folder, source.train_options)
        if source.test is not None:
            tested = files_of(source, source.test, folder, source.test_options)
            files += tested if takes_of_test else []
    if split.ids is not None:
        files += [Path(split.ids) / f"{part}.txt" for part in PARTS]
    vectors = experiment.vocabulary.vectors
    named = (*experiment.contextual.files, *([] if vectors is None else [vectors]))
    files += [folder / name for name in named]
    for file in files:
        if not file.is_file():
            raise ValueError(f"A file of the experiment does not exist. Received: {file}")
    for model in _models(experiment):
        files += sorted(path for path in model.iterdir() if path.is_file())
    return list(dict.fromkeys(files))


def files_of(source: Source, name: str, folder: Path, options: dict[str, Any]) -> list[Path]:
    """Returns a source's file and further files that belong to it."""
    known = find_format(source.format)
    if not known.is_file:
        return []
    return [folder / name, *known.besides(folder / name, source.options | options).values()]


def read(
    source: Source, name: str, folder: Path, options: dict[str, Any] | None = None
) -> Iterable[Example]:
    """Returns the examples of one file of a source."""
    known = find_format(source.format)
    path = folder / name if known.is_file else name
    return known.read(path, source.styles, **{**source.options, **(options or {})})


def _models(experiment: Experiment) -> list[Path]:
    """Returns the folders of the models that training starts from or learns from."""
    folders = []
    for setting, named in (
        ("start_from", experiment.start_from),
        ("training.teacher", experiment.training.teacher),
        ("encoder.preset", experiment.encoder.get("preset")),
    ):
        if named is None or "://" in named:  # of a hub
            continue
        folder = trained_folder(named) or (None if setting == "start_from" else user_path(named))
        if folder is not None and folder.is_dir():
            folders.append(folder)
        elif setting != "encoder.preset" or "/" in named:  # others are names of presets
            raise ValueError(
                f"`{setting}` is not the folder of a trained model; that of a run is there once it "
                f"is trained. Received: {setting}={named!r}"
            )
    return folders


def splits(experiment: Experiment, folder: Path, spans: Path | None = None) -> list[Splits]:
    """Returns the training, validation and test examples of an experiment, by source.

    Args:
        experiment: `Experiment`. The experiment.
        folder: Path. The data folder.
        spans: Path or None. File of the spans that `prepare` wrote. Default: None.

    Returns:
        An entry for every source, in their order.

    Raises:
        ValueError: If a file does not exist, or a list of ids names an unknown example.
    """
    return [_splits_of(source, experiment, folder, spans) for source in experiment.sources]


def _splits_of(source: Source, experiment: Experiment, folder: Path, spans: Path | None) -> Splits:
    split = experiment.split
    built, on_spans = Splits(source), source.spans == "exact" and _tested_on_spans(experiment)
    train: Iterable[Example] = ()
    if source.train is not None:
        if source.spans == "best" and spans is not None and spans.is_file():
            train = data.read_examples(spans)
        else:
            train = drawn(source, source.train, folder, source.train_options, source.train_share)
            if source.spans is not None:
                train = with_spans(train, source)
        if not experiment.training.stream:
            train = Held(train)
    if source.test is not None:
        test = drawn(source, source.test, folder, source.test_options, source.test_share)
        built = replace(built, test=with_spans(test, source) if on_spans else test)
    if split.ids is not None:
        listed = _listed(train, built.test or (), Path(split.ids))
        built = replace(built, train=listed[0], validation=listed[1], test=listed[2])
    elif split.by == "sentence":
        by_sentence = [_by_sentence(example) for example in built.test or ()]
        rest, validation = data.split_by_group(by_sentence, 0.5, split.seed)
        built = replace(built, train=train, validation=validation, test=rest)
    elif source.train is not None:
        key: Callable[[Example], str] = (lambda e: e.id) if split.by == "example" else group_of
        held_out = split.test_share if source.test is None else 0.0
        if held_out:
            every = drawn(source, source.train, folder, source.train_options, source.train_share)
            groups = {example.id: key(example) for example in every}
            key = lambda e: groups[e.id]  # `spans` leaves one of several passages  # noqa: E731
            test = data.split_by_group(every, held_out, split.seed, key=key)[1]
            built = replace(built, test=with_spans(test, source) if on_spans else test)
            train = data.split_by_group(train, held_out, split.seed, key=key)[0]
        share = held_out + split.validation_share
        rest, validation = data.split_by_group(train, share, split.seed, key=key)
        built = replace(built, train=rest, validation=validation)
    return _as_sequences(built)


def _tested_on_spans(experiment: Experiment) -> bool:
    """Returns True if the test examples need the passage that holds the answer, and its span.

    So do models that only ask about it, and parts of the test file that models are validated on.
    Other models answer every question from all of its passages, and all its references count.
    """
    split = experiment.split
    only_asks: bool = classes_of(experiment).predictor.only_asks
    return split.by == "sentence" or split.ids is not None or only_asks


def drawn(
    source: Source, name: str, folder: Path, options: dict[str, Any], share: float
) -> Iterable[Example]:
    """Returns the examples of a source's file, of a share of its groups."""
    examples = read(source, name, folder, options)
    if share < 1:
        examples = data.split_by_group(examples, share, DRAW_SEED)[1]
    if source.answerable_only:
        examples = Filtered(examples, lambda example: bool(example.answers))
    return examples


def _by_sentence(example: Example) -> Example:
    """Returns the example with the sentence of its answer as its group, if it has a span."""
    if not example.spans:
        return example
    span = example.spans[0]
    passage, start = example.passages[span.passage], span.start
    around = [span for span in sentences(passage) if span[0] <= start < span[1]]
    first, end = around[0] if around else (0, len(passage))
    return replace(example, group=f"{example.group}\t{passage[first:end]}")


def _listed(
    train: Iterable[Example], test: Iterable[Example], folder: Path
) -> tuple[list[Example], list[Example], list[Example]]:
    known = {example.id: example for example in (*train, *test)}
    parts = []
    for part in PARTS:
        path = folder / f"{part}.txt"
        names = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
        absent = [name for name in names if name not in known]
        if absent:
            raise ValueError(
                f"{path}: {len(absent)} ids are not in the files. Received: {absent[0]!r}"
            )
        parts.append([known[name] for name in names])
    return parts[0], parts[1], parts[2]


def _as_sequences(parts: Splits) -> Splits:
    target = parts.source.sequence
    if target is None:
        return parts
    return replace(
        parts,
        train=Mapped(parts.train, lambda example: as_sequence(example, target)),
        validation=Mapped(parts.validation, lambda example: as_sequence(example, target)),
    )


def as_sequence(example: Example, target: str) -> Example:
    """Returns an example for a sequence-to-sequence model: source as passage, target as question.

    The source is the input (the question for an answer, the first answer for a question) and the
    passages, separated by full stops.

    Args:
        example: `Example`. An example with an answer.
        target: str. `"answer"` or `"question"`.

    Example:

    >>> example = Example("1", "Who flew?", ("An owl flew.",), {"span": ("An owl",)})
    >>> as_sequence(example, "question").passages
    ('An owl . An owl flew.',)
    """
    answer = next(iter(example.answers.values()))[0]
    given, written = (
        (example.question, answer) if target == "answer" else (answer, example.question)
    )
    return Example(
        example.id, written, (" . ".join([given, *example.passages]),), group=example.group
    )


# === Streams ===


class Held:
    """The examples of a stream, which the first pass reads and keeps."""

    def __init__(self, examples: Iterable[Example]) -> None:
        self.examples = examples
        self.kept: list[Example] | None = None

    def __iter__(self) -> Iterator[Example]:
        if self.kept is not None:
            yield from self.kept
            return
        kept = []
        for example in self.examples:
            kept.append(example)
            yield example
        self.kept = kept


@dataclass(frozen=True)
class Mapped:
    """The examples of a stream after a function is applied; can be iterated repeatedly."""

    examples: Iterable[Example]
    function: Callable[[Example], Example]

    def __iter__(self) -> Iterator[Example]:
        return map(self.function, self.examples)


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
            _spread(number, stream, length)
            for number, (stream, length) in enumerate(zip(self.streams, self.lengths, strict=True))
        ]
        for _, _, item in heapq.merge(*sides, key=lambda entry: entry[:2]):
            yield item


def _spread(number: int, stream: Iterable[Any], length: int) -> Iterator[tuple[float, int, Any]]:
    """Yields the items of a stream with positions between 0 and 1, and the stream's number."""
    for index, item in enumerate(stream):
        yield (index + 0.5) / length, number, item


def unique(examples: Iterable[Example], where: str) -> Iterator[Example]:
    """Yields the examples and checks that their ids differ.

    Raises:
        ValueError: If an id occurs twice; the message names both examples.

    Example:

    >>> twice = [Example(name, "Why?", ()) for name in "aba"]
    >>> list(unique(twice, "test.json"))
    Traceback (most recent call last):
    ...
    ValueError: test.json: two examples have one id, number 1 and number 3. Received: id='a'
    """
    seen: dict[str, int] = {}
    for number, example in enumerate(examples, 1):
        first = seen.setdefault(example.id, number)
        if first != number:
            raise ValueError(
                f"{where}: two examples have one id, number {first} and number {number}. "
                f"Received: id={example.id!r}"
            )
        yield example


def limited(examples: Iterable[Example], limit: int | None, seed: int = DRAW_SEED) -> list[Example]:
    """Returns at most `limit` examples, drawn by their ids alone, in their own order.

    Example:

    >>> from tfmrc.data import Example
    >>> examples = [Example(str(n), "Why?", ("So.",)) for n in range(100)]
    >>> [example.id for example in limited(examples, 4)]
    ['24', '30', '48', '96']
    """
    if limit is None:
        return list(examples)
    return draw_by_id(((example.id, example) for example in examples), limit, seed)


def validation_examples(experiment: Experiment, part: Splits) -> list[Example]:
    """Returns the validation examples of a source."""
    split = experiment.split
    if split.ids is not None:
        return list(part.validation)
    return limited(part.validation, split.validation_limit, split.draw_seed)


def test_examples(experiment: Experiment, part: Splits) -> list[Example]:
    """Returns the examples that a source is reported on; their ids differ.

    For examples without answers (`pairs`), only the first one of each text is returned.

    Raises:
        ValueError: If two of them have the same id.
    """
    return reported(experiment, part, unique(part.test or (), str(part.source.test)))


test_examples.__test__ = False  # type: ignore[attr-defined]


def reported(experiment: Experiment, part: Splits, test: Iterable[Example]) -> list[Example]:
    """Returns the examples that are reported on, from all examples of a test file."""
    examples = _one_per_text(test) if part.source.format == "pairs" else test
    if experiment.split.ids is not None:
        return list(examples)
    return limited(examples, experiment.evaluation.limit, experiment.split.draw_seed)


def _one_per_text(examples: Iterable[Example]) -> list[Example]:
    first: dict[str, Example] = {}
    for example in examples:
        first.setdefault(example.passages[0], example)
    return list(first.values())

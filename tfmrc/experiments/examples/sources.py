"""Examples of each source of a run: read, located, split, limited, and kept or read again."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tfmrc.data import Example, read_examples, split_by_group
from tfmrc.data.formats.registry import find_format
from tfmrc.data.transforms.splits import draw_by_id
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.spans import with_spans
from tfmrc.experiments.examples.splits import STRATEGIES, Examples, Given
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import DRAW_SEED, Source


class Stream:
    """Examples that every pass reads again, or only the first one.

    Args:
        read: callable. Returns the examples.
        keep: bool. Whether the first whole pass keeps them. Default: False.
    """

    def __init__(self, read: Callable[[], Examples], keep: bool = False) -> None:
        self.read = read
        self.keep = keep
        self.kept: list[Example] | None = None

    def __iter__(self) -> Iterator[Example]:
        if self.kept is not None:
            yield from self.kept
            return
        kept = []
        for example in self.read():
            if self.keep:
                kept.append(example)
            yield example
        if self.keep:
            self.kept = kept


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


@dataclass(frozen=True)
class SourceFile:
    """The training or the test file of a source.

    Attributes:
        name: str. Its name below the data folder.
        is_test: bool. Whether it is the test file.
        stream: The rows as its reader returns them, with the account of the latest pass.
        rows: The rows of the chosen share of the groups; read once, unless they are streamed.
        examples: The rows that the source uses: with `answerable_only`, those with an answer.
    """

    name: str
    is_test: bool
    stream: Examples
    rows: Examples
    examples: Examples


def _source_file(plan: Plan, source: Source, part: str) -> SourceFile | None:
    """Returns a file of a source; None if the source has no such file.

    Args:
        plan: `Plan`. The run.
        source: `Source`. The source.
        part: str. `"train"` or `"test"`.
    """
    name, options, share = (getattr(source, f"{part}{end}") for end in ("", "_options", "_share"))
    if name is None:
        return None
    known, is_test = find_format(source.format), part == "test"
    path, keep = (plan.data / name if known.is_file else name), plan.keeps
    stream = known.read(path, source.styles, **{**source.options, **options})
    every = Stream(lambda: stream, keep)
    rows = every if share >= 1 else Stream(lambda: split_by_group(every, share, DRAW_SEED)[1], keep)
    if not source.answerable_only:
        return SourceFile(name, is_test, stream, rows, rows)
    answered = Stream(lambda: (example for example in rows if example.answers))
    return SourceFile(name, is_test, stream, rows, answered)


@dataclass(frozen=True)
class Splits:
    """Examples of one source; every part can be iterated repeatedly.

    Attributes:
        source: `Source`. The source.
        train: iterable of `Example`. Training examples; none without a training file.
        held_out: iterable of `Example`. Examples of groups that are not in `train`.
        validation: iterable of `Example`. Those of them that are validated on.
        test: iterable of `Example` or None. Test examples, whose ids differ; None without any.
        tested: iterable of `Example`. Those of them that are reported on. For examples without
            answers (`pairs`), only the first one of each text is.
        files: list of `SourceFile`. The source's files, that of the training first.
    """

    source: Source
    train: Examples
    held_out: Examples
    validation: Examples
    test: Examples | None
    tested: Examples
    files: list[SourceFile]


def splits(plan: Plan) -> list[Splits]:
    """Returns the training, validation and test examples of a run, by source.

    Args:
        plan: `Plan`. The run.

    Returns:
        An entry for every source, in their order.

    Raises:
        ValueError: If a list of ids names an unknown example.
    """
    return [_splits_of(plan, source) for source in plan.experiment.sources]


def _splits_of(plan: Plan, source: Source) -> Splits:
    experiment, split = plan.experiment, plan.experiment.split
    trained, tested = (_source_file(plan, source, part) for part in ("train", "test"))
    given = Given(
        rows=() if trained is None else trained.examples,
        train=_training_examples(plan, source, trained),
        test=None if tested is None else tested.examples,
        # A model that answers gets all passages; one that only asks the one with the answer.
        spans=source.spans == "exact" and (split.takes_of_test or plan.classes.only_asks),
        source=source,
    )
    train, held_out, test = STRATEGIES["ids" if split.ids is not None else split.by](given, split)
    if source.sequence is not None:
        train, held_out = (_sequences(part, source.sequence) for part in (train, held_out))
    limits = split.validation_limit, experiment.evaluation.limit
    limit, test_limit = limits if split.ids is None else (None, None)
    every = Stream(lambda: unique(test or (), str(source.test)))
    reported = Stream(lambda: _one_per_text(every)) if source.format == "pairs" else every
    return Splits(
        source,
        train,
        held_out,
        Stream(lambda: limited(held_out, limit, split.draw_seed), plan.keeps),
        None if test is None else every,
        Stream(lambda: limited(reported, test_limit, split.draw_seed), plan.keeps),
        [file for file in (trained, tested) if file is not None],
    )


def _training_examples(plan: Plan, source: Source, file: SourceFile | None) -> Examples:
    """Returns the rows of the training file, with the spans that the setting `spans` selects."""
    if file is None or source.spans is None:
        return () if file is None else file.examples

    def read() -> Examples:
        number = plan.experiment.sources.index(source) + 1
        written = folders.shared_file(plan.folder, folders.SPANS.format(number))
        if source.spans == "best" and written.is_file():
            return read_examples(written)
        return with_spans(file.examples, source)

    return Stream(read, plan.keeps)


def _sequences(examples: Examples, target: str) -> Examples:
    return Stream(lambda: (as_sequence(example, target) for example in examples))


# === Parts of the examples ===


def unique(examples: Examples, where: str) -> Iterator[Example]:
    """Yields the examples and checks that their ids differ.

    Raises:
        ValueError: If an id occurs twice; the message names both examples.

    Example:

    >>> twice = [Example(name, "Why?", ()) for name in "aba"]
    >>> list(unique(twice, "test.json"))
    Traceback (most recent call last):
    ...
    ValueError: test.json: two examples have the same id, number 1 and number 3. Received: id='a'
    """
    seen: dict[str, int] = {}
    for number, example in enumerate(examples, 1):
        first = seen.setdefault(example.id, number)
        if first != number:
            raise ValueError(
                f"{where}: two examples have the same id, number {first} and number {number}. "
                f"Received: id={example.id!r}"
            )
        yield example


def limited(examples: Examples, limit: int | None, seed: int = DRAW_SEED) -> Examples:
    """Returns at most `limit` examples, drawn by their ids alone, in their own order.

    Example:

    >>> examples = [Example(str(n), "Why?", ("So.",)) for n in range(100)]
    >>> [example.id for example in limited(examples, 4)]
    ['24', '30', '48', '96']
    """
    if limit is None:
        return examples
    return draw_by_id(((example.id, example) for example in examples), limit, seed)


def _one_per_text(test: Examples) -> Examples:
    first: dict[str, Example] = {}
    for example in test:
        first.setdefault(example.passages[0], example)
    return first.values()


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

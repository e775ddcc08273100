"""Training, validation and test examples of each source, by one of four strategies."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tfmrc.data import Example, read_examples, split_by_group
from tfmrc.data.transforms.sentences import sentences
from tfmrc.data.transforms.splits import draw_by_id, group_of
from tfmrc.experiments import run_folder as folders
from tfmrc.experiments.examples.files import PARTS, SourceFile, source_file
from tfmrc.experiments.examples.spans import with_spans
from tfmrc.experiments.examples.streams import Stream
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import DRAW_SEED, Source, Split

Examples = Iterable[Example]


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
    keep = not experiment.training.stream
    trained, tested = (source_file(source, part, plan.data, keep) for part in ("train", "test"))
    given = Given(
        rows=() if trained is None else trained.examples,
        train=_training_examples(plan, source, trained, keep),
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
        Stream(lambda: limited(held_out, limit, split.draw_seed), keep),
        None if test is None else every,
        Stream(lambda: limited(reported, test_limit, split.draw_seed), keep),
        [file for file in (trained, tested) if file is not None],
    )


def _training_examples(plan: Plan, source: Source, file: SourceFile | None, keep: bool) -> Examples:
    """Returns the rows of the training file, with the spans that the setting `spans` selects."""
    if file is None or source.spans is None:
        return () if file is None else file.examples

    def read() -> Examples:
        written = folders.shared_file(plan.folder, folders.SPANS)
        if source.spans == "best" and written.is_file():
            return read_examples(written)
        return with_spans(file.examples, source)

    return Stream(read, keep)


def _sequences(examples: Examples, target: str) -> Examples:
    return Stream(lambda: (as_sequence(example, target) for example in examples))


# === Strategies ===


@dataclass(frozen=True)
class Given:
    """What a strategy divides.

    Attributes:
        rows: iterable of `Example`. The rows of the training file.
        train: iterable of `Example`. The examples of the training file, with spans.
        test: iterable of `Example` or None. The rows of the test file.
        spans: bool. Whether test examples need the passage that holds the answer, and its span.
        source: `Source`. The source.
    """

    rows: Examples
    train: Examples
    test: Examples | None
    spans: bool
    source: Source

    def located(self, test: Examples | None) -> Examples | None:
        """Returns test examples as the model gets them."""
        return with_spans(test, self.source) if self.spans and test is not None else test


Parts = tuple[Examples, Examples, Examples | None]


def _by_ids(given: Given, split: Split) -> Parts:
    """Takes the examples that three lists name."""
    known = {example.id: example for example in (*given.train, *(given.located(given.test) or ()))}
    parts = []
    for part in PARTS:
        path = Path(str(split.ids)) / f"{part}.txt"
        names = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
        if absent := [name for name in names if name not in known]:
            raise ValueError(
                f"{path}: {len(absent)} ids are not in the files. Received: {absent[0]!r}"
            )
        parts.append([known[name] for name in names])
    return parts[0], parts[1], parts[2]


def _by_sentence(given: Given, split: Split) -> Parts:
    """Divides the test file: half of its sentences are validated on, half are tested."""
    test = [_with_sentence(example) for example in given.located(given.test) or ()]
    rest, validation = split_by_group(test, 0.5, split.seed)
    return given.train, validation, rest


def _by_group(given: Given, split: Split, key: Callable[[Example], str] = group_of) -> Parts:
    """Splits validation groups off the training file, and test groups if there is no test file."""
    train, test, share = given.train, given.located(given.test), 0.0
    if test is None and split.test_share and given.source.train is not None:
        share = split.test_share
        groups = {example.id: key(example) for example in given.rows}
        key = lambda e: groups[e.id]  # `spans` leaves one of several passages  # noqa: E731
        test = given.located(split_by_group(given.rows, share, split.seed, key=key)[1])
        train = split_by_group(train, share, split.seed, key=key)[0]
    train, held_out = split_by_group(train, share + split.validation_share, split.seed, key=key)
    return train, held_out, test


def _by_example(given: Given, split: Split) -> Parts:
    """Splits single questions as `_by_group` splits groups."""
    return _by_group(given, split, lambda example: example.id)


STRATEGIES: dict[str, Callable[[Given, Split], Parts]] = {
    "ids": _by_ids,
    "sentence": _by_sentence,
    "group": _by_group,
    "example": _by_example,
}


def _with_sentence(example: Example) -> Example:
    """Returns the example with the sentence of its answer as its group, if it has a span."""
    if not example.spans:
        return example
    span = example.spans[0]
    passage, start = example.passages[span.passage], span.start
    around = [span for span in sentences(passage) if span[0] <= start < span[1]]
    first, end = around[0] if around else (0, len(passage))
    return replace(example, group=f"{example.group}\t{passage[first:end]}")


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

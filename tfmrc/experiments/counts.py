"""Numbers of examples: per part, repeated ones, those in both training and test, cut passages."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.transforms.splits import group_of
from tfmrc.experiments.settings import Experiment
from tfmrc.utils.arguments import parameters_of

__all__ = ["Count", "check_enough", "lines_of", "max_passages"]

PARTS = ("train", "validation", "test")


@dataclass
class Count:
    """Numbers of examples in one pass over a part of a source.

    Args:
        max_passages: int or None. Number of passages that the model reads; None for no limit.
            Default: None.
    """

    max_passages: int | None = None
    examples: int = 0
    answerable: int = 0
    records: int = 0
    without_group: int = 0
    groups: set[str] = field(default_factory=set)
    repeated: int = 0
    texts: set[int] = field(default_factory=set)
    cut: dict[str, int] = field(
        default_factory=lambda: {"examples": 0, "passages": 0, "without_a_relevant_one": 0}
    )

    def of(self, examples: Iterable[Example], styles: tuple[str, ...]) -> Iterator[Example]:
        """Yields the examples and counts them."""
        for example in examples:
            self.examples += 1
            self.answerable += bool(example.answers)
            given = sum(style in example.answers for style in styles)
            self.records += given if example.answers else len(styles)
            self.without_group += example.group is None
            self.groups.add(group_of(example))
            text = hash((example.question, example.passages))
            self.repeated += text in self.texts
            self.texts.add(text)
            if self.max_passages is not None and len(example.passages) > self.max_passages:
                self._count_cut(example, self.max_passages)
            yield example

    def _count_cut(self, example: Example, limit: int) -> None:
        left_out = sum(bool(passage.strip()) for passage in example.passages[limit:])
        if not left_out:
            return
        relevance = example.relevance or ()
        self.cut["examples"] += 1
        self.cut["passages"] += left_out
        self.cut["without_a_relevant_one"] += any(relevance) and not any(relevance[:limit])

    def to_json(self) -> dict[str, Any]:
        """Returns the numbers for `data.json`; some only if they are not 0."""
        counts: dict[str, Any] = {
            "examples": self.examples,
            "answerable": self.answerable,
            "training_targets": self.records,
            "without_group": self.without_group,
            "groups": len(self.groups),
        }
        if self.repeated:
            counts["repeated"] = self.repeated
        if self.cut["examples"]:
            counts["beyond_max_passages"] = {"max_passages": self.max_passages, **self.cut}
        return counts


def max_passages(experiment: Experiment, preprocessor_class: Any) -> int | None:
    """Returns the number of passages that the preprocessor reads; None without a limit."""
    parameter = parameters_of(preprocessor_class).get("num_passages")
    if parameter is None or experiment.start_from is not None:
        return None
    value: int = experiment.preprocessor.get("num_passages", parameter.default)
    return value


def check_enough(experiment: Experiment, sources: list[dict[str, Any]]) -> None:
    """Raises a ValueError if there is nothing to train on or to validate on.

    Args:
        experiment: `Experiment`. The experiment.
        sources: list of dict. The counts of each source.
    """
    train, validation = (
        sum(facts.get(part, {}).get("examples", 0) for facts in sources)
        for part in ("train", "validation")
    )
    if train and validation:
        return
    raise ValueError(
        "Training needs at least one training and one validation example, whose `group` (article, "
        "document) is not in training. Add examples, change `split.validation_share`, or draw "
        "single questions with `split.by=example`. Received: "
        f"{train} training and {validation} validation examples with "
        f"split.validation_share={experiment.split.validation_share:g}"
    )


def lines_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields a line for the repeated examples and the cut passages of each part of a source."""
    for part in PARTS:
        counts = facts.get(part, {})
        where = f"{facts['format']}, {part}"
        if counts.get("repeated"):
            yield (
                f"{where}: {counts['repeated']:,} of {counts['examples']:,} examples repeat the "
                "question and the passages of an earlier one; each of them counts."
            )
        cut = counts.get("beyond_max_passages")
        if cut:
            lost = cut["without_a_relevant_one"]
            yield (
                f"{where}: {cut['examples']:,} of {counts['examples']:,} examples have more than "
                f"{cut['max_passages']} passages; the last {cut['passages']:,} are not read"
                + (
                    f", examples that lose every relevant one and train no answer: {lost:,}"
                    if lost
                    else ""
                )
                + " (preprocessor.num_passages)."
            )

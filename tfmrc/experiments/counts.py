"""Numbers of examples: per part, repeated ones, those in both training and test, cut passages."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.transforms.splits import group_of
from tfmrc.experiments.settings import Experiment, Source
from tfmrc.utils.arguments import parameters_of

__all__ = ["Count", "check_enough", "count_rows", "lines_of", "max_passages", "table_of"]

PARTS = ("train", "validation", "test")
DONE = {"train": "trained on", "validation": "validated on", "test": "tested on"}
MOST = 15_054
BEATS = {
    # Questions of SQuAD with which a model has answered or asked better than the most similar
    # sentence: from the ready reader's encoder, from another one, and from nothing.
    "ExtractiveReader": (0, 1_000, None),
    "SAN": (200, 15_054, 15_054),
    "Masque": (200, 15_934, None),
    "DAANet": (200, 15_054, None),
    "MaxoutPointerQG": (200, 15_054, 15_054),
}
SHOWN = 3  # ids of the rows that are not used, per reason


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
    unanswerable: int = 0
    labelled: int = 0
    records: int = 0
    without_group: int = 0
    groups: set[str] = field(default_factory=set)
    repeated: int = 0
    texts: set[int] = field(default_factory=set)
    cut: dict[str, int] = field(
        default_factory=lambda: {"examples": 0, "passages": 0, "without_a_relevant_one": 0}
    )

    def of(self, examples: Iterable[Example], source: Source) -> Iterator[Example]:
        """Yields the examples and counts them."""
        for example in examples:
            self.examples += 1
            self.answerable += bool(example.answers)
            self.unanswerable += example.answerable is False
            self.labelled += is_labelled(example, source)
            given = sum(style in example.answers for style in source.styles)
            self.records += given if example.answers else len(source.styles)
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
            "unanswerable": self.unanswerable,
            "labelled": self.labelled,
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
    wanted = experiment.preprocessor.get("unanswerable") and experiment.start_from is None
    if wanted and not sum(facts.get("train", {}).get("unanswerable", 0) for facts in sources):
        raise ValueError(
            "No training question is known to have no answer (`is_impossible`, an empty list of "
            "answers, or `blank_answers: none`), so none can be learned. "
            "Received: preprocessor.unanswerable=True"
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


def count_rows(
    examples: Iterable[Example], source: Source, used: set[str], spare: set[str]
) -> dict[str, Any]:
    """Counts the rows of a file, and those that no part uses by their reason.

    Args:
        examples: iterable of `Example`. The rows; of a stream the broken ones are counted too.
        source: `Source`. The source of the file.
        used: set of str. The ids of the rows that a part has.
        spare: set of str. The ids of the rows that validation leaves out.

    Returns:
        A dict: `read`, the number of rows, `not_used`, by reason `count` and the first `ids`, and
        `notes`, what the reader counts.
    """
    read, ids = 0, defaultdict[str, list[str]](list)
    for example in examples:
        read += 1
        if example.id in spare:
            ids["more than `split.validation_limit` allows"].append(example.id)
        elif example.id not in used or not is_labelled(example, source):
            ids[_why_unused(example, source)].append(example.id)
    account = getattr(examples, "account", None)
    rows = {why: {"count": len(names), "ids": names[:SHOWN]} for why, names in ids.items()}
    if account is not None and account.skipped:
        broken = [error.id for error in account.errors[:SHOWN]]
        rows["broken"] = {"count": account.skipped, "ids": broken}
        read += account.skipped
    return {"read": read, "not_used": rows, "notes": {} if account is None else dict(account.notes)}


def is_labelled(example: Example, source: Source) -> bool:
    """Returns True if an example can train or test anything."""
    known = (example.answerable, example.relevance) != (None, None)
    return bool(example.answers) or known or source.format == "pairs"


def _why_unused(example: Example, source: Source) -> str:
    if example.answers and not set(source.styles) & set(example.answers):
        return "no answer in the style"
    if example.answers:
        return {
            "exact": "answer not verbatim in a passage (`spans: best` keeps most)",
            "best": "no word of the answer in a passage",
        }.get(str(source.spans), "in no part of the split")
    return "no answer" if example.answerable is False else "unknown whether there is an answer"


def table_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields the lines of a table: for each file of a source its rows, and what becomes of them."""
    yield f"{'':<24}  {'rows':>9}  {'answered':>9}  {'groups':>9}"
    for name, file in facts["files"].items():
        yield f"read: {name:<18}  {file['read']:>9,}"
        for note, count in file["notes"].items():
            yield f"  {'note':<22}  {count:>9,}  {note}"
        for why, rows in file["not_used"].items():
            more = ", ..." * (rows["count"] > len(rows["ids"]))
            yield f"  {'not used':<22}  {rows['count']:>9,}  {why}: {', '.join(rows['ids'])}{more}"
    for part in filter(facts.__contains__, PARTS):
        numbers = (facts[part][key] for key in ("labelled", "answerable", "groups"))
        yield f"  {DONE[part]:<22}" + "".join(f"  {number:>9,}" for number in numbers)


def few_questions(model: str, encoder: str, count: int) -> list[str]:
    """Returns a warning of fewer questions than a model has been measured to need.

    Args:
        model: str. Name of its class.
        encoder: str. What it starts from: `"ready"`, `"none"` or another encoder.
        count: int. Number of training questions with an answer.
    """
    known = BEATS.get(model, (0, 0, 0))
    least = known[{"ready": 0, "none": 2}.get(encoder, 1)]
    start = f"{model} from {'nothing' if encoder == 'none' else f'the encoder {encoder}'}"
    if least is None:
        said = f"{start} has not beaten the most similar sentence with {MOST:,} questions of SQuAD."
        return [said] * (count <= MOST)
    has = f"{start} has been measured to beat the most similar sentence with {least:,} questions"
    return [f"{has} of SQuAD, not with fewer; there are {count:,}."] * (count < least)


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

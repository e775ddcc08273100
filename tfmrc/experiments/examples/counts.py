"""Numbers of examples: of each part, of rows that are not used, of passages that are cut."""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tfmrc.data.example import Example
from tfmrc.data.stream import Account
from tfmrc.data.transforms.splits import group_of
from tfmrc.experiments.examples.files import PARTS
from tfmrc.experiments.examples.rows import row_digest
from tfmrc.experiments.examples.sources import SourceFile, Splits, unique
from tfmrc.experiments.plan import Plan
from tfmrc.experiments.settings import Source
from tfmrc.utils.arguments import parameters_of

DONE = {"train": "trained on", "validation": "validated on", "test": "tested on"}
SHOWN = 3  # ids of the rows that are not used, per reason
NUMBERS = (
    *("examples", "answerable", "unanswerable", "labelled", "training_targets"),
    *("without_group", "groups"),
)
CUT = ("examples", "passages", "without_a_relevant_one")  # of those beyond `max_passages`


@dataclass
class Counts:
    """What a pass over the sources of a run finds.

    Attributes:
        plan: `Plan`. The run.
        facts: list of dict. The counts of each source.
        trained: set of str. Digests of the rows that are trained on.
        held_out: list of `Example`. The rows that are validated on.
    """

    plan: Plan
    facts: list[dict[str, Any]] = field(default_factory=list)
    trained: set[str] = field(default_factory=set)
    held_out: list[Example] = field(default_factory=list)

    def of(self, sources: Iterable[Splits]) -> Iterator[Example]:
        """Yields all training examples and counts all examples.

        Raises:
            ValueError: If there is nothing to train on or to validate on.
        """
        tested: list[tuple[dict[str, Any], set[str]]] = []
        by_sentence = self.plan.experiment.split.by == "sentence"
        for part in sources:
            source = part.source
            facts: dict[str, Any] = {"format": source.format, "styles": list(source.styles)}
            self.facts.append(facts)
            ids: dict[str, set[str]] = {}
            for name, examples in (
                ("train", part.train if source.train else None),
                ("validation", part.validation if source.train or by_sentence else None),
                ("test", part.test),
            ):
                if examples is None:
                    continue
                facts[name], ids[name] = {}, set()
                where = str(source.test if name == "test" else source.train)
                for example in self._counted(unique(examples, where), source, facts[name]):
                    ids[name].add(example.id)
                    if name == "train":
                        yield example
            ids["spare"] = {example.id for example in part.held_out} - ids.get("validation", set())
            digests: set[str] = set()
            facts["files"] = {
                file.name.rpartition("/")[2]: self._count_rows(file, part, ids, digests)
                for file in part.files
            }
            if "test" in facts:
                tested.append((facts["test"], digests))
        for numbers, digests in tested:
            if both := len(digests & self.trained):
                numbers["in_training"] = both
        self._check_enough()

    def _counted(
        self, examples: Iterable[Example], source: Source, numbers: dict[str, Any]
    ) -> Iterator[Example]:
        """Yields the examples of a part and counts them."""
        count, cut, limit = Counter[str](), Counter[str](), self._max_passages()
        groups: set[str] = set()
        for example in examples:
            count["examples"] += 1
            count["answerable"] += bool(example.answers)
            count["unanswerable"] += example.answerable is False
            count["labelled"] += is_labelled(example, source)
            given = sum(style in example.answers for style in source.styles)
            count["training_targets"] += given if example.answers else len(source.styles)
            count["without_group"] += example.group is None
            groups.add(group_of(example))
            if left_out := sum(map(bool, map(str.strip, example.passages[limit:]))):
                relevance = example.relevance or ()
                cut["examples"] += 1
                cut["passages"] += left_out
                cut["without_a_relevant_one"] += any(relevance) and not any(relevance[:limit])
            yield example
        count["groups"] = len(groups)
        numbers.update({name: count[name] for name in NUMBERS})
        if cut:
            numbers["beyond_max_passages"] = {"max_passages": limit, **{n: cut[n] for n in CUT}}

    def _max_passages(self) -> int:
        """Returns the number of passages that the preprocessor reads."""
        parameter = parameters_of(self.plan.classes.preprocessor).get("num_passages")
        experiment = self.plan.experiment
        if parameter is None:
            return sys.maxsize
        default = sys.maxsize if experiment.start_from is not None else parameter.default
        value: int = experiment.preprocessor.get("num_passages", default)
        return value

    def _count_rows(
        self, file: SourceFile, part: Splits, ids: Mapping[str, set[str]], tested: set[str]
    ) -> dict[str, Any]:
        """Counts the rows of a file, and those that no part uses by their reason.

        Args:
            file: `SourceFile`. The file.
            part: `Splits`. The examples of its source.
            ids: dict. The ids of the examples of each part, and those that validation leaves out.
            tested: set of str. Receives the digests of the rows that are tested on.

        Returns:
            A dict: `read`, the number of rows, `not_used`, by reason `count` and the first `ids`,
            and `notes`, what the reader counts.
        """
        read, unused = 0, defaultdict[str, list[str]](list)
        parts = self._parts_of(file, part.source)
        for example in file.rows:
            read += 1
            used = [name for name in parts if example.id in ids.get(name, ())]
            if "train" in used:
                self.trained.add(row_digest(example))
            if "test" in used:
                tested.add(row_digest(example))
            labelled = is_labelled(example, part.source)
            if "validation" in used and labelled:
                self.held_out.append(example)
            if not used and example.id in ids["spare"]:
                unused["more than `split.validation_limit` allows"].append(example.id)
            elif not used or not labelled:
                unused[_why_unused(example, part.source)].append(example.id)
        account = getattr(file.stream, "account", None) or Account()
        rows = {why: {"count": len(names), "ids": names[:SHOWN]} for why, names in unused.items()}
        if account.skipped:
            broken = [error.id for error in account.errors[:SHOWN]]
            rows["broken"] = {"count": account.skipped, "ids": broken}
        read += account.skipped
        return {"read": read, "not_used": rows, "notes": dict(account.notes)}

    def _parts_of(self, file: SourceFile, source: Source) -> tuple[str, ...]:
        """Returns the parts that a file's rows may be in."""
        split = self.plan.experiment.split
        if split.ids is not None:
            return PARTS
        if file.is_test:
            return ("validation", "test") if split.by == "sentence" else ("test",)
        rest = ("validation",) if split.by != "sentence" else ()
        return ("train", *rest, *(["test"] if source.test is None else []))

    def _check_enough(self) -> None:
        """Raises a ValueError if there is nothing to train on or to validate on."""
        experiment = self.plan.experiment
        train, validation = (
            sum(facts.get(part, {}).get("examples", 0) for facts in self.facts)
            for part in ("train", "validation")
        )
        wanted = experiment.preprocessor.get("unanswerable") and experiment.start_from is None
        unanswerable = (facts.get("train", {}).get("unanswerable", 0) for facts in self.facts)
        if wanted and not sum(unanswerable):
            raise ValueError(
                "No training question is known to have no answer (`is_impossible`, an empty list "
                "of answers, or `blank_answers: none`), so none can be learned. "
                "Received: preprocessor.unanswerable=True"
            )
        if not train or not validation:
            raise ValueError(
                "Training needs at least one training and one validation example, whose `group` "
                "(article, document) is not in training. Add examples, change "
                "`split.validation_share`, or draw single questions with `split.by=example`. "
                f"Received: {train} training and {validation} validation examples with "
                f"split.validation_share={experiment.split.validation_share:g}"
            )


def is_labelled(example: Example, source: Source) -> bool:
    """Returns True if an example can train or test anything."""
    return example.is_labelled or source.format == "pairs"


def _why_unused(example: Example, source: Source) -> str:
    if example.answers and not set(source.styles) & set(example.answers):
        return "no answer in the style"
    if example.answers:
        return {
            "exact": "answer not verbatim in a passage (`spans: best` keeps most)",
            "best": "no word of the answer in a passage",
        }.get(str(source.spans), "in no part of the split")
    return "no answer" if example.answerable is False else "blank answer"


def lines_of(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yields a table of a source's files and parts, and lines of what is repeated or cut."""
    yield f"{'':<24}  {'rows':>9}  {'answered':>9}  {'groups':>9}"
    for name, file in facts["files"].items():
        yield f"read: {name:<18}  {file['read']:>9,}"
        for note, count in file["notes"].items():
            yield f"  {'note':<22}  {count:>9,}  {note}"
        for why, rows in file["not_used"].items():
            rest = ", ..." if rows["count"] > len(rows["ids"]) else ""
            yield f"  {'not used':<22}  {rows['count']:>9,}  {why}: {', '.join(rows['ids'])}{rest}"
    parts = [part for part in PARTS if part in facts]
    for part in parts:
        numbers = (facts[part][key] for key in ("labelled", "answerable", "groups"))
        yield f"  {DONE[part]:<22}" + "".join(f"  {number:>9,}" for number in numbers)
    for part in parts:
        if cut := facts[part].get("beyond_max_passages"):
            lost = cut["without_a_relevant_one"]
            all_lost = f"; {lost:,} examples lose every relevant passage" if lost else ""
            yield (
                f"{facts['format']}, {part}: {cut['examples']:,} of "
                f"{facts[part]['examples']:,} examples have more than "
                f"{cut['max_passages']} passages (preprocessor.num_passages); the last "
                f"{cut['passages']:,} are not read{all_lost}"
            )

"""The first step of a recipe: read its data once, count it, choose its words."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tfmrc import text
from tfmrc.data.example import Example
from tfmrc.data.stream import ExampleStream
from tfmrc.experiments import run_folder as places
from tfmrc.experiments.configuration import Recipe
from tfmrc.experiments.sources import Splits, data_folder, splits


@dataclass
class Count:
    """What one pass over examples found."""

    examples: int = 0
    answerable: int = 0
    records: int = 0
    groups: set[str] = field(default_factory=set)

    def of(self, examples: Iterable[Example], styles: tuple[str, ...]) -> Iterator[Example]:
        """Give the examples on, counting them."""
        for example in examples:
            self.examples += 1
            self.answerable += bool(example.answers)
            self.records += sum(style in example.answers for style in styles)
            self.groups.add(example.id if example.group is None else example.group)
            yield example

    def to_json(self) -> dict[str, int]:
        return {
            "examples": self.examples,
            "answerable": self.answerable,
            "training_targets": self.records,
            "groups": len(self.groups),
        }


def prepare(
    recipe: Recipe, data: str | Path | None = None, run: str | Path | None = None
) -> dict[str, Any]:
    """Read a recipe's data once: `data.json` says what was found, `vocabulary.txt` holds the words.

    Args:
        recipe: the recipe.
        data: the data folder; TFMRC_DATA unless given.
        run: the run's folder; `runs/NAME` unless given.

    Returns:
        What `data.json` holds.

    Raises:
        ValueError: the data is not there or broken, or the folder holds another recipe's run.
    """
    folder = places.open_run(recipe, run)
    return prepare_in(folder, recipe, splits(recipe, data_folder(data)))


def prepare_in(folder: Path, recipe: Recipe, sources: list[Splits]) -> dict[str, Any]:
    """Do what `prepare` does in a folder, or nothing if it was done."""
    done, words = folder / places.DATA, folder / places.VOCABULARY
    if done.is_file() and words.is_file():
        return places.read_json(done, "prepare")
    print(f"Reading the data of {recipe.name} and counting its words.", flush=True)
    facts: list[dict[str, Any]] = []
    chosen = recipe.vocabulary
    vocabulary = text.Vocabulary.from_examples(
        _counted(sources, facts),
        size=chosen.size,
        min_count=chosen.min_count,
        num_oov_buckets=chosen.num_oov_buckets,
    )
    vocabulary.save(words)
    found = {"sources": facts, "vocabulary": {"words": vocabulary.size, "rows": len(vocabulary)}}
    places.write_json(done, found)
    _show(found)
    return found


def _counted(sources: list[Splits], facts: list[dict[str, Any]]) -> Iterator[Example]:
    """All training examples; what they and the other examples are is noted in `facts`."""
    for part in sources:
        source = part.source
        found: dict[str, Any] = {"format": source.format, "styles": list(source.styles)}
        facts.append(found)
        for name in ("train", "validation", "test"):
            examples = getattr(part, name)
            if examples is None or (name != "test" and source.train is None):
                continue
            count = Count()
            counted = count.of(examples, source.styles)
            if name == "train":
                yield from counted
            else:
                for _ in counted:
                    continue
            found[name] = count.to_json()
            if name != "validation" and isinstance(examples, ExampleStream):
                found[f"left_out_of_{name}_file"] = dict(examples.report.notes)


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Examples", title_justify="left")
    for column in ("source", "styles", "split"):
        table.add_column(column)
    for column in ("examples", "answerable", "groups"):
        table.add_column(column, justify="right")
    for facts in found["sources"]:
        for split in ("train", "validation", "test"):
            if split in facts:
                count = facts[split]
                table.add_row(
                    facts["format"],
                    ", ".join(facts["styles"]),
                    split,
                    *(f"{count[name]:,}" for name in ("examples", "answerable", "groups")),
                )
    console = Console()
    console.print(table)
    for facts in found["sources"]:
        for split in ("train", "test"):
            for note, count in facts.get(f"left_out_of_{split}_file", {}).items():
                console.print(f"{facts['format']}, {split} file: {count:,} {note}")
    console.print(f"{found['vocabulary']['words']:,} words with a row of their own")

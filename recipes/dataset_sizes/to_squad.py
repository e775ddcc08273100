"""Converts a file of any known format to SQuAD's format, which DAANET uses for all datasets."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from recipes.dataset_sizes.squad_writer import write_squad
from tfmrc.data import Example, read_file
from tfmrc.data.transforms.splits import draw_by_id


@dataclass(frozen=True)
class Filtered:
    """The examples of a stream that pass a test; can be iterated repeatedly."""

    examples: Iterable[Example]
    test: Callable[[Example], bool]

    def __iter__(self) -> Iterator[Example]:
        return filter(self.test, self.examples)


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the recipe."""
    program = argparse.ArgumentParser(description=__doc__)
    program.add_argument("file", type=Path, help="MS MARCO, TriviaQA, WikiQA, qaps.csv, …")
    program.add_argument("to", type=Path, help="the file to write")
    program.add_argument("--style", help="answer style; default: the first of each question")
    program.add_argument("--answered", action="store_true", help="omit questions without answer")
    program.add_argument("--limit", type=int, help="largest number of questions, sampled by id")
    return program


def main(arguments: list[str] | None = None) -> None:
    """Writes the file; a sample depends only on the ids."""
    options = parser().parse_args(arguments)
    examples = stream = read_file(options.file)
    style = options.style
    if options.answered:
        examples = Filtered(stream, lambda e: bool(style in e.answers if style else e.answers))
    if options.limit is not None:
        ids = draw_by_id(((example.id, example.id) for example in examples), options.limit)
        examples = Filtered(examples, lambda example, drawn=set(ids): example.id in drawn)
    options.to.parent.mkdir(parents=True, exist_ok=True)
    count = write_squad(options.to, examples, style=style)
    print(f"{options.file}: {stream.account}\n{options.to}: {count:,} questions")


if __name__ == "__main__":
    main()

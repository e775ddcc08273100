"""The files of the recipe as examples, and the questions that theirs are scored against."""

from collections.abc import Sequence
from pathlib import Path

from tfmrc import data


def read(form: str, path: Path) -> list[data.Example]:
    """The examples of a file that can be asked about.

    Args:
        form: "squad", "msmarco" or "pairs".
        path: the file; of pairs that of the sentences, `src-NAME.txt`.

    Raises:
        ValueError: the form is not known.
    """
    if form == "squad":
        return [example for example in data.read_squad(path) if example.answers]
    if form == "msmarco":
        return list(data.with_exact_spans(data.read_msmarco(path, styles=("qa",)), "qa"))
    if form == "pairs":
        return list(data.read_pairs(path, path.with_name(path.name.replace("src", "tgt", 1))))
    raise ValueError(f"The forms are squad, msmarco and pairs. Received: format={form!r}")


def references(examples: Sequence[data.Example]) -> dict[str, list[str]]:
    """What a question is scored against, by id.

    A question about an answer has its own question as its reference. Where there are no answers
    all questions about the same text are references of each other.
    """
    by_text: dict[str, list[str]] = {}
    for example in examples:
        if not example.answers:
            by_text.setdefault(example.passages[0], []).append(example.question)
    return {
        example.id: [example.question] if example.answers else by_text[example.passages[0]]
        for example in examples
    }


def one_a_text(examples: Sequence[data.Example]) -> list[data.Example]:
    """The examples, of those without answers the first one of each text alone."""
    seen: set[str] = set()
    kept = []
    for example in examples:
        if example.answers or example.passages[0] not in seen:
            kept.append(example)
            seen.add(example.passages[0])
    return kept

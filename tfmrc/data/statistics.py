"""Sizes of data sets: `python -m tfmrc.data.statistics FILE…`."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tfmrc.data.example import Example
from tfmrc.data.formats.detect import file_format, read_file
from tfmrc.data.formats.narrativeqa import SPLITS
from tfmrc.data.stream import RecordError
from tfmrc.data.transforms.sentences import words
from tfmrc.utils.pipes import run_piped


@dataclass
class Statistics:
    """Counts of a stream of examples.

    Attributes:
        questions: int. Number of questions (ALL in Masque's Table 1).
        answerable: int. Number of answerable questions (ANS).
        well_formed: int. Number of questions with an answer of style ``"nlg"`` (NLG).
        unanswerable: int. Number of questions labelled as unanswerable.
        groups: int. Number of articles, documents or stories.
        passages: int. Number of passages of all questions.
        relevant_passages: int. Number of passages labelled as relevant.
        question_words: int. Number of words of all questions.
        answers: Counter. Number of references per style.
        answer_words: Counter. Number of words of all first references, per style.
        first_references: Counter. Number of examples with an answer, per style.
        passage_words: int. Number of words of all passages, if they are counted.
        triplet_words: Counter. Number of words of the passages (``"passages"``, if they are
            counted) and questions (``"questions"``) of all first references.

    Example:

    >>> example = Example("1", "Who flew?", ("An owl flew.",), {"qa": ("An owl",)}, True)
    >>> counts = Statistics.of([example, example])
    >>> counts.questions, counts.answerable, counts.answers
    (2, 2, Counter({'qa': 2}))
    """

    questions: int = 0
    answerable: int = 0
    well_formed: int = 0
    unanswerable: int = 0
    groups: int = 0
    passages: int = 0
    relevant_passages: int = 0
    question_words: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    answer_words: Counter[str] = field(default_factory=Counter)
    first_references: Counter[str] = field(default_factory=Counter)
    passage_words: int = 0
    triplet_words: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, examples: Iterable[Example], passage_words: bool = False) -> "Statistics":
        """Counts the examples, one at a time.

        Args:
            examples: iterable of `Example`.
            passage_words: bool. Whether to count the words of the passages. Default: False.
        """
        counts = cls()
        groups = set()
        for example in examples:
            counts.questions += 1
            counts.answerable += example.answerable is True
            counts.unanswerable += example.answerable is False
            counts.well_formed += "nlg" in example.answers
            counts.passages += len(example.passages)
            counts.relevant_passages += sum(example.relevance or ())
            asked, given = len(words(example.question)), 0
            if passage_words:
                given = sum(len(words(text)) for text in example.passages)
            counts.question_words += asked
            counts.passage_words += given
            counts.triplet_words["questions"] += asked * len(example.answers)
            counts.triplet_words["passages"] += given * len(example.answers)
            for style, references in example.answers.items():
                counts.answers[style] += len(references)
                counts.first_references[style] += 1
                counts.answer_words[style] += len(words(references[0]))
            if example.group is not None:
                groups.add(example.group)
        counts.groups = len(groups)
        return counts


HEADER = ("file", "ALL", "ANS", "NLG", "unanswerable", "groups", "passages", "words/question")


def table(rows: Sequence[tuple[str, Statistics]]) -> str:
    """Returns the counts as a Markdown table."""
    lines = [HEADER, ("---", *["---:"] * (len(HEADER) - 1))]
    for name, counts in rows:
        numbers = (
            counts.questions,
            counts.answerable,
            counts.well_formed,
            counts.unanswerable,
            counts.groups,
            counts.passages,
        )
        mean = counts.question_words / max(1, counts.questions)
        lines.append((name, *(f"{number:,}" for number in numbers), f"{mean:.1f}"))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def triplets(rows: Sequence[tuple[str, Statistics]]) -> str:
    """Returns the number and mean lengths of (context, question, answer) triplets, in Markdown.

    An example counts once per answer style; one without an answer is no triplet.

    Reference: Xiao et al. 2018 (DAANET), Table 1.
    """
    lines = ["| file | triplets | n (context) | m (question) | k (answer) |"]
    lines.append("| --- | ---: | ---: | ---: | ---: |")
    for name, counts in rows:
        first = counts.first_references.total()
        totals = (
            counts.triplet_words["passages"],
            counts.triplet_words["questions"],
            counts.answer_words.total(),
        )
        numbers = " | ".join(f"{total / max(1, first):.1f}" for total in totals)
        lines.append(f"| {name} | {first:,} | {numbers} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts the questions of data files, as in Masque's Table 1."""
    parser = argparse.ArgumentParser(
        prog="python -m tfmrc.data.statistics", description=str(main.__doc__).partition("\n")[0]
    )
    parser.add_argument("files", nargs="+", type=Path, help="SQuAD, MS MARCO, DREAM, qaps.csv, …")
    parser.add_argument("--json", type=Path, help="also write the counts to this file")
    parser.add_argument(
        "--triplets", action="store_true", help="print the sizes of DAANET's Table 1 instead"
    )
    parser.add_argument("--skip", action="store_true", help="skip and count broken records")
    options = parser.parse_args(arguments)
    rows: list[tuple[str, Statistics]] = []
    try:
        for path in options.files:
            splits = SPLITS if file_format(path) == "narrativeqa" else (None,)
            for split in splits:
                stream = read_file(path, on_error="skip" if options.skip else "raise", split=split)
                counts = Statistics.of(stream, passage_words=options.triplets)
                name = f"{path} {split or ''}".strip()
                print(f"{name}: {stream.report}", file=sys.stderr)
                if counts.questions or split is None:
                    rows.append((name, counts))
        print(triplets(rows) if options.triplets else table(rows))
        if options.json:
            result = {name: vars(counts) for name, counts in rows}
            options.json.parent.mkdir(parents=True, exist_ok=True)
            options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    except (OSError, RecordError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(run_piped(main))

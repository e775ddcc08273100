"""Sizes of official files compared with the papers: Masque's Table 1, DAANET's Table 1."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tfmrc
from recipes.reproduction.main import read_tables
from tfmrc.data import Example, RecordError
from tfmrc.data.formats.detect import file_format, read_file
from tfmrc.data.transforms.sentences import words
from tfmrc.experiments.run_folder import write_json
from tfmrc.utils.files import write_text
from tfmrc.utils.markdown import table_lines

TITLES = {
    "msmarco": "MS MARCO",
    "msmarco_sample": "MS MARCO",
    "narrativeqa": "NarrativeQA",
    "squad": "SQuAD",
    "dream": "DREAM",
    "triviaqa": "TriviaQA",
    "wikiqa": "WikiQA",
}

COUNTS = ("questions", "answerable", "well_formed")
MEANS = ("words_of_a_passage", "words_of_a_question", "words_of_an_answer")


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the recipe."""
    program = argparse.ArgumentParser(
        prog="python -m recipes.dataset_sizes.main",
        description=str(main.__doc__).partition("\n")[0],
    )
    program.add_argument("name", choices=sorted(TITLES), help="the dataset")
    program.add_argument(
        "files", nargs="+", metavar="SPLIT=FILE", help="qaps.csv: SPLIT names a set"
    )
    program.add_argument("--run", type=Path, help="the folder (runs/dataset_sizes/NAME)")
    return program


def main(arguments: Sequence[str] | None = None) -> int:
    """Counts the questions of a dataset's files and compares them with the papers' counts.

    `runs/dataset_sizes/NAME` gets `metrics.json` and `report.md`.

    Args:
        arguments: list of str or None. The words of the command line. Default: those of the
            process.

    Returns:
        0, or 1 after a message on standard error.
    """
    options = parser().parse_args(arguments)
    folder = options.run or Path("runs", "dataset_sizes", options.name)
    try:
        counts = {
            split: _counts(_read(Path(file), split))
            for split, file in (_named(text) for text in options.files)
        }
    except (OSError, ValueError, RecordError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    metrics = _metrics(options.name, counts, options.files)
    table = _table(options.name, counts, metrics["paper"])
    write_text(folder / "report.md", table)
    write_json(folder / "metrics.json", metrics)
    print(table)
    return 0


def _named(text: str) -> tuple[str, str]:
    split, equals, file = text.partition("=")
    if not equals:
        raise ValueError(f"A file is given as SPLIT=FILE. Received: {text}")
    return split, file


def _read(path: Path, split: str) -> Iterable[Example]:
    return read_file(path, split=split if file_format(path) == "narrativeqa" else None)


def _counts(examples: Iterable[Example]) -> dict[str, float]:
    counts = dict.fromkeys(COUNTS, 0)
    lengths = dict.fromkeys(MEANS, 0)
    passages = answers = 0
    for example in examples:
        counts["questions"] += 1
        counts["answerable"] += example.answerable is True
        counts["well_formed"] += "nlg" in example.answers
        lengths["words_of_a_question"] += len(words(example.question))
        for text in example.passages:
            passages += 1
            lengths["words_of_a_passage"] += len(words(text))
        for references in example.answers.values():
            answers += 1
            lengths["words_of_an_answer"] += len(words(references[0]))
    sizes = dict(zip(MEANS, (passages, counts["questions"], answers), strict=True))
    return counts | {name: lengths[name] / max(1, sizes[name]) for name in MEANS}


def _metrics(
    name: str, counts_of: dict[str, dict[str, float]], files: Sequence[str]
) -> dict[str, Any]:
    scores = {
        f"{split}_{kind}": {
            "value": value,
            "label": f"{split} {kind.replace('_', ' ')}",
            "unit": "words" if kind in MEANS else "count",
            "scorer": "tfmrc.data",
            "version": f"tfmrc {tfmrc.__version__}",
            "tokenisation": "words of tfmrc.data.transforms.sentences" if kind in MEANS else "none",
            "size": counts["questions"],
        }
        for split, counts in counts_of.items()
        for kind, value in counts.items()
    }
    parts = [p for t in read_tables() for p in t.parts if p.run == f"sizes_of_{name}"]
    paper = {key: value for part in parts for key, value in part.paper.items()}
    return {
        "title": f"Sizes of {TITLES[name]}",
        "dataset": TITLES[name],
        "split": ", ".join(f"{split} {Path(file).name}" for split, file in map(_named, files)),
        "seed": None,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "details": {},
        "systems": {f"sizes_of_{name}": {"parts": [], "scores": scores}},
        "paper": {"papers": paper},
    }


def _table(name: str, counts_of: dict[str, dict[str, float]], papers: dict[str, Any]) -> str:
    known, rows = papers["papers"], []
    for split, counts in counts_of.items():
        for kind, value in counts.items():
            beside = known.get(f"{split}_{kind}")
            shown = f"{value:.1f}" if kind in MEANS else f"{value:,.0f}"
            label = f"{split}, {kind.replace('_', ' ')}"
            papers = "–" if beside is None else f"{beside:{'.1f' if kind in MEANS else ',.0f'}}"
            rows.append([label, shown, papers])
    table = table_lines(["", "ours", "paper"], rows, numbers=True)
    return "\n".join([f"# Sizes of {TITLES[name]}", "", *table]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

"""Mutated files of every format: a reader gives right examples or an error that names the file."""

import json
import random
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.attacks.mutations import mutated
from tests.data import builders
from tfmrc import data, evaluation
from tfmrc.data.formats.detect import read_file

TABLE = [
    {"id": "1", "question": "Who built it?", "passages": builders.MILL, "answers": "Anna Brandt"},
    {"id": "2", "question": "What hunts?", "passages": [builders.HERON], "answers": ["heron"]},
]
WIKIQA = builders.csv_text(
    [("QuestionID", "Question", "DocumentID", "DocumentTitle", "SentenceID", "Sentence", "Label")]
    + [("Q1", "who built it ?", "D1", "Mill", f"D1-{n}", text, str(n == 1))
       for n, text in enumerate(("It burned twice .", "Anna Brandt built it ."))]
).replace(",", "\t").replace("True", "1").replace("False", "0")  # fmt: skip
TRIVIA = {
    "Data": [
        {
            "QuestionId": "q1",
            "Question": "Who built the mill?",
            "EntityPages": [{"Filename": "mill.txt", "Title": "Mill"}],
            "SearchResults": [],
            "Answer": {"Value": "Anna Brandt", "Aliases": ["Anna Brandt", "Brandt"]},
        }
    ]
}
PREDICTIONS = "".join(
    json.dumps({"id": str(n), "answer": f"a mill {n}", "style": "span"}) + "\n" for n in range(3)
)


def _lines(records: list[Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _narrativeqa(path: Path) -> Any:
    other = builders.write(path.with_name("other.csv"), builders.SUMMARIES)
    return data.read_narrativeqa(path, other)


def _summaries(path: Path) -> Any:
    return data.read_narrativeqa(builders.write(path.with_name("q.csv"), builders.QAPS), path)


def _pairs(path: Path) -> Any:
    other = builders.write(path.with_name("questions.txt"), "who left ?\nwhat burned ?\n")
    return data.read_pairs(path, other)


def _triviaqa(path: Path) -> Any:
    folder = path.with_name("evidence") / "wikipedia"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mill.txt").write_text(builders.MILL, encoding="utf-8")
    return data.read_triviaqa(path, folder.parent)


#: Name of the file, its content, and what reads it; one entry per format.
FORMATS: dict[str, tuple[str, Any, Callable[[Path], Any]]] = {
    "squad v1.1": ("squad.json", builders.squad("1.1"), data.read_squad),
    "squad v2.0": ("squad.json", builders.squad(), data.read_squad),
    "ms marco lines": ("dev.jsonl", _lines(builders.marco_records()), data.read_msmarco),
    "dream": ("dream.json", builders.dream(), data.read_dream),
    "narrativeqa questions": ("qaps.csv", builders.QAPS, _narrativeqa),
    "narrativeqa summaries": ("summaries.csv", builders.SUMMARIES, _summaries),
    "pairs": ("passages.txt", "zoe left .\nthe mill burned .\n", _pairs),
    "triviaqa": ("trivia.json", TRIVIA, _triviaqa),
    "wikiqa": ("WikiQA-dev.tsv", WIKIQA, data.read_wikiqa),
    "table csv": (
        "table.csv",
        builders.csv_text(
            [("id", "question", "context", "answer"), ("1", "Who?", builders.MILL, "Anna Brandt")]
        ),
        data.read_table,
    ),
    "table json": ("table.json", TABLE, data.read_table),
    "table lines": ("table.jsonl", _lines(TABLE), data.read_table),
    "detected": ("any.json", builders.squad(), read_file),
    "predictions": ("run.jsonl", PREDICTIONS, evaluation.read_predictions),
}


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Reads `count` mutated files, and prints how often each outcome occurred.

    Returns:
        A description of each wrong outcome.
    """
    outcomes: Counter[str] = Counter()
    wrong = []
    for number in range(count):
        rng = random.Random(f"{seed}-{number}")
        name = rng.choice(sorted(FORMATS))
        file_name, content, read = FORMATS[name]
        if not isinstance(content, str):
            content = json.dumps(content, ensure_ascii=False)
        changed, how = mutated(content.encode(), rng)
        path = folder / file_name
        path.write_bytes(changed)
        began = time.process_time()
        outcome, problem = _outcome(read, path)
        outcomes[f"{name}: {outcome}"] += 1
        if problem:
            seconds = time.process_time() - began
            wrong.append(f"seed {seed}, file {number}, {name}, {how}, {seconds:.1f} s: {problem}")
    print("\n".join(f"{name:<40} {outcomes[name]:>9,}" for name in sorted(outcomes)))
    return wrong


def _outcome(read: Callable[[Path], Any], path: Path) -> tuple[str, str]:
    """Returns `read` or `refused`, and what is wrong with that; "" if nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = read(path)
            found = list(result) if isinstance(result, data.ExampleStream) else []
    except (ValueError, OSError) as error:
        if isinstance(error, UnicodeError) or path.name not in str(error):
            return "refused", f"does not name the file: {type(error).__name__}: {error!s:.300}"
        return "refused", ""
    except Exception:
        return "failed", traceback.format_exc(limit=-3)
    for example in found:
        for span in example.spans:
            text = example.passages[span.passage][span.start : span.end]
            if not any(text in answers for answers in example.answers.values()):
                return "read", f"the span of {example.id!r} is {text!r:.200}, which is no answer"
    return "read", ""

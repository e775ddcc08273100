"""Small files of every format, with texts written for these tests."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tfmrc.data import ExampleStream, RecordError

HERON = "The grey heron waits by the pond. It hunts small fish at dawn, and sleeps at noon."
MILL = "Anna Brandt built the mill in 1802. It burned twice."


def _question(id: str, question: str, context: str, *answers: str) -> dict[str, Any]:
    """A question of SQuAD 2.0; impossible without answers, which are the last in the context."""
    texts = [{"text": text, "answer_start": context.rindex(text)} for text in answers]
    return {"id": id, "question": question, "answers": texts, "is_impossible": not answers}


def squad(version: str = "v2.0") -> dict[str, Any]:
    """Two articles, three paragraphs, four questions, one of them impossible."""
    smile = "Zoë drew a 😀 on the wall. Then Zoë left."
    impossible = _question("h2", "Where does the heron breed?", HERON)
    impossible["plausible_answers"] = [{"text": "pond", "answer_start": HERON.index("pond")}]
    heron = [_question("h1", "What does the heron hunt?", HERON, "small fish", "fish"), impossible]
    wall = [_question("w1", "Who left?", smile, "Zoë")]
    mill = [_question("m1", "Who built the mill?", MILL, "Anna Brandt")]
    if version != "v2.0":
        del heron[1]
        for question in (*heron, *wall, *mill):
            del question["is_impossible"]
    pond = [{"context": HERON, "qas": heron}, {"context": smile, "qas": wall}]
    articles = [
        {"title": "Pond", "paragraphs": pond},
        {"title": "Mill", "paragraphs": [{"context": MILL, "qas": mill}]},
    ]
    return {"version": version, "data": articles}


def marco_records() -> list[dict[str, Any]]:
    """Four queries: both styles, one style, no answer (v2.1), no answer (v1.1)."""

    def passages(*selected: int) -> list[dict[str, Any]]:
        return [
            {"is_selected": value, "passage_text": f"Passage {n} on herons.", "url": f"u{n}"}
            for n, value in enumerate(selected)
        ]

    names = ("query_id", "query", "query_type", "passages", "answers", "wellFormedAnswers")
    well_formed = ["Herons eat small fish."]
    rows = (
        (11, "what do herons eat", "ENTITY", (0, 1, 0), ["Small fish", "Fish"], well_formed),
        (12, "how tall is a heron", "NUMERIC", (1, 1), ["About 90 cm"], "[]"),
        (13, "who owns the pond", "PERSON", (0, 0), ["No Answer Present."], "[]"),
        (14, "where is the mill", "LOCATION", (0,), [], []),
    )
    records = [dict(zip(names, row, strict=True)) for row in rows]
    return [{**record, "passages": passages(*record["passages"])} for record in records]


def marco_lines() -> str:
    return "".join(json.dumps(record) + "\n" for record in marco_records())


def marco_columns() -> dict[str, Any]:
    """The records as columns, in the order of the official file."""
    names = ("answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers")
    rows = [(str(row), record) for row, record in enumerate(marco_records())]
    return {name: {row: record[name] for row, record in rows} for name in names}


def dream() -> list[Any]:
    """Two dialogues, three questions."""

    def question(text: str, answer: str, *choices: str) -> dict[str, Any]:
        return {"question": text, "choice": list(choices), "answer": answer}

    where = question(
        "Where was the heron?", "By the pond.", "By the pond.", "In the mill.", "On the wall."
    )
    what = question("What was it doing?", "Sleeping.", "Hunting.", "Sleeping.", "Flying.")
    burned = question("What burned?", "The mill.", "The mill.", "The pond.")
    turns = ["M: Did you see the heron?", "W: Yes, it was asleep by the pond."]
    return [
        [turns, [where, what], "5-1"],
        [["W: The mill burned down.", "M: Again?"], [burned], "5-2"],
    ]


def csv_text(rows: list[tuple[str, ...]]) -> str:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


PLAIN = ("question", "answer1", "answer2")
QAPS = csv_text(
    [
        ("document_id", "set", *PLAIN, *(f"{name}_tokenized" for name in PLAIN)),
        ("d1", "train", "Who built the mill?", "Anna Brandt", "Brandt, a miller")
        + ("who built the mill ?", "anna brandt", "brandt , a miller"),
        ("d2", "valid", "What burned?", "The mill", "the mill!")
        + ("what burned ?", "the mill", "the mill !"),
        ("d1", "train", "How often did it burn?", "Twice", "")
        + ("how often did it burn ?", "twice", ""),
    ]
)
SUMMARIES = csv_text(
    [
        ("document_id", "set", "summary", "summary_tokenized"),
        ("d2", "valid", 'The mill stood by a pond.\nOne night it "burned".')
        + ("the mill stood by a pond . one night it burned .",),
        ("d1", "train", "Anna Brandt built a mill. It burned twice.")
        + ("anna brandt built a mill . it burned twice .",),
    ]
)


def write(path: Path, content: Any) -> Path:
    """Write text, bytes or JSON; compressed if the name ends in .gz."""
    if not isinstance(content, str | bytes):
        content = json.dumps(content, ensure_ascii=False)
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def assert_named_or_skipped(
    read: Callable[..., ExampleStream], match: str, field: str, ids: Sequence[str | None]
) -> None:
    """Checks that a broken record is an error that names it, or is left out and counted."""
    with pytest.raises(RecordError, match=match) as caught:
        list(read())
    assert caught.value.field == field and "--on-error skip" in caught.value.__notes__[0]
    stream = read(on_error="skip")
    assert [example.id for example in stream] == ids
    assert [error.field for error in stream.account.errors] == [field] and stream.skipped == 1

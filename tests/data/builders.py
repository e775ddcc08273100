"""Small files of every format, with texts written for these tests."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

HERON = "The grey heron waits by the pond. It hunts small fish at dawn, and sleeps at noon."
MILL = "Anna Brandt built the mill in 1802. It burned twice."


def squad_answer(context: str, text: str) -> dict[str, Any]:
    return {"text": text, "answer_start": context.index(text)}


def squad(version: str = "v2.0") -> dict[str, Any]:
    """Two articles, three paragraphs, four questions, one of them impossible."""
    heron = [
        {
            "id": "h1",
            "question": "What does the heron hunt?",
            "answers": [squad_answer(HERON, "small fish"), squad_answer(HERON, "fish")],
            "is_impossible": False,
        },
        {
            "id": "h2",
            "question": "Where does the heron breed?",
            "answers": [],
            "plausible_answers": [squad_answer(HERON, "pond")],
            "is_impossible": True,
        },
    ]
    smile = "Zoë drew a 😀 on the wall. Then Zoë left."
    wall = [
        {
            "id": "w1",
            "question": "Who left?",
            "answers": [{"text": "Zoë", "answer_start": smile.rindex("Zoë")}],
            "is_impossible": False,
        }
    ]
    mill = [
        {
            "id": "m1",
            "question": "Who built the mill?",
            "answers": [squad_answer(MILL, "Anna Brandt")],
            "is_impossible": False,
        }
    ]
    content = {
        "version": version,
        "data": [
            {
                "title": "Pond",
                "paragraphs": [
                    {"context": HERON, "qas": heron},
                    {"context": smile, "qas": wall},
                ],
            },
            {"title": "Mill", "paragraphs": [{"context": MILL, "qas": mill}]},
        ],
    }
    if version != "v2.0":
        for article in content["data"]:
            for paragraph in article["paragraphs"]:
                remaining = [qa for qa in paragraph["qas"] if not qa["is_impossible"]]
                for qa in remaining:
                    del qa["is_impossible"]
                paragraph["qas"] = remaining
    return content


def marco_records() -> list[dict[str, Any]]:
    """Four queries: both styles, one style, no answer (v2.1), no answer (v1.1)."""

    def passages(*selected: int) -> list[dict[str, Any]]:
        return [
            {"is_selected": value, "passage_text": f"Passage {n} on herons.", "url": f"u{n}"}
            for n, value in enumerate(selected)
        ]

    return [
        {
            "query_id": 11,
            "query": "what do herons eat",
            "query_type": "ENTITY",
            "passages": passages(0, 1, 0),
            "answers": ["Small fish", "Fish"],
            "wellFormedAnswers": ["Herons eat small fish."],
        },
        {
            "query_id": 12,
            "query": "how tall is a heron",
            "query_type": "NUMERIC",
            "passages": passages(1, 1),
            "answers": ["About 90 cm"],
            "wellFormedAnswers": "[]",
        },
        {
            "query_id": 13,
            "query": "who owns the pond",
            "query_type": "PERSON",
            "passages": passages(0, 0),
            "answers": ["No Answer Present."],
            "wellFormedAnswers": "[]",
        },
        {
            "query_id": 14,
            "query": "where is the mill",
            "query_type": "LOCATION",
            "passages": passages(0),
            "answers": [],
            "wellFormedAnswers": [],
        },
    ]


def marco_lines() -> str:
    return "".join(json.dumps(record) + "\n" for record in marco_records())


def marco_columns(records: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """The records as columns, in the order of the official file."""
    records = marco_records() if records is None else records
    names = ("answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers")
    return {
        name: {str(row): record[name] for row, record in enumerate(records) if name in record}
        for name in names
        if any(name in record for record in records)
    }


def dream() -> list[Any]:
    """Two dialogues, three questions."""
    return [
        [
            ["M: Did you see the heron?", "W: Yes, it was asleep by the pond."],
            [
                {
                    "question": "Where was the heron?",
                    "choice": ["By the pond.", "In the mill.", "On the wall."],
                    "answer": "By the pond.",
                },
                {
                    "question": "What was it doing?",
                    "choice": ["Hunting.", "Sleeping.", "Flying."],
                    "answer": "Sleeping.",
                },
            ],
            "5-1",
        ],
        [
            ["W: The mill burned down.", "M: Again?"],
            [
                {
                    "question": "What burned?",
                    "choice": ["The mill.", "The pond."],
                    "answer": "The mill.",
                }
            ],
            "5-2",
        ],
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

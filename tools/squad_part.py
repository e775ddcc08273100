"""Makes the part of SQuAD that tfmrc ships (tfmrc/data/squad_files) from SQuAD's official files.

    python tools/squad_part.py --train train.json --test dev.json --out tfmrc/data/squad_files

Both files are in SQuAD's official form, v1.1 or v2.0, whole or some of their articles. The rule
has no random choice, so that the same files always give the same part:

- training questions come from articles of SQuAD's training set, where every question has one
  reference; test questions come from its development set, where questions have several;
- only questions with an answer are taken; a paragraph without any is left out;
- only questions with an id of SQuAD's own form, 24 hexadecimal digits, are taken: some copies of
  the data hold questions a second time under other ids;
- of each article, paragraphs are taken whole, in the order of the SHA-256 of their text, until
  there are TRAIN_QUESTIONS or TEST_QUESTIONS; then they are put back into the article's order.

Writes train.json.gz and test.json.gz in the form of SQuAD v1.1, and prints what is in them.
"""

import argparse
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

TRAIN_QUESTIONS = 56
"""Fewest questions of an article in the training file; the last paragraph is taken whole."""

TEST_QUESTIONS = 12
"""Fewest questions of an article in the test file."""

OFFICIAL_ID = re.compile("[0-9a-f]{24}")

Json = dict[str, Any]


def answerable(article: Json) -> Json:
    """Returns an article in the form of v1.1, with the questions that are taken."""
    paragraphs = []
    for paragraph in article["paragraphs"]:
        questions = [
            {
                "id": qa["id"],
                "question": qa["question"],
                "answers": [
                    {"answer_start": answer["answer_start"], "text": answer["text"]}
                    for answer in qa["answers"]
                ],
            }
            for qa in paragraph["qas"]
            if qa["answers"] and OFFICIAL_ID.fullmatch(qa["id"])
        ]
        if questions:
            paragraphs.append({"context": paragraph["context"], "qas": questions})
    return {"title": article["title"], "paragraphs": paragraphs}


def of_training_set(article: Json) -> bool:
    """Returns True if every question has one reference, as in SQuAD's training set."""
    return all(
        len(qa["answers"]) == 1 for paragraph in article["paragraphs"] for qa in paragraph["qas"]
    )


def part_of(article: Json, fewest: int) -> Json:
    """Returns an article cut to whole paragraphs with at least `fewest` questions, if it has them.

    Args:
        article: From `answerable`.
        fewest: int. Number of questions from which on no paragraph is added.
    """
    paragraphs = article["paragraphs"]
    order = sorted(
        range(len(paragraphs)),
        key=lambda index: hashlib.sha256(paragraphs[index]["context"].encode()).hexdigest(),
    )
    selected, count = [], 0
    for index in order:
        if count >= fewest:
            break
        selected.append(index)
        count += len(paragraphs[index]["qas"])
    return {"title": article["title"], "paragraphs": [paragraphs[i] for i in sorted(selected)]}


def part(data: Json, fewest: int, training: bool) -> Json:
    """Returns the part of a file of SQuAD that is shipped.

    Args:
        data: The content of the file.
        fewest: int. Fewest questions of an article.
        training: bool. Whether articles of the training set are taken; else those of the
            development set.
    """
    articles = [answerable(article) for article in data["data"]]
    selected = [
        part_of(article, fewest) for article in articles if of_training_set(article) is training
    ]
    return {"version": "1.1", "data": selected}


def write(path: Path, data: Json) -> None:
    """Writes compressed JSON with the same bytes each time."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())


def main() -> None:
    """Writes both files."""
    parser = argparse.ArgumentParser(description="Makes the part of SQuAD that tfmrc ships.")
    parser.add_argument("--train", type=Path, required=True, help="SQuAD's training file")
    parser.add_argument("--test", type=Path, required=True, help="SQuAD's development file")
    parser.add_argument("--out", type=Path, required=True, help="folder for the two files")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, source, fewest in (
        ("train", options.train, TRAIN_QUESTIONS),
        ("test", options.test, TEST_QUESTIONS),
    ):
        data = json.loads(source.read_text(encoding="utf-8"))
        built = part(data, fewest, training=name == "train")
        path = options.out / f"{name}.json.gz"
        write(path, built)
        paragraphs = [p for article in built["data"] for p in article["paragraphs"]]
        questions = sum(len(paragraph["qas"]) for paragraph in paragraphs)
        print(
            f"{name}: {len(built['data'])} articles, {len(paragraphs):,} paragraphs, "
            f"{questions:,} questions, {path.stat().st_size:,} bytes"
        )
        print("  " + ", ".join(article["title"] for article in built["data"]))


if __name__ == "__main__":
    main()

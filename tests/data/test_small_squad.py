"""The shipped part of SQuAD: what its README says is what the files hold."""

import gzip
import json
import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

from tfmrc.data import load_small_squad

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tfmrc" / "data" / "squad_files"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SIZES = {"train": (44, 633, 2539), "test": (36, 107, 527)}
"""Articles, paragraphs and questions."""


@pytest.fixture(scope="module", params=SIZES)
def split(request):
    return request.param


@pytest.fixture(scope="module")
def examples(split):
    return list(load_small_squad(split))


def test_sizes(split, examples) -> None:
    found = (
        len({example.group for example in examples}),
        len({example.passages for example in examples}),
        len(examples),
    )
    assert found == SIZES[split]


def test_every_question_has_an_answer_where_its_offset_says(split, examples) -> None:
    assert len({example.id for example in examples}) == len(examples)
    references = Counter()
    for example in examples:
        assert example.answerable and len(example.passages) == 1
        assert re.fullmatch("[0-9a-f]{24}", example.id)
        texts = example.answers["span"]
        assert tuple(example.span_text(span) for span in example.spans) == texts
        assert all(texts) and example.question.strip()
        references[len(texts)] += 1
    assert set(references) == ({1} if split == "train" else {2, 3, 4, 5})


def test_no_article_and_no_paragraph_is_in_both_files() -> None:
    train, test = (list(load_small_squad(split)) for split in SIZES)
    for part in ("group", "passages"):
        assert not {getattr(e, part) for e in train} & {getattr(e, part) for e in test}


# === The program that makes the files ===


def test_the_program_writes_the_same_bytes_again(split, tmp_path) -> None:
    program = runpy.run_path(str(ROOT / "tools" / "squad_part.py"))
    with gzip.open(FOLDER / f"{split}.json.gz", "rt", encoding="utf-8") as file:
        data = json.load(file)
    fewest = program["TRAIN_QUESTIONS" if split == "train" else "TEST_QUESTIONS"]
    again = program["part"](data, fewest, training=split == "train")
    assert again == data  # the rule gives of the part the part
    program["write"](tmp_path / "again.json.gz", again)
    assert (tmp_path / "again.json.gz").read_bytes() == (FOLDER / f"{split}.json.gz").read_bytes()

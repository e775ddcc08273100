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


def test_sizes_are_those_of_the_readme(split, examples) -> None:
    found = (
        len({example.group for example in examples}),
        len({example.passages for example in examples}),
        len(examples),
    )
    assert found == SIZES[split]
    articles, paragraphs, questions = found
    assert f"| `{split}.json.gz` | {articles} | {paragraphs} | {questions:,} |" in README
    described = " ".join((load_small_squad.__doc__ or "").split())
    assert f"{questions:,} {'training' if split == 'train' else 'test'} questions" in described


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


def test_the_files_have_the_form_of_version_1_1(split) -> None:
    with gzip.open(FOLDER / f"{split}.json.gz", "rt", encoding="utf-8") as file:
        data = json.load(file)
    assert data["version"] == "1.1"
    for article in data["data"]:
        assert set(article) == {"title", "paragraphs"}
        for paragraph in article["paragraphs"]:
            assert set(paragraph) == {"context", "qas"}
            assert all(set(qa) == {"id", "question", "answers"} for qa in paragraph["qas"])


def test_licence_and_attribution_are_beside_the_files(examples) -> None:
    licence = (FOLDER / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith("Attribution-ShareAlike 4.0 International")
    for words in ("CC BY-SA 4.0", "licenses/by-sa/4.0/", "Rajpurkar", "Wikipedia", "Changes:"):
        assert words in README
    assert all(f"`{title}`" in README for title in {example.group for example in examples})
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 2_000_000


def test_the_wheel_holds_the_files() -> None:
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    assert '"data/squad_files/*"' in setup
    assert '"tfmrc/data/squad_files/LICENSE"' in setup
    assert {path.name for path in FOLDER.iterdir()} == {
        "LICENSE", "README.md", "test.json.gz", "train.json.gz",
    }  # fmt: skip


def test_an_unknown_split_is_named() -> None:
    with pytest.raises(ValueError, match=r"\['train', 'test'\]. Received: split='dev'"):
        load_small_squad("dev")


# === The program that makes the files ===


def article(title, *paragraphs, references=1):
    """An article in the form of v2.0: for each paragraph its text and its number of questions."""

    def question(number, paragraph):
        answers = [{"text": paragraph[:2], "answer_start": 0}] * references
        name = f"{title}{number}{paragraph}".encode().hex().ljust(24, "0")[:24]
        return {"id": name, "question": "Who?", "answers": answers, "is_impossible": False}

    built = [
        {"context": text, "qas": [question(number, text) for number in range(count)]}
        for text, count in paragraphs
    ]
    built[0]["qas"].append({"id": "0" * 24, "question": "?", "answers": [], "is_impossible": True})
    return {"title": title, "paragraphs": built}


def test_the_program_takes_whole_paragraphs_by_a_fixed_rule() -> None:
    program = runpy.run_path(str(ROOT / "tools" / "squad_part.py"))
    # SHA-256 begins with ca97 (a), 3e23 (b), 2e7d (c), 18ac (d).
    of_train = article("One", ("a", 2), ("b", 2), ("c", 2), ("d", 1))
    of_dev = article("Two", ("a", 3), references=2)
    copied = {**of_train["paragraphs"][3]["qas"][0], "id": "f" * 25}
    of_train["paragraphs"][3]["qas"].append(copied)
    data = {"version": "v2.0", "data": [of_train, of_dev]}
    train = program["part"](data, 4, training=True)
    assert train["version"] == "1.1"
    [one] = train["data"]
    assert one["title"] == "One"
    assert [p["context"] for p in one["paragraphs"]] == ["b", "c", "d"]
    assert [len(p["qas"]) for p in one["paragraphs"]] == [2, 2, 1]
    assert all(set(qa) == {"id", "question", "answers"} for qa in one["paragraphs"][0]["qas"])
    [two] = program["part"](data, 1, training=False)["data"]
    assert [len(p["qas"]) for p in two["paragraphs"]] == [3]


def test_the_program_writes_the_same_bytes_again(split, tmp_path) -> None:
    program = runpy.run_path(str(ROOT / "tools" / "squad_part.py"))
    with gzip.open(FOLDER / f"{split}.json.gz", "rt", encoding="utf-8") as file:
        data = json.load(file)
    fewest = program["TRAIN_QUESTIONS" if split == "train" else "TEST_QUESTIONS"]
    again = program["part"](data, fewest, training=split == "train")
    assert again == data  # the rule gives of the part the part
    program["write"](tmp_path / "again.json.gz", again)
    assert (tmp_path / "again.json.gz").read_bytes() == (FOLDER / f"{split}.json.gz").read_bytes()

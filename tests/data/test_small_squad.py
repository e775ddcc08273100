"""The shipped part of SQuAD: its sizes, its offsets, and no article in both parts."""

import re
from collections import Counter

import pytest

from tfmrc.data import load_small_squad

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

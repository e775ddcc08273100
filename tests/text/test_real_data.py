"""The tokenizer on real data: no characters are lost, answers are at token boundaries."""

import json

import pytest

from benchmarks.tokenizer_agreement import differences, free_boundaries, rates, rebuilt, shape
from tfmrc.text import Tokenizer


@pytest.mark.shared_data
def test_squad_paragraphs_and_answers(shared_data):
    articles = json.loads((shared_data / "squad" / "dev.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    contexts = [paragraph["context"] for paragraph in paragraphs]
    tokens = Tokenizer().tokenize(contexts)
    columns = (field.to_list() for field in (tokens.surface, tokens.starts, tokens.ends))
    aligned = total = 0
    for paragraph, surfaces, starts, ends in zip(paragraphs, *columns, strict=True):
        context = paragraph["context"]
        spans = [context[start:end] for start, end in zip(starts, ends, strict=True)]
        assert spans == [surface.decode() for surface in surfaces]
        assert "".join(spans) == "".join(context.split())
        for question in paragraph["qas"]:
            for answer in question["answers"]:
                start, text = answer["answer_start"], answer["text"]
                total += 1
                aligned += start in starts and start + len(text) in ends
    assert total > 25_000
    assert aligned / total > 0.99


def test_rebuilt():
    assert rebuilt(["It's 5%.", "a , b"]) == {"answers": 2, "same": 0.5}


def test_differences():
    text = "20-year U.S.-led"
    ours, theirs = [(0, 7), (8, 12), (12, 13), (13, 16)], [(0, 2), (2, 3), (3, 7), (8, 16)]
    assert list(differences(text, ours, theirs)) == [
        ("20 - year", "20-year"), ("U.S.-led", "U.S. - led")
    ]  # fmt: skip
    assert shape(("20 - year", "20-year")) == "9 - x   →   9-x"
    assert free_boundaries(text, ours) == {12, 13}


def test_rates():
    assert rates(3, 4, 6) == {"precision": 0.75, "recall": 0.5, "f1": 0.6}
    assert rates(0, 0, 0) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}

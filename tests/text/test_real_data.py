"""The tokenizer on real data: no characters are lost, answers are at token boundaries."""

import json

import pytest

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

"""The SQuAD reader: versions, offsets, errors."""

import json
from functools import partial

import pytest

from tests.data.builders import HERON, MILL, assert_named_or_skipped, squad, write
from tfmrc.data import Span, read_squad


def test_v2(tmp_path):
    examples = list(read_squad(write(tmp_path / "a.json", squad())))
    assert [example.id for example in examples] == ["h1", "h2", "w1", "m1"]
    heron, impossible, wall, mill = examples
    assert heron.passages == (HERON,)
    assert heron.answers == {"span": ("small fish", "fish")}
    assert [heron.span_text(span) for span in heron.spans] == ["small fish", "fish"]
    assert (heron.answerable, heron.relevance, heron.group) == (True, (True,), "Pond")
    assert (impossible.answerable, impossible.relevance) == (False, (False,))
    assert impossible.answers == {} and impossible.spans == ()
    assert mill.group == "Mill"
    assert wall.spans == (Span(0, 31, 34),), "offsets count characters, not bytes"


def test_v1_is_all_answerable(tmp_path):
    path = write(tmp_path / "a.json", squad("1.1"))
    assert [example.answerable for example in read_squad(path, style="qa")] == [True] * 3
    assert all(set(example.answers) == {"qa"} for example in read_squad(path, style="qa"))


def broken(change):
    content = squad()
    change(content["data"][0])
    return content


def question(article):
    return article["paragraphs"][0]["qas"][0]


CASES = {
    "answer_start": lambda a: question(a)["answers"][1].update(text="h", answer_start=0),
    "question": lambda a: question(a).update(question="  "),
    "answers": lambda a: question(a).update(answers=[]),
    "answers ": lambda a: question(a).update(is_impossible=True),
    "id": lambda a: question(a).update(id=["h1"]),
}


@pytest.mark.parametrize("field", CASES)
def test_a_broken_question_is_named_or_skipped(tmp_path, field):
    read = partial(read_squad, write(tmp_path / "a.json", broken(CASES[field])))
    name = r"\['h1'\]" if field == "id" else "'h1'"
    assert_named_or_skipped(read, rf"a\.json: id {name}", field.strip(), ["h2", "w1", "m1"])


def asked(*questions, **beside):
    """A paragraph with these questions."""
    numbered = [{"id": number, "question": "Who?", **qa} for number, qa in enumerate(questions)]
    return {"context": MILL, "qas": numbered, **beside}


def test_articles_and_paragraphs_without_data_around_them(tmp_path):
    paragraph = asked({"answers": [{"text": "Anna Brandt", "answer_start": 0}]})
    article = {"title": "Mill", "paragraphs": [paragraph]}
    lines = json.dumps(article) + "\n" + json.dumps({**paragraph, "qas": []})
    for content in ([article], article, [paragraph], paragraph, lines):
        [example] = read_squad(write(tmp_path / "a.json", content))
        assert (example.id, example.spans) == ("0", (Span(0, 0, 11),))
    indented = write(tmp_path / "a.json", json.dumps(article, indent=1))
    assert [example.group for example in read_squad(indented)] == ["Mill"]


def test_ids_that_are_missing_are_file_and_row(tmp_path):
    content = [asked({"id": None}, {"id": 7}), asked({"id": " "})]
    names = [example.id for example in read_squad(write(tmp_path / "a.json", content))]
    assert names == ["a.json:1", "7", "a.json:3"]


@pytest.mark.parametrize(
    ("answers", "impossible", "unknown", "none"),
    [
        (None, True, False, False),
        (None, None, None, False),
        ([], None, None, False),
        ([{"text": "", "answer_start": 9}], None, None, False),
        ([{"text": " ", "answer_start": 9}], False, None, False),
        ([{"text": "CANNOTANSWER", "answer_start": 9}], None, False, False),
    ],
)
def test_answers_that_are_blank_or_say_that_there_is_none(
    tmp_path, answers, impossible, unknown, none
):
    path = write(tmp_path / "a.json", [asked({"answers": answers, "is_impossible": impossible})])
    for blank_answers, expected in (("unknown", unknown), ("none", none)):
        stream = read_squad(path, blank_answers=blank_answers)
        [example] = stream
        assert (example.answers, example.answerable) == ({}, expected)
        blank = {"blank answers, read as no answer": 1}
        assert stream.account.notes == (blank if (unknown, expected) == (None, False) else {})


@pytest.mark.parametrize(
    ("passage", "text", "start"),
    [
        ("🌾🌾 Built by Ada Holm.", "Ada Holm", 14),  # of UTF-16
        ("タルンの水車はエイダが建てた。", "エイダ", 21),  # of UTF-8
        ("سنة 1817", "1817", 0),
    ],
)
def test_an_answer_that_is_elsewhere_is_located(tmp_path, passage, text, start):
    qa = {"answers": [{"text": text, "answer_start": start}]}
    stream = read_squad(write(tmp_path / "a.json", [asked(qa, context=passage)]))
    [example] = stream
    assert [example.span_text(span) for span in example.spans] == [text]
    assert stream.account.notes == {"answers located, as their position was wrong": 1}


def test_labels_that_are_not_needed_stop_nothing(tmp_path):
    twice = {"answers": [{"text": "built", "answer_start": 1}]}
    asides = [{"answers": 1.5}, {"answers": [{"text": 1}]}, {"is_impossible": "perhaps"}]
    yes = {"answers": [{"text": "It burned twice", "answer_start": 36, "answer_category": "YES"}]}
    path = write(tmp_path / "a.json", [asked(twice, *asides, yes, context=MILL + " Rebuilt.")])
    for labels, ids in (("all", ""), ("texts", "0"), ("none", "01234")):
        stream = read_squad(path, on_error="skip")
        stream.labels = labels
        assert "".join(example.id for example in stream) == ids
        assert stream.skipped == 5 - len(ids)

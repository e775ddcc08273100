"""The SQuAD reader: versions, offsets, errors."""

import pytest

from tests.data.builders import HERON, squad, write
from tfmrc.data import RecordError, Span, read_squad


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


def test_answers_that_are_not_told(tmp_path):
    content = squad("1.1")
    content["data"][1]["paragraphs"][0]["qas"][0]["answers"] = []
    last = list(read_squad(write(tmp_path / "a.json", content)))[-1]
    assert (last.answerable, last.relevance, last.answers) == (None, None, {})


def broken(change):
    content = squad()
    change(content["data"][0])
    return content


def question(article):
    return article["paragraphs"][0]["qas"][0]


CASES = {
    "answer_start": lambda a: question(a)["answers"][0].update(answer_start=3),
    "question": lambda a: question(a).update(question="  "),
    "answers": lambda a: question(a).update(answers=[]),
    "answers ": lambda a: question(a).update(is_impossible=True),
    "id": lambda a: question(a).pop("id"),
}


@pytest.mark.parametrize("field", CASES)
def test_a_broken_question_is_named_or_skipped(tmp_path, field):
    path = write(tmp_path / "a.json", broken(CASES[field]))
    with pytest.raises(RecordError, match=r"a\.json: .*") as caught:
        list(read_squad(path))
    assert caught.value.field == field.strip()
    location = "article 'Pond', paragraph 1, question 1" if field == "id" else "id 'h1'"
    assert caught.value.record == location
    stream = read_squad(path, on_error="skip")
    assert [example.id for example in stream] == ["h2", "w1", "m1"]
    assert stream.skipped == 1
    assert stream.report.fields == {field.strip(): 1}

"""Breaking down: question words, scores by group, answer lengths."""

import pytest

from tfmrc.evaluation import (
    answer_lengths,
    question_word,
    score_answers,
    score_by_group,
    score_repetition,
)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What is it?", "what"),
        ("To whom was it given?", "who"),
        ("Name what it is and why.", "what"),
        ("Somewhat odd, somehow", "other"),
    ],
)
def test_question_word(question, word):
    assert question_word(question) == word


def test_a_corpus_score_is_computed_anew_in_each_group():
    predictions = {"a": "the mill", "b": "the owl flew", "c": "rain"}
    references = {"a": ["the mill"], "b": ["an owl flew"], "c": ["rain"]}
    groups = {"a": "what", "b": "who", "c": "what"}
    whole = score_answers(predictions, references, rules="plain")
    parts = score_by_group(whole["bleu_2"], groups)
    for name in ("what", "who"):
        ids = [key for key in groups if groups[key] == name]
        alone = score_answers(
            {key: predictions[key] for key in ids}, {key: references[key] for key in ids}, "plain"
        )
        assert parts[name].value == pytest.approx(alone["bleu_2"].value, abs=1e-9)
        assert parts[name].size == len(ids)
    assert list(parts) == ["what", "who"]
    assert set(parts["what"].per_example or {}) == {"a", "c"}


def test_a_text_without_words_has_a_group_too():
    score = score_repetition({"a": "", "b": "an owl an"})["duplication_rate"]
    parts = score_by_group(score, {"a": "qa", "b": "nlg"})
    assert (parts["qa"].value, parts["nlg"].value) == (0.0, pytest.approx(1 / 3))
    assert (parts["qa"].per_example, set(parts["nlg"].per_example or {})) == ({}, {"b"})


def test_lengths_by_hand():
    rows = answer_lengths(
        [("qa", "person", "Ode"), ("qa", "person", "Ada of Ley."), ("nlg", "person", "It was Ode.")]
    )
    # Lengths 1 and 4: mean 2.5, deviation 3 / sqrt(2), error 3 / sqrt(2) / sqrt(2) = 1.5.
    assert (rows[0].mean, rows[0].error) == (2.5, pytest.approx(1.5))
    assert (rows[1].style, rows[1].mean, rows[1].error) == ("nlg", 4.0, 0.0)

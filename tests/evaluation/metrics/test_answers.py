"""score_answers: rules, rows, edge cases."""

import math

import pytest

from tfmrc.evaluation import NO_ANSWER, RULES, Rules, score_answers


def test_rows_follow_the_rules():
    plain = score_answers({"a": "x"}, {"a": ["x"]}, rules="plain")
    assert list(plain) == ["rouge_l", "bleu_1", "bleu_2", "bleu_3", "bleu_4"]
    story = score_answers({"a": "x"}, {"a": ["x"]}, rules="narrativeqa", meteor=False)
    assert list(story) == ["rouge_l", "bleu_1", "bleu_4"]


def test_an_empty_prediction_scores_zero():
    scores = score_answers({"a": "", "b": "a weir"}, {"a": ["a mill"], "b": ["a weir"]})
    # a: nothing in common. b: exact. ROUGE-L is the mean; BLEU-1 has 2 of 2 words right and is
    # 2 words long where the references have 4: exp(1 - 4/2) = exp(-1).
    assert scores["rouge_l"].value == pytest.approx(0.5)
    assert scores["bleu_1"].value == pytest.approx(math.exp(-1), abs=1e-8)


def test_nothing_to_score_gives_no_number():
    scores = score_answers({"a": "x"}, {"a": [NO_ANSWER]})
    assert scores["rouge_l"].value is None
    assert scores["bleu_1"].value is None
    assert scores["bleu_1"].note == "no example to score"
    with pytest.raises(ValueError, match="no example to score"):
        float(scores["rouge_l"])


def test_no_answer_has_its_meaning_only_in_msmarco():
    plain = score_answers({"a": NO_ANSWER}, {"a": [NO_ANSWER]}, rules="plain")
    assert plain["rouge_l"].value == 1.0
    assert "answerable_f1" not in plain


def test_abstentions_are_left_out_or_count_as_empty():
    predictions = {"a": NO_ANSWER, "b": "the weir"}
    references = {"a": ["a mill"], "b": ["the weir"]}
    left_out = score_answers(predictions, references, rules="msmarco")
    assert (left_out["rouge_l"].value, left_out["rouge_l"].size) == (1.0, 1)
    assert left_out.counts["abstained"] == 1
    strict = score_answers(predictions, references, rules="msmarco-strict")
    assert (strict["rouge_l"].value, strict["rouge_l"].size) == (0.5, 2)


def test_a_tokenizer_can_be_chosen_and_is_recorded():
    predictions, references = {"a": "the mill."}, {"a": ["the mill"]}
    cut = score_answers(predictions, references, rules="qg", tokenizer="english", meteor=False)
    uncut = score_answers(predictions, references, rules="qg", meteor=False)
    assert cut["bleu_1"].value == pytest.approx(2 / 3)
    assert uncut["bleu_1"].value == pytest.approx(1 / 2)
    assert cut["bleu_1"].tokenisation == "tfmrc english 1, lower-cased"
    assert uncut["bleu_1"].tokenisation == "white space, lower-cased"


def test_own_rules_are_taken():
    cased = Rules("cased", lower_case=False)
    assert score_answers({"a": "Mill"}, {"a": ["mill"]}, rules=cased)["rouge_l"].value == 0.0


def test_spacing_of_cut_and_uncut_text_does_not_matter_under_narrativeqa():
    prepare = RULES["narrativeqa"].prepare
    assert prepare("The king's dog isn't well-fed .") == prepare(
        "the king 's dog is n't well - fed"
    )


def test_composed_and_decomposed_letters_are_equal_in_unicode_rules_only():
    predictions, references = {"a": "cafe\u0301"}, {"a": ["caf\u00e9"]}
    for rules, value in (("plain", 0.0), ("unicode", 1.0), ("narrativeqa-unicode", 1.0)):
        scores = score_answers(predictions, references, rules, meteor=False)
        assert scores["rouge_l"].value == value, rules
    scores = score_answers(predictions, references, "msmarco", tokenizer="unicode")
    assert scores["rouge_l"].value == 1.0
    assert scores["rouge_l"].tokenisation.startswith("tfmrc unicode 1 (Unicode 1")


def test_punctuation_alone_is_compared_in_unicode_rules():
    """NarrativeQA's rules remove it, and two empty texts are equal to pycocoevalcap."""
    for rules, value in (("narrativeqa", 1.0), ("narrativeqa-unicode", 0.0)):
        scores = score_answers({"a": "?!"}, {"a": ["..."]}, rules, meteor=False)
        assert scores["rouge_l"].value == value
    same = score_answers({"a": "..."}, {"a": ["..."]}, "narrativeqa-unicode", meteor=False)
    assert same["rouge_l"].value == 1.0
    prepare = RULES["narrativeqa-unicode"].prepare
    assert (prepare("Rex!"), prepare(""), prepare("?!")) == ("rex", "", "? !")

"""SQuAD's rules beyond the golden cases: thresholds, subsets, errors."""

import string

import pytest

from tfmrc.evaluation import Prediction, Reference, Submission, normalize_squad, score, score_squad


def test_normal_form():
    assert normalize_squad("A  Theatre, the U.S.!") == "theatre us"
    assert normalize_squad("another an") == "another"
    assert normalize_squad("“York”") == "“york”"  # only ASCII punctuation goes


def test_subsets_of_version_2():
    scores = score_squad(
        {"a": "old York", "b": "", "c": "owl"}, {"a": ["York"], "b": [], "c": []}, version="2.0"
    )
    # a: no exact match, F1 = 2 * 1 / (2 + 1). b: right. c: wrong.
    assert scores["has_answer_f1"].value == pytest.approx(2 / 3)
    assert (scores["has_answer_f1"].size, scores["no_answer_accuracy"].size) == (1, 2)
    assert scores["no_answer_accuracy"].value == 0.5
    assert scores["f1"].value == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_thresholds_of_version_2():
    predictions = {"a": "York", "b": "owl", "c": "ten", "d": "mill"}
    references = {"a": ["York"], "b": [], "c": ["ten"], "d": []}
    chances = {"a": 0.1, "b": 0.6, "c": 0.5, "d": 0.9}
    given = score_squad(
        predictions, references, version="2.0", no_answer=chances, no_answer_threshold=0.3
    )
    # Above 0.3 nothing is answered: a right, b and d right (silent), c wrong.
    assert given["exact_match"].value == 0.75
    assert given["best_exact_match"].value == 1.0
    assert given["best_exact_match"].note == "threshold 0.5, the best on these data"


def test_a_question_has_an_answer_if_it_has_references_as_in_the_official_script():
    scores = score_squad({"a": "", "b": ""}, {"a": ["The", "!"], "b": []}, version="2.0")
    # Its references are empty after normalization, so that an empty prediction is right.
    assert scores["exact_match"].value == scores["has_answer_exact_match"].value == 1.0
    assert (scores["has_answer_f1"].size, scores["no_answer_accuracy"].size) == (1, 1)
    silent = score_squad(
        {"a": "an"}, {"a": ["The"]}, version="2.0", no_answer={"a": 0.9}, no_answer_threshold=0.5
    )
    assert silent["exact_match"].value == 0.0


def test_the_shown_threshold_decides_as_the_best_one():
    """Of probabilities near 1, four digits are 1, above which nothing is."""
    predictions = {"a": "York", "b": "owl"}
    references = {"a": ["York"], "b": []}
    chances = {"a": 0.99997, "b": 0.99999}
    scores = score_squad(predictions, references, version="2.0", no_answer=chances)
    note = scores["best_f1"].note
    assert note == "threshold 0.99997, the best on these data"
    again = score_squad(
        predictions, references, version="2.0", no_answer=chances,
        no_answer_threshold=float(note.split()[1].rstrip(",")),
    )  # fmt: skip
    assert again["f1"].value == scores["best_f1"].value == 1.0


def test_best_threshold_decides_equal_chances_together():
    scores = score_squad(
        {"a": "York", "b": "owl"},
        {"a": ["York"], "b": []},
        version="2.0",
        no_answer={"a": 0.5, "b": 0.5},
    )
    # Answering both or neither gets one of two right; no threshold can part them.
    assert scores["best_exact_match"].value == 0.5


def test_a_text_without_words_is_no_refusal_in_the_best_scores_as_in_the_official_script():
    predictions = {"a": "the", "b": "York", "c": "...", "d": ""}
    references = {"a": [], "b": ["York"], "c": [], "d": []}
    scores = score_squad(
        predictions, references, version="2.0", no_answer={"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.1}
    )
    assert scores["exact_match"].value == scores["no_answer_accuracy"].value == 1.0
    # By `find_best_thresh` "the" and "..." are wrong: 3 right without an answer, then 2, 3, 2.
    for name in ("best_exact_match", "best_f1"):
        assert scores[name].value == 0.75
        assert scores[name].note == "best on these data: no question answered"


@pytest.mark.parametrize(
    ("answer", "reference", "shared"),
    [
        ("青木花子が", "青木花子", 8 / 9),
        ("由阿达霍姆", "阿达霍姆", 8 / 9),
        ("김영희가", "김영희", 6 / 7),
        ("สุดา", "สุดาพร", 4 / 5),
        ("built 1817", "1817", 2 / 3),
    ],
)
def test_f1_of_a_partly_right_answer_in_scripts_without_spaces(answer, reference, shared):
    given = Submission({"q": Prediction("q", answer)}, {"q": Reference("q", (reference,))})
    f1 = next(iter(score(given, ["squad"])))["f1"]
    assert f1.value == pytest.approx(shared)
    assert ("one by one" in f1.tokenisation) == (not answer.isascii())


def test_unicode_normalization_is_beside_the_official_one():
    """ "café" composed and decomposed, and typographic quotes, are equal only in Unicode's form."""
    predictions = {"a": "“cafe\u0301”", "b": "हिन्दी।"}
    references = {"a": ["caf\u00e9"], "b": ["हिन्दी"]}
    official = score_squad(predictions, references)
    assert official["exact_match"].value == official["f1"].value == 0.0
    unicode = score_squad(predictions, references, normalization="unicode")
    assert unicode["exact_match"].value == unicode["f1"].value == 1.0
    assert unicode["f1"].tokenisation.startswith("NFC, case-folded")


@pytest.mark.parametrize("mark", string.punctuation)
def test_unicode_normalization_removes_what_the_official_one_does(mark):
    assert normalize_squad(f"5{mark}", "unicode") == normalize_squad(f"5{mark}") == "5"

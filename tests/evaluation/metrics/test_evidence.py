"""F1 of words, sentences and spans of evidence, computed by hand."""

import pytest

from tfmrc.data import Example, Span
from tfmrc.evaluation import score_evidence

PASSAGES = ("An owl flew. It was late.", "A cat looked.")
FIRST, SECOND, OTHER = Span(0, 0, 12), Span(0, 13, 25), Span(1, 0, 13)
CASES = {  # found, right: F1 of words, sentences and spans
    "all": ([FIRST, OTHER], [OTHER, FIRST], (1, 1, 1)),
    "half of a sentence": ([Span(0, 3, 12)], [FIRST], (6 / 7, 1, 0)),
    "another passage": ([OTHER], [FIRST], (0, 0, 0)),
    "one too many": ([FIRST, SECOND], [FIRST], (8 / 12, 2 / 3, 2 / 3)),
    "nothing, rightly": ([], [], (1, 1, 1)),
    "nothing, wrongly": ([], [FIRST], (0, 0, 0)),
    "something, wrongly": ([FIRST], [], (0, 0, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_scores(name):
    found, right, expected = CASES[name]
    scores = score_evidence({"q": found}, [Example("q", "Who?", PASSAGES, spans=right)])
    values = [scores[key].value for key in ("word_f1", "sentence_f1", "span_f1")]
    assert values == pytest.approx(expected)


def test_scores_are_means_over_questions():
    examples = [Example(key, "Who?", PASSAGES, spans=(FIRST,)) for key in "pq"]
    scores = score_evidence({"p": [FIRST], "q": []}, examples)
    assert scores["word_f1"].value == 0.5
    assert scores["word_f1"].per_example == {"p": 1.0, "q": 0.0}
    with pytest.raises(KeyError, match="q"):
        score_evidence({"p": [FIRST]}, examples)

"""Whatever a request holds, the export gives an answer or a clear error status."""

import numpy as np
import pytest

from tests.serving.predictors import REQUEST, assert_same_outputs, run_loader

LONG = " ".join(f"word{i % 977}" for i in range(100_000))


def request(question="How high is it?", passages=("It is 7 metres high.",), style="qa"):
    return {"question": [question], "passages": [list(passages)], "style": [style]}


def joined(*requests):
    width = max(len(r["passages"][0]) for r in requests)
    return {
        "question": [r["question"][0] for r in requests],
        "passages": [r["passages"][0] + [""] * (width - len(r["passages"][0])) for r in requests],
        "style": [r["style"][0] for r in requests],
    }


ANSWERED = {
    "empty question": (request(question=""), False),
    "passage of spaces": (request(passages=["  "]), False),
    "no passage at all": (request(passages=[]), False),
    "nothing at all": (request(question="", passages=[]), False),
    "more passages than the model reads": (request(passages=["It is."] * 9), True),
    "100,000 words in a passage": (request(passages=["It is high.", LONG]), True),
    "one word of 300,000 characters": (request(passages=["x" * 300_000]), False),
    "invalid UTF-8": (
        request(question="How \udcff\udcfe?", passages=["\udc80\udcff is 7."]),
        False,
    ),
    "zero bytes": (request(question="How\0high?", passages=["\0"]), False),
    "special words": (request(passages=["[PAD] [UNK] [BOS] [EOS]"]), False),
}
REFUSED = {
    "unknown style": (request(style="limerick"), ["limerick", "qa", "nlg"]),
    "one style of many is unknown": (joined(request(), request(style="x")), ["qa", "nlg"]),
    "fewer passages than questions": (
        {**joined(request(), request()), "passages": [["It is."]]},
        ["`passages` must have as many rows as `question`"],
    ),
}


@pytest.fixture(scope="module")
def replies(exported):
    """All requests one after another through one process of the C API: a crash would end it."""
    asked = {**ANSWERED, **REFUSED}
    mixed = joined(*(r for r, _ in ANSWERED.values()))
    requests = [*(r for r, _ in asked.values()), mixed, REQUEST]
    found = run_loader(exported, requests)
    return dict(zip([*asked, "mixed", "usual"], found, strict=True))


def test_a_process_in_c_gives_the_same_answers(replies, answer_arrays):
    assert_same_outputs(replies["usual"]["outputs"], answer_arrays)


@pytest.mark.parametrize("case", ANSWERED)
def test_it_is_answered_and_cuts_are_said(replies, case):
    outputs = replies[case]["outputs"]
    assert outputs["truncated"] == [ANSWERED[case][1]]
    (num_words,) = outputs["num_words"]
    assert 0 <= num_words <= 9
    assert len(outputs["words"][0]) == num_words
    assert np.all(np.isfinite(outputs["probability"]))
    assert np.all(np.isfinite(outputs["mixture"]))
    assert all(
        0 <= value <= 1 for value in outputs["relevance"][0] + outputs["answerable_probability"]
    )


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused_with_a_status_that_says_why(replies, case):
    reply = replies[case]
    assert reply["code"] == 3, "INVALID_ARGUMENT"
    for words in REFUSED[case][1]:
        assert words in reply["error"]


def test_bad_rows_do_not_change_the_others(replies):
    mixed = replies["mixed"]["outputs"]
    for row, case in enumerate(ANSWERED):
        alone = replies[case]["outputs"]
        assert mixed["answer"][row] == alone["answer"][0], case
        assert mixed["truncated"][row] == alone["truncated"][0]
        np.testing.assert_allclose(mixed["probability"][row], alone["probability"][0], rtol=1e-4)


def test_relevance_of_missing_passages_is_zero(replies):
    relevance = replies["mixed"]["outputs"]["relevance"]
    cases = list(ANSWERED)
    assert relevance[cases.index("no passage at all")] == [0, 0, 0]
    assert relevance[cases.index("empty question")][1:] == [0, 0]
    assert relevance[cases.index("empty question")][0] > 0

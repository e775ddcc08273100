"""SAN's preprocessor: matches, tags, spans and windows, against loops over the same words."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.data import Example, Span, make_dataset
from tfmrc.preprocessing import SANPreprocessor
from tfmrc.text import Tokenizer, Vocabulary

WORDS = "the owl flew who over mill".split()
QUESTIONS = ["Who FLEW over the mill?", "", "Owl?"]
PASSAGES = ["The owl flew, flew over THE hill.", "An owl.", ""]
TAGS = ("NOUN", "VERB")


def built(**options):
    return SANPreprocessor(Vocabulary(WORDS, num_oov_buckets=2), **options)


def words_of(text):
    tokens = Tokenizer().tokenize([text])
    return [word.decode() for word in tokens.surface[0].numpy()]


@pytest.mark.equation("san-02")
def test_exact_match_in_three_forms():
    lemma = {"flew": "fly", "FLEW": "fly", "hill": "mill", "An": "a"}

    def lemmas(texts):
        return [" ".join(lemma.get(word, word) for word in words_of(text)) for text in texts]

    preprocessor = built(lemmas=True)
    assert preprocessor.annotations == ("question_lemmas", "passage_lemmas")
    source = preprocessor.source(
        QUESTIONS, PASSAGES, question_lemmas=lemmas(QUESTIONS), passage_lemmas=lemmas(PASSAGES)
    )
    got = source["exact_match"].numpy()
    for row, (question, passage) in enumerate(zip(QUESTIONS, PASSAGES, strict=True)):
        asked, told = words_of(question), words_of(passage)
        forms = (lambda w: w, str.lower, lambda w: lemma.get(w, w))
        right = [[float(f(w) in {f(q) for q in asked}) for f in forms] for w in told]
        np.testing.assert_array_equal(got[row, : len(told)], np.reshape(right, (-1, 3)))
        assert not got[row, len(told) :].any()


def test_tags_are_those_of_the_words():
    preprocessor = built(pos_tags=TAGS, ner_tags=("BIRD",), passage_length=4, stride=4)
    assert preprocessor.model_kwargs()["num_pos"] == 2
    assert preprocessor.model_kwargs()["num_ner"] == 1
    source = preprocessor.source(
        QUESTIONS,
        PASSAGES,
        passage_pos=["DET NOUN VERB PUNCT VERB ADP DET NOUN PUNCT", "DET NOUN PUNCT", ""],
        passage_ner=["- BIRD - - - - - - -", "- BIRD -", ""],
    )
    np.testing.assert_array_equal(source["pos_ids"], [[0, 1, 2, 0], [0, 1, 0, 0], [0] * 4])
    np.testing.assert_array_equal(source["ner_ids"], [[0, 1, 0, 0], [0, 1, 0, 0], [0] * 4])


@pytest.mark.parametrize("tags", ["DET NOUN", "DET NOUN PUNCT NOUN", ""])
def test_as_many_tags_as_words(tags):
    preprocessor = built(pos_tags=TAGS)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`passage_pos` must have one tag per"):
        preprocessor.source(["Who?"], ["An owl."], passage_pos=[tags])


def test_answers_become_words_and_what_does_not_fit_is_known():
    preprocessor = built(passage_length=4, stride=2)
    passage = "Über-owl flew. Then it slept"
    cases = [
        (0, 13, (0, 1), None),
        (9, 13, None, None),
        (10, 12, None, False),  # a part of a word
        (15, 28, (-1, -1), False),  # what was cut
        (-1, -1, (-1, -1), False),
    ]
    source = preprocessor.source(["Who?"] * len(cases), [passage] * len(cases))
    begin, end, exact = (
        x.numpy() for x in preprocessor.align(source, [c[0] for c in cases], [c[1] for c in cases])
    )
    for row, (start, stop, _, _) in enumerate(cases):
        if begin[row] >= 0:
            held = source["starts"][row, begin[row]], source["ends"][row, end[row]]
            assert held[0] <= start and stop <= held[1]
            assert exact[row] == ((start, stop) == tuple(int(h) for h in held))
    assert exact.tolist() == [True, True, False, False, False]
    assert begin[3:].tolist() == [-1, -1] and begin[1] == end[1]


def test_an_answer_whose_end_is_cut_is_not_trained_on():
    preprocessor = built(passage_length=2, stride=2)
    source = preprocessor.source(["Who?"], ["The owl flew"])
    begin, end, _ = preprocessor.align(source, [0], [12])
    assert (begin.numpy(), end.numpy()) == ([-1], [-1])
    # A space after the answer is no part of it that is cut.
    begin, end, _ = preprocessor.align(preprocessor.source(["Who?"], ["An owl flew"]), [0], [3])
    assert (begin.numpy(), end.numpy()) == ([0], [0])


@pytest.mark.parametrize("length, stride", [(4, 2), (4, 4), (3, 1), (50, 20)])
def test_windows_hold_every_word_and_nothing_else(length, stride):
    preprocessor = built(passage_length=length, stride=stride, pos_tags=TAGS)
    passages = ["w1 w2 w3 w4 w5 w6 w7", "a", "", "w1 w2 w3 w4", "w1 w2 w3 w4 w5"]
    tags = [" ".join(["NOUN"] * len(p.split())) for p in passages]
    source = preprocessor.source(["Who w2?"] * 5, passages, limit=100, passage_pos=tags)
    windows = preprocessor.windows(source)
    rows, firsts = windows["row"].numpy(), windows["first"].numpy()
    assert sorted(set(rows.tolist())) == [0, 1, 3, 4]  # of passages with words
    for row, passage in enumerate(passages):
        count = len(passage.split())
        seen = set()
        for window in np.flatnonzero(rows == row):
            ids = windows["passage_ids"][window].numpy()
            assert len(ids) == min(length, 7)
            for position, word in enumerate(ids):
                at = firsts[window] + position
                if at < count:
                    seen.add(at)
                    assert word == source["passage_ids"][row, at].numpy()
                    assert windows["pos_ids"][window, position].numpy() == 1
                    np.testing.assert_array_equal(
                        windows["exact_match"][window, position], source["exact_match"][row, at]
                    )
                else:
                    assert word == 0 and not windows["exact_match"][window, position].numpy().any()
        assert seen == set(range(count))
        fits = count <= min(length, 7)
        assert (rows == row).sum() == bool(count) or not fits
    np.testing.assert_array_equal(
        windows["question_ids"], tf.gather(source["question_ids"], windows["row"])
    )


def test_batches_for_fit():
    examples = [
        Example("1", "Who flew?", ("Nobody.", "The owl flew."), {"span": ("The owl",)},
                spans=(Span(1, 0, 7),)),
        Example("2", "Who?", ("No answer here.",), answerable=False),
        Example("3", "Who?", ("one two three four five",), {"span": ("five",)},
                spans=(Span(0, 19, 23),)),
    ]  # fmt: skip
    preprocessor = built(passage_length=4, stride=4)
    x, y, weight = next(iter(make_dataset(examples, preprocessor, 4)))
    assert set(x) == {"question_ids", "passage_ids", "exact_match"}
    np.testing.assert_array_equal(y["begin"], [0, -1, -1])
    np.testing.assert_array_equal(y["end"], [1, -1, -1])
    np.testing.assert_array_equal(weight["begin"], [3, 0, 0])
    np.testing.assert_array_equal(x["passage_ids"][0, :3], [4, 5, 6])

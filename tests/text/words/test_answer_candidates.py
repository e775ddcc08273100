import pytest
import tensorflow as tf

from tfmrc.text import Tokenizer
from tfmrc.text.words.answer_candidates import answer_candidates, span_scores, word_features

PASSAGE = "The library opens at nine. Ms. Keller, who founded it in 1987, buys every book herself."


def found(passages, limit=6):
    candidates = answer_candidates(Tokenizer(), passages, limit)
    return [answer.decode() for answer in candidates.answers.numpy()]


def test_people_ask_about_names_numbers_and_phrases():
    assert {"nine", "Ms. Keller", "1987"} <= {*found([PASSAGE])}


def test_the_best_ones_are_kept_in_their_order_and_share_no_word():
    every, best = found([PASSAGE]), found([PASSAGE], limit=3)
    places = [PASSAGE.index(answer) for answer in every]
    assert all(
        place + len(answer) <= following
        for place, answer, following in zip(places, every, places[1:], strict=False)
    )
    assert best == [answer for answer in every if answer in best] and len(best) == 3


@pytest.mark.parametrize("passages", [[], [""], [". , ;"], ["the of and"]])
def test_nothing_to_ask_about_is_an_empty_result(passages):
    assert found(passages) == []


def test_a_passage_has_the_candidates_that_it_has_alone():
    other = "In 1912 the king met Ada Lee"  # without a period, so that it runs up to the next
    assert found([other, PASSAGE]) == found([other]) + found([PASSAGE])


def test_a_candidate_is_scored_by_its_words_and_their_neighbours():
    # Places: first, last, before, after, inside.
    weights = tf.constant([[1.0, 2, 3, 4, 5], [10, 20, 30, 40, 50], [100, 200, 300, 400, 500]])
    scores = span_scores(weights, tf.constant([0, 0, 0]), tf.range(8.0) / 10).numpy()
    assert scores[1, 0] == pytest.approx(10 + 20 + 3 + 400 + 50)
    assert scores[0, 1] == pytest.approx(1 + 20 + 400 + 5 + 50 + 0.1)
    assert scores[1, 2] < -1e8  # beyond the end
    apart = span_scores(weights, tf.constant([0, 1, 1]), tf.zeros(8)).numpy()
    assert apart[0, 0] == 1 + 2 + 5 and apart[0, 1] < -1e8  # of two sentences


def test_shapes_and_words():
    surface = tf.constant(["The", "UN", "Running", "1987", "3rd", "--", "over", "Ada"])
    word, shape = word_features(["over", "the"], surface, tf.constant([0, 0, 0, 0, 0, 0, 0, 0]))
    assert word.numpy().tolist() == [2, 0, 0, 0, 0, 0, 1, 0]
    assert shape.numpy().tolist() == [3, 4, 5, 0, 1, 2, 9, 5]

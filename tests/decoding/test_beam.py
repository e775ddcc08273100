import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from tests.decoding.enumeration import (
    BOS,
    EOS,
    PAD,
    UNK,
    RecurrentWords,
    every_sequence,
    exhaustive,
    words_of,
)
from tfmrc.decoding import beam_search, greedy_search
from tfmrc.ops.masking import LOG_ZERO


def table_step(table):
    """Words by the word before alone: `table [V, V]` of probabilities."""
    log_p = np.log(np.asarray(table, "float32"))
    return lambda ids, cache, t: (ops.take(log_p, ids, axis=0), cache)


def constant_step(log_p, batch_size=1):
    """The same log-probabilities for every word."""

    def step(ids, cache, t):
        return ops.broadcast_to(log_p, (batch_size, ops.shape(ids)[1], len(log_p))), cache

    return step


@pytest.mark.parametrize("min_length", [0, 2])
@pytest.mark.parametrize("seed", range(2))
def test_one_beam_is_greedy_search(seed, min_length):
    model = RecurrentWords(batch_size=4, vocabulary_size=9, seed=seed)
    arguments = {"max_length": 7, "min_length": min_length}
    greedy = greedy_search(model.step, model.cache(1), 4, **arguments)
    beam = model.search(num_beams=1, **arguments)
    for left, right in zip(greedy, beam, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, -0.7])
@pytest.mark.parametrize("min_length", [0, 3])
def test_a_beam_as_wide_as_the_space_is_exhaustive_search(min_length, length_penalty):
    model = RecurrentWords(batch_size=2, vocabulary_size=7, seed=0)
    space = len(list(every_sequence(7, 4, min_length)))
    result = model.search(
        num_beams=200,
        num_return_sequences=200,
        max_length=4,
        min_length=min_length,
        length_penalty=length_penalty,
    )
    for example in range(2):
        expected = exhaustive(model, example, 4, min_length, length_penalty)
        assert [words_of(result, example, n) for n in range(space)] == [w for _, w in expected]
        np.testing.assert_allclose(
            np.asarray(result.score)[example, :space], [s for s, _ in expected], rtol=1e-5
        )
        assert np.all(np.asarray(result.lengths)[example, space:] == 0)
        assert np.all(np.asarray(result.ids)[example, space:] == PAD)
        assert np.all(np.asarray(result.log_probability)[example, space:] == LOG_ZERO)


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_the_score_is_that_of_the_same_words(length_penalty):
    model = RecurrentWords(batch_size=3, vocabulary_size=30, seed=11)
    result = model.search(
        num_beams=4, num_return_sequences=3, max_length=9, length_penalty=length_penalty
    )
    assert np.all(np.diff(np.asarray(result.score), axis=1) <= 0)
    for example in range(3):
        for n in range(3):
            words = words_of(result, example, n)
            total = model.log_probability(example, words)
            np.testing.assert_allclose(result.log_probability[example, n], total, rtol=1e-5)
            score = total / ((5 + len(words)) / 6) ** length_penalty
            np.testing.assert_allclose(result.score[example, n], score, rtol=1e-5)


@pytest.mark.parametrize("length_penalty", [0.0, 0.8, -0.5])
@pytest.mark.parametrize("num_return_sequences", [1, 3])
def test_a_batch_gives_what_single_examples_give(length_penalty, num_return_sequences):
    model = RecurrentWords(batch_size=6, vocabulary_size=12, seed=5)
    model.bias[:, EOS] += np.linspace(-2, 5, 6)
    arguments = {
        "num_beams": 3,
        "num_return_sequences": num_return_sequences,
        "max_length": 7,
        "length_penalty": length_penalty,
    }
    together = model.search(**arguments)
    assert len(set(np.asarray(together.lengths)[:, 0].tolist())) > 1, "all of one length"
    for example in range(6):
        alone = model.search([example], **arguments)
        np.testing.assert_array_equal(alone.ids[0], together.ids[example])
        np.testing.assert_allclose(alone.score[0], together.score[example], rtol=1e-6)


def count_steps(step, **arguments):
    steps = []

    def counting(ids, cache, t):
        steps.append(int(t))
        return step(ids, cache, t)

    return beam_search(counting, (), 1, **arguments), len(steps)


ENDING = np.full((6, 6), 1e-9)
ENDING[BOS, EOS], ENDING[BOS, 4], ENDING[BOS, 5] = 0.70, 0.20, 0.10
ENDING[4, 4], ENDING[5, 5] = 0.999, 0.999


def test_a_finished_beam_is_frozen():
    result, _ = count_steps(
        table_step(ENDING), num_beams=3, num_return_sequences=3, max_length=6, length_penalty=0.0
    )
    np.testing.assert_array_equal(
        result.ids[0], [[EOS, 0, 0, 0, 0, 0], [4, 4, 4, 4, 4, 4], [5, 5, 5, 5, 5, 5]]
    )
    np.testing.assert_array_equal(result.lengths, [[1, 6, 6]])
    expected = [np.log(0.7), np.log(0.2 * 0.999**5), np.log(0.1 * 0.999**5)]
    np.testing.assert_allclose(result.log_probability[0], expected, rtol=1e-5)


def test_the_loop_goes_on_while_the_length_penalty_lets_a_longer_one_overtake():
    result, steps = count_steps(table_step(ENDING), num_beams=3, max_length=30, length_penalty=1.0)
    assert words_of(result, 0) == (4,) * 30
    assert steps == 30
    score = (np.log(0.2) + 29 * np.log(0.999)) / (35 / 6)
    np.testing.assert_allclose(result.score[0, 0], score, rtol=1e-4)


def test_the_loop_goes_on_while_the_last_that_is_returned_can_be_overtaken():
    table = np.full((6, 6), 1e-9)
    table[BOS, EOS], table[BOS, 4], table[BOS, 5] = 0.7, 0.15, 0.14
    table[4, EOS], table[5, 5] = 0.999, 0.999
    result, steps = count_steps(
        table_step(table), num_beams=3, num_return_sequences=2, max_length=8, length_penalty=1.0
    )
    assert words_of(result, 0, 0) == (EOS,)
    assert words_of(result, 0, 1) == (5,) * 8, "better than (4, EOS), which has ended long before"
    assert steps == 8


@pytest.mark.parametrize("length_penalty", [0.0, 1.5, -1.0])
@pytest.mark.parametrize("seed", range(2))
def test_stopping_early_changes_no_result(seed, length_penalty):
    model = RecurrentWords(batch_size=3, vocabulary_size=8, seed=seed, sharpness=3.0)
    arguments = {"num_beams": 5, "max_length": 10, "length_penalty": length_penalty}
    early = model.search(num_return_sequences=2, **arguments)
    late = model.search(num_return_sequences=5, **arguments)
    np.testing.assert_array_equal(early.ids, late.ids[:, :2])
    np.testing.assert_allclose(early.score, late.score[:, :2], rtol=1e-6)


def test_ties_go_to_the_earlier_beam_and_the_smaller_id():
    uniform = table_step(np.full((6, 6), 1 / 6))
    for _ in range(3):
        result = beam_search(
            uniform, (), 1, num_beams=4, num_return_sequences=4, max_length=2, min_length=1
        )
        np.testing.assert_array_equal(result.ids[0], [[4, 3], [4, 4], [4, 5], [5, 3]])


def test_a_step_with_no_possible_word_ends_the_hypothesis():
    log_p = np.full(6, LOG_ZERO, "float32")
    log_p[UNK], log_p[EOS] = 0.0, -7.0
    step = constant_step(log_p, 2)
    for result in (
        greedy_search(step, (), 2, max_length=4, min_length=2),
        beam_search(step, (), 2, num_beams=3, max_length=4, min_length=2),
    ):
        np.testing.assert_array_equal(result.ids, [[[EOS, 0, 0, 0]]] * 2)
        np.testing.assert_array_equal(result.log_probability, [[-7.0]] * 2)


def test_a_beam_wider_than_the_possible_words_has_no_impossible_one():
    log_p = np.full(8, LOG_ZERO, "float32")
    log_p[[EOS, 4]] = np.log([0.6, 0.4])
    step = constant_step(log_p)
    result = beam_search(step, (), 1, num_beams=8, num_return_sequences=8, max_length=2)
    expected = [[EOS, 0], [4, EOS], [4, 4], *[[0, 0]] * 5]
    np.testing.assert_array_equal(result.ids[0], expected)
    np.testing.assert_array_equal(result.lengths[0], [1, 2, 2, *[0] * 5])
    np.testing.assert_array_equal(result.log_probability[0, 3:], np.full(5, LOG_ZERO, "float32"))


def test_everything_forbidden_still_gives_a_finite_hypothesis():
    step = constant_step(np.full(5, LOG_ZERO, "float32"))
    for result in (
        greedy_search(step, (), 1, max_length=3, forbidden_ids=(PAD, UNK, BOS, 4)),
        beam_search(step, (), 1, num_beams=2, max_length=3, forbidden_ids=(PAD, UNK, BOS, 4)),
    ):
        assert words_of(result, 0) == (EOS,)
        assert float(result.log_probability[0, 0]) == LOG_ZERO


def test_hypotheses_that_reach_max_length_are_returned():
    endless = np.full((6, 6), 1e-9)
    endless[:, 4], endless[:, 5] = 0.75, 0.25
    result = beam_search(
        table_step(endless), (), 1, num_beams=2, num_return_sequences=2, max_length=3
    )
    np.testing.assert_array_equal(result.ids[0], [[4, 4, 4], [4, 4, 5]])
    np.testing.assert_array_equal(result.lengths, [[3, 3]])
    np.testing.assert_allclose(result.log_probability[0, 0], 3 * np.log(0.75), rtol=1e-6)


def test_in_a_graph_with_dynamic_batch_and_vocabulary():
    model = RecurrentWords(batch_size=3, vocabulary_size=10, seed=8)

    def search(extra):
        """Words 10 and up differ in number from call to call, as copied words do."""
        batch_size = ops.shape(extra)[0]
        extra = ops.repeat(extra[:, None], 4, axis=1)

        def step(ids, cache, t):
            log_p, cache["model"] = model.step(ops.minimum(ids, 9), cache["model"], t)
            return ops.concatenate([log_p, cache["extra"]], axis=-1), cache

        inner = {"state": ops.zeros((batch_size, 4, 5)), "fixed": [ops.zeros((batch_size, 4, 10))]}
        cache = {"model": inner, "extra": extra}
        return beam_search(
            step,
            cache,
            batch_size,
            num_beams=4,
            num_return_sequences=2,
            max_length=6,
            length_penalty=0.5,
        )

    compiled = tf.function(search, input_signature=[tf.TensorSpec([None, None])], autograph=False)
    for shape in ((1, 2), (3, 7), (5, 1)):
        extra = tf.random.stateless_uniform(shape, (1, 2), -3.0, 0.0)
        graph, eager = compiled(extra), search(extra)
        np.testing.assert_array_equal(graph.ids, eager.ids)
        np.testing.assert_allclose(graph.score, eager.score, rtol=1e-6)
    assert compiled.experimental_get_tracing_count() == 1
    assert graph.ids.shape == (5, 2, 6)


def test_an_empty_batch():
    model = RecurrentWords(batch_size=1, vocabulary_size=10)
    result = model.search([], num_beams=2, max_length=4)
    assert tuple(result.ids.shape) == (0, 1, 4)


@pytest.mark.parametrize("wrong", [{"num_return_sequences": 3}, {"num_beam_groups": 3}])
def test_numbers_of_beams_that_contradict_each_other(wrong):
    with pytest.raises(ValueError, match=rf"Received: num_beams=2.*{[*wrong][0]}=3"):
        beam_search(table_step(ENDING), (), 1, num_beams=2, max_length=3, **wrong)

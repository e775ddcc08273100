"""A part of the threads of `make attacks`, without processes."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.attacks import models, threads


@pytest.mark.slow
def test_threads_get_the_answers_of_one_thread(capsys):
    predictor = models.san()
    questions = models.questions(64, 7)
    with ThreadPoolExecutor(threads.THREADS) as pool:
        parts = list(pool.map(
            lambda number: threads.answers(predictor, questions[number :: threads.THREADS]),
            range(threads.THREADS),
        ))  # fmt: skip
    expected = threads.answers(predictor, questions)
    assert threads._differences(expected, parts, "threads") == []
    parts[3][1] = "wrong"
    assert len(threads._differences(expected, parts, "threads")) == 1

"""A part of the threads of `make attacks`, without processes."""

import pytest

from tests.attacks import models, threads


@pytest.mark.slow
def test_threads_get_the_answers_of_one_thread():
    predictor = models.san()
    questions = models.questions(64, 7)
    parts = threads.in_threads(predictor, questions)
    expected = threads.answers(predictor, questions)
    assert threads.differences(expected, parts) == []
    parts[3][1] = "wrong"
    assert len(threads.differences(expected, parts)) == 1

import numpy as np
import pytest

from tfmrc.training import vote, vote_all


def test_weight_of_equal_answers_adds_up():
    answers = ["eight", "in 1987", "nine", "in 1987"]
    assert vote(answers, [0.7, 0.4, 0.6, 0.4]) == "in 1987"
    assert vote(answers, [0.9, 0.4, 0.6, 0.4]) == "eight"


def test_without_weights_the_majority_wins():
    assert vote(["a", "b", "b"]) == "b"


def test_spelling_of_the_heaviest_model_is_kept():
    assert vote(["In  1987", "in 1987", "x"], [0.4, 0.5, 0.8]) == "in 1987"
    assert vote(["In  1987", "in 1987"], [0.5, 0.4]) == "In  1987"


def test_equal_sums_go_to_the_heaviest_then_to_the_first():
    assert vote(["a", "b", "a"], [0.25, 0.5, 0.25]) == "b"
    assert vote(["a", "b"]) == "a"
    assert vote(["a", "b"], [0.0, 0.0]) == "a"


def test_own_idea_of_sameness():
    answers = ["It is eight.", "nine", "eight"]
    assert vote(answers, [0.4, 0.5, 0.3], key=lambda a: a.rstrip(".").split()[-1]) == "It is eight."


def test_many_questions():
    assert vote_all([["a", "x"], ["b", "y"], ["b", "x"]], [0.9, 0.3, 0.3]) == ["a", "x"]
    with pytest.raises(ValueError, match=r"numbers of answers=\[2, 1\]"):
        vote_all([["a", "x"], ["b"]])


@pytest.mark.parametrize(
    "answers, weights", [([], None), (["a"], [1, 2]), (["a"], [-1]), (["a"], [np.nan])]
)
def test_what_cannot_be_voted_on(answers, weights):
    with pytest.raises(ValueError, match="Received: "):
        vote(answers, weights)

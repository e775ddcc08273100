import pytest

from tfmrc.training import vote, vote_all


@pytest.mark.parametrize(
    ("answers", "weights", "expected"),
    [
        (["eight", "in 1987", "nine", "in 1987"], [0.7, 0.4, 0.6, 0.4], "in 1987"),
        (["eight", "in 1987", "nine", "in 1987"], [0.9, 0.4, 0.6, 0.4], "eight"),
        (["a", "b", "b"], None, "b"),
        (["In  1987", "in 1987", "x"], [0.4, 0.5, 0.8], "in 1987"),  # spelling of the heaviest
        (["In  1987", "in 1987"], [0.5, 0.4], "In  1987"),
        (["a", "b", "a"], [0.25, 0.5, 0.25], "b"),  # equal sums
        (["a", "b"], [0.0, 0.0], "a"),
    ],
)
def test_the_answer_of_the_largest_weight(answers, weights, expected):
    assert vote(answers, weights) == expected


def test_own_idea_of_sameness():
    answers = ["It is eight.", "nine", "eight"]
    assert vote(answers, [0.4, 0.5, 0.3], key=lambda a: a.rstrip(".").split()[-1]) == "It is eight."


def test_many_questions():
    assert vote_all([["a", "x"], ["b", "y"], ["b", "x"]], [0.9, 0.3, 0.3]) == ["a", "x"]
    for answers, weights in (([["a", "x"], ["b"]], None), ([["a"], ["b"]], [1.0])):
        with pytest.raises(ValueError, match="shorter"):
            vote_all(answers, weights)

"""Unknown arguments are refused with the nearest known name."""

import pytest

from tfmrc.arguments import check_arguments, nearest, unknown_argument


def train(steps, *, learning_rate=0.1, warmup_steps=0):
    return steps, learning_rate, warmup_steps


def test_known_arguments_pass():
    check_arguments(train, {"steps": 1, "learning_rate": 0.5}, "training")
    check_arguments(train, {"model": None}, "training", besides=("model",))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("learning_rat", "did you mean `learning_rate`?"),
        ("warmup_step", "did you mean `warmup_steps`?"),
        ("colour", "it has learning_rate, steps, warmup_steps."),
    ],
)
def test_unknown_arguments_name_the_nearest(name, hint):
    with pytest.raises(TypeError) as caught:
        check_arguments(train, {name: 3}, "training")
    assert str(caught.value) == f"training has no argument `{name}`; {hint} Received: {name}=3"


def test_a_function_of_any_keyword_accepts_any_name():
    def anything(**kwargs):
        return kwargs

    check_arguments(anything, {"colour": 3}, "anything")


def test_methods_do_not_offer_self():
    class Model:
        def __init__(self, units):
            self.units = units

    with pytest.raises(TypeError, match="it has units"):
        check_arguments(Model, {"xyzzy": 3}, "Model")


def test_nearest_and_message():
    assert nearest("num_hedas", ["num_heads", "hidden_dim"]) == "num_heads"
    assert "did you mean `num_heads`?" in unknown_argument("SAN", "num_hedas", ["num_heads"], 2)

"""Unknown arguments are refused with the nearest known name."""

import pytest

from tfmrc.predictors.exported.inputs import check_names
from tfmrc.predictors.options import DecodingOptions, ReaderOptions
from tfmrc.preprocessing import ExtractiveReaderPreprocessor
from tfmrc.utils.arguments import check_arguments


def train(steps, *, learning_rate=0.1, warmup_steps=0):
    return steps, learning_rate, warmup_steps


def test_known_arguments_pass():
    check_arguments(train, {"steps": 1, "learning_rate": 0.5}, "training")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("learning_rat", "did you mean `learning_rate`?"),
        ("colour", "it has learning_rate, steps, warmup_steps."),
    ],
)
def test_unknown_arguments_name_the_nearest(name, hint):
    with pytest.raises(TypeError) as caught:
        check_arguments(train, {name: 3}, "training")
    assert str(caught.value) == f"training has no argument `{name}`; {hint} Received: {name}=3"


@pytest.mark.parametrize(
    ("options", "name", "expected"),
    [
        (DecodingOptions, "do_sample", "sampling"),
        (ReaderOptions, "max_answer_len", "max_length"),
        (ExtractiveReaderPreprocessor, "doc_stride", "overlap"),
    ],
)
def test_names_of_hugging_face_name_those_here(options, name, expected):
    with pytest.raises(TypeError, match=rf"no argument `{name}`; did you mean `{expected}`\?"):
        check_arguments(options, {name: 3}, "answer")


def test_inputs_know_the_names_of_hugging_face():
    with pytest.raises(ValueError, match=r"`context` is unknown; did you mean `passages`\?"):
        check_names("The signature", ["question", "context"], ["question", "passages"])

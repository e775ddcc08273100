"""Unknown arguments are refused with the nearest known name."""

import pytest

from tfmrc.models.generation import GenerationMixin
from tfmrc.predictors.inputs import check_names
from tfmrc.predictors.options import DecodingOptions, ReaderOptions, SpanOptions
from tfmrc.preprocessing import ExtractiveReaderPreprocessor
from tfmrc.utils.arguments import check_arguments, nearest, unknown_argument


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


@pytest.mark.parametrize(
    ("options", "name", "expected"),
    [
        (DecodingOptions, "do_sample", "sampling"),
        (DecodingOptions, "max_new_tokens", "max_length"),
        (DecodingOptions, "min_new_tokens", "min_length"),
        (SpanOptions, "max_new_tokens", "max_length"),
        (ReaderOptions, "max_answer_len", "max_length"),
        (ReaderOptions, "top_k", "num_return_sequences"),
        (ExtractiveReaderPreprocessor, "max_seq_len", "window_length"),
        (ExtractiveReaderPreprocessor, "doc_stride", "overlap"),
        (ExtractiveReaderPreprocessor, "max_question_len", "question_length"),
    ],
)
def test_names_of_hugging_face_name_those_here(options, name, expected):
    with pytest.raises(TypeError, match=rf"no argument `{name}`; did you mean `{expected}`\?"):
        check_arguments(options, {name: 3}, "answer")


def test_inputs_and_searches_know_the_names_of_hugging_face():
    with pytest.raises(ValueError, match=r"`context` is unknown; did you mean `passages`\?"):
        check_names("The signature", ["question", "context"], ["question", "passages"])
    with pytest.raises(TypeError, match=r"no argument `do_sample`; did you mean `sampling`\?"):
        GenerationMixin().generate({}, 3, do_sample=True)


def test_nearest_and_message():
    assert nearest("num_hedas", ["num_heads", "hidden_dim"]) == "num_heads"
    assert "did you mean `num_heads`?" in unknown_argument("SAN", "num_hedas", ["num_heads"], 2)

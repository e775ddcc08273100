"""Batches that all have the same shapes, for XLA and the JAX backend."""

from contextlib import nullcontext

import numpy as np
import pytest

from tfmrc import encoders, models
from tfmrc.data import Example, Span, TrainingExample, make_dataset
from tfmrc.data.batching.dataset import strings
from tfmrc.preprocessing import (
    DAANetPreprocessor,
    MasquePreprocessor,
    MaxoutPointerQGPreprocessor,
    SANPreprocessor,
)
from tfmrc.text import Vocabulary
from tfmrc.text.layout import static_shapes

PIECES = ["it", "rained", ".", "ada", "met", "the", "king", "##s", "who", "?", "bo"]
SIZES = {"passage_length": 9, "question_length": 7, "styles": ("span",)}
KINDS = {
    MasquePreprocessor: {"num_passages": 2, "answer_length": 5},
    SANPreprocessor: {},
    MaxoutPointerQGPreprocessor: {},
    DAANetPreprocessor: {"answer_length": 5},
}


def example(name, question, passage, answer):
    start = passage.index(answer)
    span = Span(0, start, start + len(answer))
    return Example(name, question, (passage,), {"span": (answer,)}, spans=(span,))


EXAMPLES = [
    example("1", "Who met the kings?", "Ada met the kings.", "Ada"),
    example("2", "Who?", "Bo. It rained.", "Bo"),
    example("3", "Who?", "Bo", "Bo"),
]


WORDS = ["met", "the", "ada", "kings", "who", "?", ".", "bo", "it", "rained"]


def records_of(one):
    """What `preprocessor.batch` gets for one example."""
    record = TrainingExample(one, "span", one.answers["span"][0])
    return {**strings([record]), "rotation": [0]}


def batches(preprocessor, static):
    """Batches of one example: of one shape from the graph of a dataset, others without a graph."""
    if static:
        options = {"static_shapes": True}
        found = make_dataset(EXAMPLES, preprocessor, 1, **options)
    else:
        found = [preprocessor.batch(records_of(each)) for each in EXAMPLES]
    result = [[{k: v.numpy() for k, v in part.items()} for part in batch] for batch in found]
    if isinstance(preprocessor, MasquePreprocessor):
        for x, *_ in result:  # the words of the question precede those of the passages
            size = x["question_ids"].shape[1]
            copied = x.pop("extended_ids")
            x["question_extended"] = copied[:, :size]
            x["passage_extended"] = copied[:, size:].reshape(x["passage_ids"].shape)
    return result


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=12, overlap=2)


@pytest.mark.parametrize(
    "kind, reading", [*((kind, "joint") for kind in KINDS), (MasquePreprocessor, "separate")]
)
def test_batches_of_one_shape_hold_the_same_as_others(kind, reading, encoder):
    read = {"encoder": encoder, "reading": reading}
    preprocessor = kind(Vocabulary(WORDS), **SIZES, **KINDS[kind], **read)
    shapes = []
    for static, plain in zip(
        *(batches(preprocessor, is_one) for is_one in (True, False)), strict=True
    ):
        x, targets, weights = static
        for name, value in plain[0].items():
            shape = x[name].shape
            assert len(shape) == value.ndim and all(np.array(shape) >= value.shape), name
            if name.endswith("_pieces"):
                ids = name.replace("passage_pieces", "encoder_ids")
                ids = ids.replace("question_pieces", "question_encoder_ids")
                if ids not in x:
                    ids = "passage_encoder_ids" if name == "passage_pieces" else "encoder_ids"
                same_subwords(plain[0][ids], value, x[ids], x[name])
            else:
                padding = encoder.subwords.pad_id if name.endswith("encoder_ids") else 0
                same_and_padding(value, x[name], padding)
        for name, value in plain[1].items():
            same_and_padding(value, targets[name], 0)
            np.testing.assert_array_equal(weights[name], plain[2][name])
        kept = {n: v.shape for n, v in x.items() if "encoder_ids" not in n and "segment" not in n}
        shapes.append(kept)
    assert len(shapes) == len(EXAMPLES)
    assert shapes[0] == shapes[1] == shapes[2]


def same_and_padding(expected, padded, padding):
    inside = tuple(slice(size) for size in expected.shape)
    np.testing.assert_array_equal(padded[inside], expected)
    rest = padded.copy()
    rest[inside] = padding
    assert (rest == padding).all()


def same_subwords(expected_ids, expected, ids, pieces):
    """The words have the same subwords, wherever these are."""
    inside = tuple(slice(size) for size in expected.shape)
    here, there = pieces[inside], expected
    np.testing.assert_array_equal(here[..., 1], there[..., 1])
    flat, flat_expected = ids.reshape(-1), expected_ids.reshape(-1)
    real = there[..., 1] > 0
    np.testing.assert_array_equal(flat[here[..., 0][real]], flat_expected[there[..., 0][real]])


def test_a_model_gives_the_same_for_batches_of_one_shape(encoder):
    """Also where whole windows of the encoder are padding: three of them become four."""
    long = example("4", "Who?", "Ada met the kings. It rained. Bo met the king.", "Ada")
    preprocessor = SANPreprocessor(
        Vocabulary(WORDS), encoder=encoder, passage_length=14, question_length=7, styles=("span",)
    )
    sizes = {"word_dim": 8, "units": 4, "align_dim": 4, "num_layers": 1, "num_steps": 2}
    model = models.SAN(
        **sizes, **preprocessor.model_kwargs(), encoder=encoder, encoder_use="answer", dropout=0.0
    )
    outputs, windows = [], []
    for static in (False, True):
        with static_shapes() if static else nullcontext():
            x, y, weights = preprocessor.batch(records_of(long))
        outputs.append((model(x, training=False), y, weights))
        windows.append(x["encoder_ids"].shape[1])
    assert windows == [3, 4]
    (plain, *_), (static_outputs, *_) = outputs
    for name, expected in plain.items():
        inside = tuple(slice(size) for size in expected.shape)
        found = static_outputs[name].numpy()[inside]
        real = expected.numpy() > -1e4  # masked positions have no meaning
        assert real.any()
        np.testing.assert_allclose(found[real], expected.numpy()[real], rtol=1e-4, atol=1e-5)

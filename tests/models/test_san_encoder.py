"""SAN on an encoder: what its parts are, against the parts called by hand."""

import keras
import numpy as np
import pytest

from tests.models.test_san import SMALL, batch
from tfmrc import encoders
from tfmrc.losses import SpanPositionNLL
from tfmrc.models import SAN
from tfmrc.testing import run_model_test


def encoder(**options):
    sizes = {"length": 12, "num_layers": 1, "hidden_dim": 6}
    return encoders.from_vocabulary(["a", "b", "c"], **sizes, **options)


def inputs(reading, seed=0):
    x = batch(seed=seed)
    draw = np.random.default_rng(seed)
    rows, words = x["passage_ids"].shape
    ids = draw.integers(4, 7, (rows, 1, 11)).astype("int32")
    ids[1, :, 9:] = 0
    pieces = np.stack([np.arange(words) + 4, np.ones(words)], -1).astype("int32")
    x["passage_pieces"] = np.where((x["passage_ids"] > 0)[..., None], pieces, 0).astype("int32")
    own = np.stack([np.arange(3) + 1, np.ones(3)], -1).astype("int32")
    x["question_pieces"] = np.where((x["question_ids"] > 0)[..., None], own, 0).astype("int32")
    if reading == "joint":
        return x | {"encoder_ids": ids, "segment_ids": (np.arange(11) > 4) * np.ones_like(ids)}
    return x | {"passage_encoder_ids": ids, "question_encoder_ids": ids[:, :, :5]}


@pytest.mark.parametrize(
    "use, reading, answer",
    [
        ("answer", "joint", "linear"),
        ("answer", "joint", "stochastic"),
        ("embedding", "separate", "stochastic"),
        pytest.param("contextual", "joint", "average", marks=pytest.mark.slow),
    ],
)
def test_what_a_model_owes(use, reading, answer):
    run_model_test(
        SAN,
        {
            **SMALL,
            "encoder": encoder(dropout=0.0).layer,
            "encoder_use": use,
            "reading": reading,
            "answer": answer,
        },
        inputs(reading),
        compile_kwargs={
            "optimizer": "sgd",
            "loss": {"begin": SpanPositionNLL(), "end": SpanPositionNLL()},
            # Tracing takes longest; a linear one learns by heart in tests/predictors.
            "run_eagerly": use != "answer" or answer == "linear",
        },
        targets={"begin": np.array([0, 1, -1]), "end": np.array([1, 1, -1])},
        expected_output_shape={"begin": (3, 5), "end": (3, 5)},
        without_gradient=("special",),
        precisions=(),  # the models of such a comparison would share the encoder that is trained
    )


def test_mixed_precision(without_graphs):
    model = SAN(**SMALL, encoder=encoder(dropout=0.0), encoder_use="contextual")
    config = model.get_config()
    policy = keras.dtype_policies.serialize(keras.DTypePolicy("mixed_bfloat16"))
    config["dtype"] = config["encoder"]["config"]["dtype"] = policy
    mixed = SAN.from_config(config)
    mixed.set_weights(model.get_weights())
    assert mixed.encoder.compute_dtype == "bfloat16"
    expected, found = model.predict(inputs("joint"), verbose=0), mixed(inputs("joint"))
    for name, value in expected.items():
        assert abs(np.exp(value) - np.exp(np.array(found[name]))).max() < 0.05


def test_linear_head_by_hand(without_graphs):
    own = encoder()
    model = SAN(**SMALL, encoder=own, answer="linear")
    x = inputs("joint")
    states = own.layer(x["encoder_ids"], x["segment_ids"])
    words = np.array(own.layer.words(states, x["passage_pieces"]), "float64")
    kernel, bias = (np.array(v, "float64") for v in model.answer_module.scores.weights)
    scores = np.where((x["passage_ids"] > 0)[..., None], words @ kernel + bias, -np.inf)
    expected = np.exp(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))
    found = model.predict(x, verbose=0)
    for index, name in enumerate(("begin", "end")):
        np.testing.assert_allclose(np.exp(found[name]), expected[..., index], atol=1e-6)


def test_answer_module_by_hand(without_graphs):
    own = encoder()
    model = SAN(**SMALL, encoder=own)
    x = inputs("joint")
    states = own.layer(x["encoder_ids"], x["segment_ids"])
    expected = model.answer_module(
        own.layer.words(states, x["question_pieces"]),
        own.layer.words(states, x["passage_pieces"]),
        question_mask=x["question_ids"] > 0,
        memory_mask=x["passage_ids"] > 0,
    )
    found = model.predict(x, verbose=0)
    for name in ("begin", "end"):
        np.testing.assert_allclose(found[name], np.array(expected[name]), rtol=1e-5)


def test_parts_that_are_not_needed_are_not_built():
    names = {
        use: {layer.name for layer in SAN(**SMALL, encoder=encoder(), encoder_use=use).layers}
        for use in ("answer", "embedding", "contextual")
    }
    papers = {"lexicon_encoding", "contextual_encoding", "memory_generation"}
    assert not names["answer"] & (papers | {"word_embedding"})
    assert papers <= names["embedding"] and "word_embedding" not in names["embedding"]
    assert papers | {"word_embedding"} <= names["contextual"]
    assert "encoder" not in {layer.name for layer in SAN(**SMALL).layers}
    keras.backend.clear_session()


def test_a_frozen_encoder_stays_as_it_is():
    own = encoder(trainable_layers="none")
    model = SAN(**SMALL, encoder=own, encoder_use="contextual")
    losses = {"begin": SpanPositionNLL(), "end": SpanPositionNLL()}
    model.compile("sgd", losses, run_eagerly=True)  # tracing takes longest
    before = [v.numpy() for v in own.layer.variables if "seed" not in v.path]
    others = [v.numpy() for v in model.trainable_variables]
    y = {"begin": np.array([0, 1, 0]), "end": np.array([1, 1, 0])}
    model.fit(inputs("joint"), y, verbose=0)
    after = [v.numpy() for v in own.layer.variables if "seed" not in v.path]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))
    moved = zip(others, model.trainable_variables, strict=True)
    assert sum((a != b.numpy()).any() for a, b in moved) > 10
    keras.backend.clear_session()


def test_wrong_arguments():
    for wrong in ({"encoder_use": "top"}, {"reading": "twice"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SAN(**SMALL, encoder=encoder(), **wrong)

"""SAN as a whole: what any model owes, padding, steps at test time, tags, learning by heart."""

import keras
import numpy as np
import pytest

from tests.layers.weights import randomise
from tests.models.spans import SMALL, batch
from tfmrc.encoders import CoVe
from tfmrc.losses import SpanPositionNLL
from tfmrc.models import SAN
from tfmrc.testing import run_model_test


def probabilities(model, x, **options):
    return {name: np.exp(np.array(v)) for name, v in model.find(x, **options).items()}


@pytest.mark.parametrize("answer", ["stochastic", "one_step", "reasonet"])
def test_what_a_model_owes(answer):
    """Also where the question or the passage is empty."""
    lengths = ((2, 3), (1, 5), (3, 1), (0, 4), (2, 0))
    x = batch(lengths, tags=True, num_match=3)
    unused = ("",) if answer == "reasonet" else ("special",)  # it may stop at its first step
    tags = {"num_pos": 2, "num_ner": 2, "tagger": "none 1"}
    run_model_test(
        SAN,
        {**SMALL, **tags, "num_exact_match": 3, "answer": answer},
        x,
        axes=dict.fromkeys(x, "B N") | {"question_ids": "B J", "exact_match": "B N K"},
        output_axes={"begin": "B N", "end": "B N"},
        padded=[{"J": 2}, {"N": 2}],
        compile_kwargs={
            "optimizer": "sgd",
            "loss": {"begin": SpanPositionNLL(), "end": SpanPositionNLL()},
            "run_eagerly": True,  # it learns by heart in the graph
        },
        targets={"begin": np.array([0, 1, 0, -1, -1]), "end": np.array([1, 1, 0, -1, -1])},
        expected_output_shape={"begin": (5, 5), "end": (5, 5)},
        without_gradient=unused,
        precisions=("mixed_float16",),
    )


def test_other_numbers_of_steps_than_in_training():
    model = SAN(**SMALL)
    x = batch()
    five = probabilities(model, x, num_steps=5, return_steps=True)
    assert five["step_begin"].shape == (3, 5, 5)
    np.testing.assert_allclose(five["begin"], five["step_begin"].mean(axis=1), rtol=1e-4)
    one = probabilities(model, x, num_steps=1)
    np.testing.assert_allclose(one["begin"], five["step_begin"][:, 0], rtol=1e-4)
    own = {name: np.exp(np.array(v)) for name, v in model(x).items()}
    np.testing.assert_allclose(own["end"], probabilities(model, x, num_steps=3)["end"], rtol=1e-4)


def test_cove_reads_the_word_vectors_and_stays_fixed(tmp_path):
    cove = CoVe(units=3, input_dim=6, name="cove")
    randomise(cove, seed=3, scale=0.5)
    model = SAN(**SMALL, contextual_embedding=cove)
    x = batch()
    heard = []
    encoding, call = model.contextual_encoding, model.contextual_encoding.call

    def listen(*args, **kwargs):
        heard.append(np.array(kwargs["contextual"]))
        return call(*args, **kwargs)

    encoding.call = listen
    model.find(x)
    for ids, vectors in zip((x["question_ids"], x["passage_ids"]), heard, strict=True):
        right = cove(model.word_embedding(ids), ids != 0)
        np.testing.assert_allclose(vectors, right, rtol=1e-5, atol=1e-6)
        assert np.abs(vectors).max() > 0.1 and not vectors[ids == 0].any()
    encoding.call = call
    fixed = {variable.path for variable in cove.variables}
    assert fixed and not fixed & {variable.path for variable in model.trainable_variables}
    model.save(tmp_path / "san.keras")
    again = keras.saving.load_model(tmp_path / "san.keras")
    np.testing.assert_allclose(model(x)["end"], again(x)["end"], rtol=1e-5)


@pytest.mark.parametrize("answer", ["stochastic", pytest.param("reasonet", marks=pytest.mark.slow)])
def test_examples_by_heart_and_their_best_spans(answer):
    model = SAN(**{**SMALL, "units": 8, "dropout": 0.1}, answer=answer, seed=1)
    model.compile(keras.optimizers.Adam(0.02), loss={
        "begin": SpanPositionNLL(), "end": SpanPositionNLL()})  # fmt: skip
    keras.utils.set_random_seed(1)
    x = batch(((3, 5), (2, 4), (3, 5)), seed=3)
    y = {"begin": np.array([0, 3, 2]), "end": np.array([1, 3, 4])}
    for _ in range(90):
        model.train_on_batch(x, y)
    begin, end, log_probability = map(np.array, model.spans(model.find(x), num_spans=2))
    np.testing.assert_array_equal(begin[:, 0], y["begin"])
    np.testing.assert_array_equal(end[:, 0], y["end"])
    assert (np.exp(log_probability[:, 0]) > 0.5).all()
    assert (log_probability[:, 0] > log_probability[:, 1]).all()

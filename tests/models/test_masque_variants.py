"""Every variant by argument: builds, trains, gives each weight a gradient, decodes."""

from dataclasses import replace

import keras
import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import examples
from tests.models.examples import FOUR
from tests.models.generation import assert_steps_equal_teacher_forcing
from tfmrc.losses import SequenceNLL, SmoothedBinaryCrossentropy
from tfmrc.models import Masque
from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import gradients, run_model_test

LOSSES = {
    "decoder": (SequenceNLL, 1.0),
    "ranker": (SmoothedBinaryCrossentropy, 0.5),
    "classifier": (SmoothedBinaryCrossentropy, 0.1),
}
# A key's bias moves all scores of a query alike, so its true gradient is zero.
WITHOUT = ("key/bias",)


def compiled(parts, optimizer=None):
    return {
        "optimizer": optimizer or keras.optimizers.Adam(1e-3),
        "loss": {part: LOSSES[part][0]() for part in parts},
        "loss_weights": {part: LOSSES[part][1] for part in parts},
    }


def data(parts, questions=FOUR, **options):
    x = examples.batch(questions, **options)
    y, weight = examples.labels(questions, x)
    return x, {part: y[part] for part in parts}, {part: weight[part] for part in parts}


SHORT = (replace(FOUR[0], answer=[5, -1, 15]), replace(FOUR[1], answer=[-2, 10]), *FOUR[2:])
ALL = ("decoder", "ranker", "classifier")
VARIANTS = {
    "lstm": ({"block": "lstm"}, ALL),
    "ranker alone": ({"decoder": False, "classifier": False}, ("ranker",)),
    "gold ranker": ({"ranker": "gold"}, ("decoder", "classifier")),
    "plain attention": ({"combined_attention": False}, ALL),
    "output embedding of its own": ({"tie_output_embedding": False}, ALL),
    "trained embedding": ({"embeddings_trainable": True}, ALL),
    "neighbours": ({"local_window": 3}, ALL),
    "multiplicative copying": ({"copy_attention": "multiplicative", "word_scale": 2.0}, ALL),
}


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda name: name.replace(" ", "-"))
def variant(request):
    changes, parts = VARIANTS[request.param]
    changes = {"num_decoder_blocks": 1, **changes}
    model = examples.small(**changes)
    randomise(model, seed=5, scale=0.3)
    x, y, weight = data(parts, SHORT)
    if changes.get("ranker") == "gold":
        x["relevance_gold"] = examples.labels(SHORT, x)[0]["ranker"]
    return model, parts, x, y, weight, model(x)


def test_trains_after_a_round_trip_of_its_configuration(variant):
    model, parts, x, y, weight, outputs = variant
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(model))
    again.set_weights(model.get_weights())
    shapes = {"decoder": (4, 4), "ranker": (4, 3), "classifier": (4,)}
    found = again(x)
    assert {name: tuple(a.shape) for name, a in found.items()} == {p: shapes[p] for p in parts}
    for part in parts:
        assert found[part].dtype == "float32"
        np.testing.assert_allclose(found[part], outputs[part], atol=1e-5)

    words = np.array(ops.convert_to_numpy(again.word_embedding.words))
    before = {v.path: np.array(ops.convert_to_numpy(v)) for v in again.trainable_variables}
    again.compile(**compiled(parts, keras.optimizers.SGD(10.0)), run_eagerly=True)
    losses = again.train_on_batch(x, y, weight, return_dict=True)
    assert np.isfinite(losses["loss"]) and losses["loss"] < 100
    for variable in again.trainable_variables:
        after = ops.convert_to_numpy(variable)
        assert np.isfinite(after).all(), variable.path
        # The step is large, so that it moves whatever has a gradient that is not zero.
        if not variable.path.endswith(WITHOUT):
            assert not np.array_equal(after, before[variable.path]), variable.path
    still = np.array_equal(ops.convert_to_numpy(again.word_embedding.words), words)
    assert still != again.word_embedding.embeddings_trainable


def test_steps_equal_teacher_forcing(variant):
    model, parts, x, _, _, outputs = variant
    source = examples.source_only(x)
    assert set(model.encode(source)) >= {part for part in parts if part != "decoder"}
    if "decoder" in parts:
        assert_steps_equal_teacher_forcing(model, source, x["target_ids"], outputs["decoder"])


def test_scaled_words_are_those_of_longer_vectors():
    models = [examples.small(word_scale=by, tie_output_embedding=False) for by in (1.0, 3.0)]
    longer, scaled = models
    randomise(longer, seed=5, scale=0.3)
    scaled.set_weights(longer.get_weights())
    for layer in (longer.word_embedding, longer.style_embedding):
        layer.set_weights([3.0 * weight for weight in layer.get_weights()])
    x, _, _ = data(ALL)
    for part, values in longer(x).items():
        np.testing.assert_allclose(scaled(x)[part], values, atol=1e-5)


def test_all_that_any_model_owes():
    x, y, weight = data(ALL)
    one = {
        "question_ids": "B J",
        "passage_ids": "B K L",
        "extended_ids": "B S",
        "style_ids": "B",
        "answer_ids": "B T",
        "target_ids": "B T",
    }
    model = run_model_test(
        Masque,
        {**examples.SIZES, "initializer_stddev": 0.2},
        x,
        compile_kwargs={**compiled(ALL), "run_eagerly": True},  # the graph: test_masque_training
        targets=y,
        sample_weight=weight,
        axes=one,
        output_axes={"decoder": "B T", "ranker": "B K", "classifier": "B"},
        padded=[{"T": 2}],
        expected_output_shape={"decoder": (4, 8), "ranker": (4, 3), "classifier": (4,)},
        without_gradient=WITHOUT,
        precisions=("mixed_float16",),  # bfloat16: test_masque_training
    )
    assert model.name == "masque"


def test_passage_relevance_learns_from_the_answer_through_combined_attention():
    x, _, _ = data(ALL)
    for combined in (True, False):
        model = examples.small(combined_attention=combined)
        randomise(model, seed=5, scale=0.3)
        weight = model.passage_ranker.score.kernel
        (gradient,) = gradients(lambda model=model: ops.sum(model(x)["decoder"][:, :1]), [weight])
        assert (gradient is not None and bool(np.any(gradient))) == combined


def test_gold_relevance_shuts_the_other_passages_out():
    model = examples.small(ranker="gold")
    randomise(model, seed=5, scale=0.3)
    x, _, _ = data(("decoder", "classifier"))
    x["relevance_gold"] = examples.labels(FOUR, x)[0]["ranker"]
    parts = model.attribute(model.encode(examples.source_only(x)), x["target_ids"])
    attention = np.array(parts["passage_attention"]).reshape(4, 8, 3, -1).sum(-1)
    for b in (0, 1):
        np.testing.assert_allclose(attention[b][:, x["relevance_gold"][b] == 0], 0.0, atol=1e-9)
        np.testing.assert_allclose(attention[b].sum(-1), 1.0, atol=1e-5)
    assert (attention[3] > 1e-3).all()  # where none is relevant, all are read alike


def test_without_tying_source_words_are_copied_only():
    model = examples.small(tie_output_embedding=False)
    randomise(model, seed=5, scale=0.3)
    x, _, _ = data(ALL)
    parts = model.attribute(model.encode(examples.source_only(x)), x["target_ids"])
    generated = np.array(parts["log_parts"])[..., 0]
    real = x["target_ids"] != PAD
    copied_only = real & (x["target_ids"] >= examples.G)
    assert copied_only.any()
    assert (generated[copied_only] <= LOG_ZERO).all()
    assert (generated[real & ~copied_only] > -50).all()

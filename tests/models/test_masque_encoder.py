"""Masque on an encoder: its parts against the same parts called by hand, and what must hold."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import encoded, examples
from tests.models.test_masque_variants import WITHOUT, compiled
from tfmrc import models
from tfmrc.ops.ids import PAD, UNK
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.testing import gradients, run_model_test

DESIGNS = [("reader", "joint"), ("embedding", "separate"), ("contextual", "joint")]
ALL = ("decoder", "ranker", "classifier")


@pytest.fixture(scope="module", params=DESIGNS, ids="-".join)
def built(request):
    yield encoded.make(*request.param)
    keras.backend.clear_session()


def picked(states, pieces, pooling):
    """Vectors of words, in float64: `states` [P, e], `pieces` [n, 2]."""
    found = np.zeros((len(pieces), states.shape[-1]))
    for number, (first, count) in enumerate(pieces):
        if count:
            last = first + (count if pooling == "mean" else 1)
            found[number] = states[first:last].mean(axis=0)
    return found


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("reading", ["joint", "separate"])
def test_words_get_the_vectors_of_their_own_sequence(reading, pooling):
    model, preprocessor, encoder = encoded.make("reader", reading, pooling=pooling, decoder=False)
    question, passages = model.reader.words(encoded.inputs(preprocessor))
    subwords = preprocessor.subwords
    for row, texts in enumerate(encoded.PASSAGES):
        asked = _cut(preprocessor, encoded.QUESTIONS[row], 8)
        read = subwords.separate(asked)
        states = np.array(encoder.layer(read["encoder_ids"].numpy()), "float64")[0]
        right = picked(states, read["pieces"].numpy()[0], pooling)
        np.testing.assert_allclose(np.array(question)[row, : len(right)], right, atol=2e-6)
        assert not np.array(question)[row, len(right) :].any()
        for number, string in enumerate(texts):
            found = np.array(passages)[row, number]
            if not string:
                assert not found.any()
                continue
            mine = _cut(preprocessor, string, 26)
            if reading == "joint":
                read = subwords.joint(asked, mine)
                read["pieces"] = read["passage_pieces"]
                arguments = read["encoder_ids"].numpy(), read["segment_ids"].numpy()
            else:
                read = subwords.separate(mine)
                arguments = (read["encoder_ids"].numpy(),)
            states = np.array(encoder.layer(*arguments), "float64")[0]
            right = picked(states, [(0, 1), *read["pieces"].numpy()[0]], pooling)  # [CLS] first
            np.testing.assert_allclose(found[: len(right)], right, atol=2e-6)
            assert not found[len(right) :].any()


def _cut(preprocessor, string, limit):
    words = preprocessor.tokenizer.tokenize([string]).surface[0][:limit]
    return preprocessor.subwords.cut([words.numpy()] if len(words) else [[""]])


def test_layers_by_hand(built):
    model, preprocessor, encoder = built
    x = encoded.inputs(preprocessor)
    there, asked = x["passage_ids"] != PAD, x["question_ids"] != PAD
    layer, use = encoder.layer, model.encoder_use
    states = layer(x["question_encoder_ids"])
    question = np.array(layer.words(states, x["question_pieces"]))
    if model.reading == "joint":
        states = layer(x["encoder_ids"], x["segment_ids"])
    else:
        states = layer(x["passage_encoder_ids"])
    rows, _, length = x["passage_ids"].shape
    pieces = x["passage_pieces"].reshape(rows, -1, 2)
    passages = np.array(layer.words(states, pieces)).reshape(rows, 3, length, -1)
    if use == "contextual":
        words = [np.array(model.word_embedding(x[f"{t}_ids"])) for t in ("question", "passage")]
        question = np.concatenate([words[0], question], -1)
        passages = np.concatenate([words[1], passages], -1)
    if use != "reader":
        question, passages = model.reader_highway(question), model.reader_highway(passages)
    question, passages = model.reader_projection(question), model.reader_projection(passages)
    for block in [] if use == "reader" else model.shared_encoder:
        question = block(question, padding_mask=asked)
        passages = block(passages, padding_mask=there)
    passages, question = model.dual_attention(passages, question, there, asked)
    passages = model.passage_projection(passages)
    for block in model.passage_encoder:
        passages = block(passages, padding_mask=there)
    question = model.question_projection(question)
    for block in model.question_encoder:
        question = block(question, padding_mask=asked)
    outputs, memory = model(x), model.encode(encoded.reading_inputs(x))
    expected = {
        "ranker": model.passage_ranker(passages, there),
        "classifier": model.answer_possibility(passages, there),
    }
    for part, value in expected.items():
        np.testing.assert_allclose(np.array(outputs[part]), np.array(value), rtol=1e-4, atol=1e-5)
    for name, value in (("question", question), ("passages", passages)):
        found = np.reshape(np.array(memory[name]), value.shape)
        np.testing.assert_allclose(found, np.array(value), rtol=1e-4, atol=1e-5)


def numbers(model, preprocessor, **strings):
    x = encoded.inputs(preprocessor, **strings)
    outputs = {name: np.array(a) for name, a in model(x).items()}
    outputs["decoder"] = np.where(x["target_ids"] == PAD, 0.0, outputs["decoder"])
    return outputs


def test_an_example_alone_gives_what_it_gives_in_a_batch(built):
    model, preprocessor, _ = built
    together = numbers(model, preprocessor)
    for row in range(4):
        alone = numbers(
            model,
            preprocessor,
            questions=encoded.QUESTIONS[row : row + 1],
            passages=encoded.PASSAGES[row : row + 1],
            answers=encoded.ANSWERS[row : row + 1],
            styles=encoded.STYLES[row : row + 1],
        )
        for name, value in alone.items():
            right = together[name][row]
            right = right[: value.shape[1]] if name == "decoder" else right
            np.testing.assert_allclose(value[0], right, rtol=1e-4, atol=3e-5, err_msg=name)


def test_order_of_the_passages_moves_their_relevance_and_nothing_of_the_answer(built):
    model, preprocessor, _ = built
    order = [2, 0, 1]
    found = numbers(model, preprocessor)
    moved = numbers(model, preprocessor, passages=[[p[k] for k in order] for p in encoded.PASSAGES])
    np.testing.assert_allclose(moved["ranker"], found["ranker"][:, order], rtol=1e-4, atol=2e-5)
    np.testing.assert_allclose(moved["decoder"], found["decoder"], rtol=1e-4, atol=3e-5)
    assert np.abs(found["ranker"][0] - found["ranker"][0][order]).min() > 1e-3


def test_relevance_of_a_passage_does_not_depend_on_the_others(built):
    model, preprocessor, _ = built
    found = numbers(model, preprocessor)["ranker"]
    others = [[p[0], "a mill", encoded.LONG] for p in encoded.PASSAGES]
    again = numbers(model, preprocessor, passages=others)["ranker"]
    np.testing.assert_allclose(again[:, 0], found[:, 0], rtol=1e-4, atol=2e-5)


def test_missing_passages_have_no_relevance_and_nothing_breaks_without_any(built):
    model, preprocessor, _ = built
    found = numbers(model, preprocessor)
    assert (found["ranker"][2] <= LOG_ZERO).all() and found["ranker"][1, 2] <= LOG_ZERO
    assert (found["ranker"][[0, 3]] > -100).all()
    nothing = numbers(
        model,
        preprocessor,
        questions=["Who", ""],
        passages=[["", "", ""]] * 2,
        answers=["a", "a"],
        styles=["qa", "qa"],
    )
    assert all(np.isfinite(value).all() for value in nothing.values())
    x = encoded.inputs(
        preprocessor, ["Who", ""], [["", "", ""]] * 2, ["a", "a"], ["qa", "qa"]
    )  # a gradient without any window
    weight = model.reader_projection.kernel
    (gradient,) = gradients(lambda: ops.sum(model(x)["decoder"]), [weight])
    assert np.isfinite(np.array(gradient)).all()


def test_steps_equal_teacher_forcing(built):
    model, preprocessor, _ = built
    x = encoded.inputs(preprocessor)
    targets, forced = x["target_ids"], np.array(model(x)["decoder"])
    memory = model.encode(encoded.reading_inputs(x))
    cache = model.init_cache(memory, 2, targets.shape[1])
    previous, alive = np.full((4, 2), 2, "int32"), np.ones(4, bool)
    for t in range(targets.shape[1]):
        log_p, cache = model.decode_step(memory, cache, previous, t)
        log_p = np.array(log_p)
        np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=3e-5)
        alive &= targets[:, t] != PAD
        for b in np.flatnonzero(alive):
            for beam in range(2):
                got = log_p[b, beam, targets[b, t]]
                assert got == pytest.approx(forced[b, t], rel=1e-3, abs=5e-5), (b, t)
        alive &= targets[:, t] != UNK
        previous = np.repeat(targets[:, t : t + 1], 2, axis=1)


@pytest.mark.parametrize("trainable", ["all", 1, "none"])
def test_what_is_trained_gets_a_gradient_and_nothing_else(trainable):
    model, preprocessor, encoder = encoded.make(trainable_layers=trainable, num_layers=2)
    x = encoded.inputs(preprocessor)
    own = [v for v in encoder.layer.variables if "seed" not in v.path]
    # What is not trained has no gradient even where the optimizer does not ask.
    variables = [v for v in own if "pooled_dense" not in v.path and not v.path.endswith(WITHOUT)]
    found = gradients(lambda: ops.sum(model(x)["ranker"][0]) + ops.sum(model(x)["decoder"]),
                      variables)  # fmt: skip
    moved = {v.path for v, g in zip(variables, found, strict=True)
             if g is not None and np.abs(np.array(ops.convert_to_numpy(g))).max() > 0}  # fmt: skip
    layers = {"all": ("transformer_layer_0", "transformer_layer_1"), 1: ("transformer_layer_1",)}
    top = {v.path for v in variables
           if any(name in v.path for name in layers.get(trainable, ()))}  # fmt: skip
    embeddings = {v.path for v in variables if "transformer_layer" not in v.path}
    assert moved == (top | embeddings if trainable == "all" else top)
    trained = {v.path for v in model.trainable_variables} & {v.path for v in own}
    assert moved <= trained and (bool(trained) == (trainable != "none"))
    keras.backend.clear_session()


@pytest.mark.parametrize(
    "use, reading", [DESIGNS[0], pytest.param(*DESIGNS[1], marks=pytest.mark.slow)]
)
def test_what_a_model_owes(use, reading):
    model, preprocessor, encoder = encoded.make(use, reading)
    x = encoded.inputs(preprocessor)
    y = {"decoder": x["target_ids"], "ranker": np.zeros((4, 3), "float32"),
         "classifier": np.ones(4, "float32")}  # fmt: skip
    weights = {"decoder": np.ones(4, "float32"), "classifier": np.ones(4, "float32"),
               "ranker": (x["passage_ids"][..., 0] != PAD).astype("float32")}  # fmt: skip
    options = {name: value for name, value in vars(model.arguments).items()
               if name in (*examples.SIZES, "encoder_use", "reading")}  # fmt: skip
    run_model_test(
        models.Masque,
        {**options, "initializer_stddev": 0.2, "encoder": encoder.layer},
        x,
        compile_kwargs={**compiled(ALL), "run_eagerly": True},  # tracing takes longest
        targets=y,
        sample_weight=weights,
        expected_output_shape={"decoder": x["target_ids"].shape, "ranker": (4, 3),
                               "classifier": (4,)},
        without_gradient=(*WITHOUT, "special"),
        precisions=(),  # the models of such a comparison would share the encoder that is trained
    )  # fmt: skip
    keras.backend.clear_session()


def test_mixed_precision():
    model, preprocessor, _ = encoded.make()
    config = model.get_config()
    policy = keras.dtype_policies.serialize(keras.DTypePolicy("mixed_bfloat16"))
    config["dtype"] = config["encoder"]["config"]["dtype"] = policy
    mixed = models.Masque.from_config(config)
    mixed.set_weights(model.get_weights())
    x = encoded.inputs(preprocessor)
    expected, found = model(x), mixed(x)
    assert mixed.encoder.compute_dtype == "bfloat16"
    there = x["passage_ids"][..., 0] != PAD
    for part in ("ranker", "classifier"):
        right, got = (np.array(ops.sigmoid(outputs[part])) for outputs in (expected, found))
        where = there if part == "ranker" else ...
        assert np.abs(right - got)[where].max() < 0.1
    keras.backend.clear_session()


def test_parts_that_are_not_needed_are_not_built():
    names = {}
    for use, decoder in (("reader", True), ("embedding", False), ("contextual", False)):
        model = encoded.make(use, decoder=decoder)[0]
        names[use] = {layer.name for layer in model.layers}
        assert "reader_positions" not in names[use]
    assert not names["reader"] & {"reader_highway", "shared_encoder_1"}
    assert {"word_embedding", "decoder_positions"} <= names["reader"]
    assert "word_embedding" not in names["embedding"]
    assert {"reader_highway", "shared_encoder_1"} <= names["embedding"]
    assert "word_embedding" in names["contextual"]
    assert not {"encoder", "join_pieces"} & {layer.name for layer in examples.small().layers}
    keras.backend.clear_session()


@pytest.mark.slow  # SAN and QG do so with an encoder in tests/predictors
def test_it_learns_by_heart():
    model, preprocessor, _ = encoded.make(num_layers=2)
    randomise(model, seed=2, scale=0.15)
    x = encoded.inputs(preprocessor)
    y = {"decoder": x["target_ids"], "classifier": np.array([1, 1, 0, 0], "float32"),
         "ranker": np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]], "float32")}  # fmt: skip
    there = (x["passage_ids"][..., 0] != PAD).astype("float32")
    weights = {"decoder": np.array([1, 1, 0, 1], "float32"), "ranker": there,
               "classifier": np.ones(4, "float32")}  # fmt: skip
    arguments = compiled(ALL)
    arguments["optimizer"] = keras.optimizers.Adam(5e-3, clipnorm=1.0)
    model.compile(**arguments)
    for _ in range(150):
        losses = model.train_on_batch(x, y, weights, return_dict=True)
    assert losses["decoder_loss"] < 0.15
    relevant = np.array(model(x)["ranker"]) > 0
    assert (relevant == (y["ranker"] > 0))[there > 0].all()
    keras.backend.clear_session()


def test_wrong_arguments():
    encoder = encoded.make_encoder()
    for wrong in ({"encoder_use": "answer"}, {"reading": "twice"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            examples.small(encoder=encoder, **wrong)
    with pytest.raises(ValueError, match="exclude each other"):
        examples.small(encoder=encoder, contextual_embedding=keras.layers.Identity())

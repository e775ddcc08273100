"""Question generation on an encoder: values, answers, decoding, what is trained."""

import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise, values
from tests.models import questions, subwords
from tests.models.questions import FOUR
from tests.models.test_maxout_pointer_qg import TARGETS, compiled, expected
from tfmrc.losses import SequenceMean, SequenceNLL
from tfmrc.models import MaxoutPointerQG
from tfmrc.ops.ids import PAD, UNK
from tfmrc.testing import gradients, run_model_test

USES = ("embedding", "contextual")
AXES = {
    **{name: "B M" for name in ("passage_ids", "answer_tags", "extended_ids")},
    **{name: "B T" for name in ("question_ids", "target_ids")},
    **{name: "B W P" for name in ("encoder_ids", "segment_ids")},
    "passage_pieces": "B M two",
}


def batch(asked=FOUR, longer=0):
    """The batch of `questions` and what the encoder reads: answer and passage."""
    x = questions.batch(asked, longer)
    answers = [a.passage[slice(*a.answer)] for a in asked]
    read = subwords.read(answers, [a.passage for a in asked], x["passage_ids"].shape[1])
    return x | dict(zip(("encoder_ids", "segment_ids", "passage_pieces"), read, strict=True))


X = batch()


def made(use="embedding", pooling="first", **changes):
    encoder = subwords.encoder(pooling=pooling, **changes.pop("of_encoder", {}))
    model = questions.small(encoder=encoder, encoder_use=use, **changes)
    randomise(model, seed=3, scale=0.5)
    return model


@pytest.fixture(scope="module", params=[("embedding", "mean"), ("contextual", "first")])
def model(request):
    return made(*request.param)


def vectors(model, b):
    """The vectors of the words of a passage: the mean or the first of their subwords' states."""
    states = np.array(model.encoder(X["encoder_ids"], X["segment_ids"]))[b].astype("float64")
    found = []
    for first, count in X["passage_pieces"][b]:
        count = count if model.encoder.words.pooling == "mean" else min(count, 1)
        found.append(states[first : first + count].sum(0) / max(count, 1))
    found = np.array(found)
    if model.arguments.encoder_use == "embedding":
        return found
    v = values(model, strip=False)
    rows = np.concatenate([v["word_embedding/special"], v["word_embedding/words"]])
    rows[PAD] = 0.0
    return np.concatenate([rows[X["passage_ids"][b]], found], axis=-1)


def test_each_word_has_the_vector_of_its_own_subwords(model):
    got = np.array(model(X)["decoder"])
    for b, a in enumerate(FOUR):
        right = expected(model, b, vectors(model, b))
        np.testing.assert_allclose(got[b, : len(right)], right, rtol=2e-4, atol=2e-5)
        swapped = expected(model, b, vectors(model, b)[: len(a.passage)][::-1])
        assert abs(got[b, : len(right)] - swapped).max() > 1e-2  # which would be seen


def test_another_answer_is_read_by_the_encoder_and_by_the_tags(model):
    x = batch([questions.GeneratedQuestion(a.passage, (0, 1), a.question) for a in FOUR[:1]])
    right = np.array(model(batch(FOUR[:1]))["decoder"])
    assert abs(np.array(model(x)["decoder"]) - right).max() > 1e-3
    alone = batch(FOUR[:1])
    for name in ("answer_tags", "encoder_ids"):  # each says it
        found = np.array(model(alone | {name: x[name]})["decoder"])
        assert abs(found - right).max() > 1e-4, name


def test_steps_equal_teacher_forcing(model):
    memory = model.encode(questions.source_only(X))
    forced = np.array(model(X)["decoder"])
    cache = model.init_cache(memory, 2, TARGETS.shape[1])
    previous, alive = np.full((4, 2), 2, "int32"), np.ones(4, bool)
    for t in range(TARGETS.shape[1]):
        log_p, cache = model.decode_step(memory, cache, previous, t)
        log_p = np.array(log_p)
        np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=3e-5)
        for b in np.flatnonzero((TARGETS[:, t] != PAD) & alive):
            np.testing.assert_allclose(
                log_p[b, :, TARGETS[b, t]], forced[b, t], rtol=1e-4, atol=1e-4
            )
        # A word that is UNK is read as its own bucket in training: such an example ends here.
        alive &= TARGETS[:, t] != UNK
        previous = np.repeat(TARGETS[:, t : t + 1], 2, axis=1)
    assert alive.sum() >= 1


def test_generated_questions_and_their_scores_do_not_depend_on_the_batch(model):
    options = {"max_length": 3, "num_beams": 3, "num_return_sequences": 2}
    memory = model.encode(questions.source_only(X))
    together = model.generate(memory, **options)
    for n in range(2):
        ids = np.array(together.ids)[:, n]
        each = np.array(model.attribute(memory, ids)["log_probability"])
        right = np.where(ids != PAD, each, 0.0).sum(-1)
        np.testing.assert_allclose(np.array(together.log_probability)[:, n], right, rtol=1e-4)
    for b, a in enumerate(FOUR):
        alone = model.generate(model.encode(questions.source_only(batch([a]))), **options)
        np.testing.assert_array_equal(alone.ids[0], together.ids[b])
        np.testing.assert_allclose(alone.score[0], together.score[b], rtol=1e-4)


def test_self_attention_is_that_of_the_encoders_words(model):
    weights = np.array(model.self_attention_weights(questions.source_only(X)))
    np.testing.assert_allclose(weights[0].sum(-1), 1.0, atol=1e-5)
    other = X | {"encoder_ids": X["encoder_ids"][::-1]}
    moved = np.array(model.self_attention_weights(questions.source_only(other)))
    assert abs(moved - weights)[0].max() > 1e-3


@pytest.mark.parametrize("use", ["contextual", pytest.param("embedding", marks=pytest.mark.slow)])
def test_what_any_model_owes_its_user(use):
    run_model_test(
        MaxoutPointerQG,
        {
            **questions.SIZES,
            "num_layers": 1,
            "coverage": True,
            "encoder": subwords.encoder().layer,
            "encoder_use": use,
        },
        X,
        compile_kwargs={
            "optimizer": "sgd",
            "loss": {"decoder": SequenceNLL(), "coverage": SequenceMean()},
            "run_eagerly": use != "contextual",  # tracing takes longest
        },
        targets={"decoder": TARGETS, "coverage": TARGETS},
        axes=AXES,
        output_axes={"decoder": "B T", "coverage": "B T"},
        padded=[{"M": 2}, {"P": 3}, {"W": 1}],
        precisions=(),  # the models of such a comparison would share the encoder that is trained
    )


@pytest.mark.parametrize("trained", ["none", 1, "all"])
def test_gradients_reach_the_layers_that_are_trained(trained):
    model = made(of_encoder={"num_layers": 2, "trainable_layers": trained})
    paths = [v.path for v in model.trainable_variables]
    layers = {path.split("/")[1] for path in paths if path.startswith("encoder/")}
    own = {"transformer_layer_1"}
    if trained == "all":
        own |= {"transformer_layer_0", "token_embedding", "position_embedding"}
        own |= {"segment_embedding", "embeddings_layer_norm"}
    assert layers == (set() if trained == "none" else own)
    parts = gradients(lambda: -ops.sum(model(X)["decoder"]), model.trainable_variables)
    for path, part in zip(paths, parts, strict=True):
        assert part is not None and np.any(part), path
    before = {v.path: v.numpy() for v in model.encoder.variables if "seed" not in v.path}
    y = compiled(model, run_eagerly=True)
    model.train_on_batch(X, y)
    for variable in model.encoder.variables:
        if variable.path in before and "pooled" not in variable.path:
            moved = (variable.numpy() != before[variable.path]).any()
            assert moved == (variable.path in paths), variable.path


def test_without_an_encoder_nothing_is_added():
    plain = questions.small()
    assert "encoder" not in {layer.name for layer in plain.layers}
    assert set(plain.input) == set(questions.batch(FOUR))
    names = {layer.name for layer in made().layers}
    assert {"encoder", "word_embedding", "encoder_1", "encoder_2"} <= names


def test_wrong_arguments():
    with pytest.raises(ValueError, match="encoder_use='answer'"):
        questions.small(encoder=subwords.encoder(), encoder_use="answer")

"""Masque with ELMo, as in the paper: characters from the texts to the decoder's cached steps."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import tfmrc
from tests.models.papers import masque_with_elmo
from tfmrc.data import Example
from tfmrc.encoders import elmo_character_ids
from tfmrc.encoders.elmo import SENTENCE_BEGIN, boundary
from tfmrc.ops.ids import BOS, NUM_SPECIAL, UNK
from tfmrc.preprocessing import MasquePreprocessor
from tfmrc.testing import gradients

EXAMPLES = [
    Example(
        "1", "Who met the king?", ("Ada Lee met the king.", "It was Bob"), {"qa": ("Ada Lee",)}
    ),
    Example("2", "Who was it", ("the queen",), {"qa": ("the queen and zorro",)}),
]


@pytest.fixture(scope="module")
def made():
    return masque_with_elmo()


def batch(preprocessor, examples=EXAMPLES):
    """The training batch and the source of the examples."""
    passages = [list(e.passages) + [""] * (2 - len(e.passages)) for e in examples]
    records = {
        "question": [e.question for e in examples],
        "passages": tf.constant(passages),
        "style": ["qa"] * len(examples),
        "answer": [e.answers["qa"][0] for e in examples],
    }
    source = preprocessor.source(records["question"], records["passages"], records["style"])
    return preprocessor.batch(records), source


def test_characters_are_those_of_the_texts(made):
    _, preprocessor = made
    (x, _, _), source = batch(preprocessor)
    spell = elmo_character_ids
    assert np.array_equal(x["question_characters"][0], spell(["Who", "met", "the", "king", "?"]))
    begin = boundary(SENTENCE_BEGIN)
    for row, words in ((0, "Ada Lee met the king ."), (1, "It was Bob")):
        found = np.array(x["passage_characters"][0, row])
        right = np.array(spell(words.split()))
        assert np.array_equal(found[0], begin)
        assert np.array_equal(found[1 : 1 + len(right)], right)
        assert not found[1 + len(right) :].any()
    assert not np.array(x["passage_characters"][1, 1]).any()  # the second passage is missing
    answer = np.array(x["answer_characters"][0])
    assert np.array_equal(answer, [begin, *np.array(spell(["Ada", "Lee"])), *[0 * begin] * 2])
    assert "generable_characters" not in x
    generable = np.array(source["generable_characters"])
    assert generable.shape == (8, 50)
    assert np.array_equal(generable[BOS], begin)
    assert np.array_equal(
        generable[NUM_SPECIAL], spell([preprocessor.vocabulary.words[NUM_SPECIAL]])[0]
    )


def test_cached_steps_and_given_words_equal_teacher_forcing(made):
    model, preprocessor = made
    (x, _, _), source = batch(preprocessor)
    forced = np.array(model(x)["decoder"])
    memory = model.encode({name: source[name] for name in preprocessor.model_inputs})
    targets = np.array(x["target_ids"])
    cache = model.init_cache(memory, 2, targets.shape[1])
    previous, compared = np.full((2, 2), BOS, "int32"), 0
    known = np.ones(2, bool)
    for t in range(targets.shape[1]):
        log_p, cache = model.decode_step(memory, cache, previous, t)
        for b in np.flatnonzero(known & (targets[:, t] != 0) & (targets[:, t] != UNK)):
            for beam in range(2):
                got = float(log_p[b, beam, targets[b, t]])
                assert got == pytest.approx(forced[b, t], rel=1e-4, abs=2e-5), (b, t)
                compared += 1
        known &= (
            targets[:, t] != UNK
        )  # a step reads such a word as <UNK>, training as it is written
        previous = np.repeat(targets[:, t : t + 1], 2, axis=1)
    assert compared == 2 * (3 + 2)  # Ada, Lee, EOS; the, queen
    given = np.array(model.attribute(memory, targets)["log_probability"])
    np.testing.assert_allclose(given[0, :3], forced[0, :3], rtol=1e-4, atol=2e-5)


def test_the_spelling_matters_and_only_the_mix_is_trained(made):
    model, preprocessor = made
    (x, _, _), _ = batch(preprocessor)
    question, passages = EXAMPLES[0].question, EXAMPLES[0].passages
    lower = Example("1", question.lower(), tuple(p.lower() for p in passages), {"qa": ("ada lee",)})
    (other, _, _), _ = batch(preprocessor, [lower, EXAMPLES[1]])
    assert np.array_equal(x["passage_ids"], other["passage_ids"])  # ids do not know the case
    one, two = np.array(model(x)["ranker"]), np.array(model(other)["ranker"])
    assert np.abs(one[0] - two[0]).max() > 1e-4
    np.testing.assert_allclose(one[1], two[1], atol=1e-5)
    trained = model.contextual_embedding.trainable_variables
    assert {variable.name for variable in trained} == {"mix_weights", "gamma"}
    for part in ("decoder", "ranker"):
        for gradient in gradients(lambda part=part: ops.sum(model(x)[part][:, :1]), trained):
            assert gradient is not None and np.abs(gradient).max() > 1e-6


def test_a_preprocessor_without_characters_does_not_fit(made):
    model, preprocessor = made
    plain = MasquePreprocessor(
        preprocessor.vocabulary, num_passages=2, generation_vocabulary_size=8
    )
    with pytest.raises(ValueError, match="characters=True"):
        tfmrc.Predictor(model, plain)


def test_a_ranker_alone_reads_the_same_batches(made):
    _, preprocessor = made
    model, _ = masque_with_elmo(decoder=False)
    (x, _, _), source = batch(preprocessor)
    outputs = model(x)
    assert set(outputs) == {"ranker", "classifier"}
    memory = model.encode({name: source[name] for name in preprocessor.model_inputs})
    np.testing.assert_allclose(memory["ranker"], outputs["ranker"], atol=1e-5)


def test_an_example_alone_equals_the_same_in_a_padded_batch(made):
    """Its texts are shorter than the batch's, and one passage is missing."""
    model, preprocessor = made
    (together, _, _), _ = batch(preprocessor)
    for row, example in enumerate(EXAMPLES):
        (alone, _, _), _ = batch(preprocessor, [example])
        right, found = model(together), model(alone)
        length = alone["target_ids"].shape[1]
        words = np.array(alone["target_ids"][0]) != UNK  # impossible words have no probability
        np.testing.assert_allclose(
            np.array(found["decoder"])[0][words],
            np.array(right["decoder"])[row, :length][words],
            rtol=1e-4,
            atol=1e-5,
        )
        for part in ("ranker", "classifier"):
            np.testing.assert_allclose(found[part][0], right[part][row], atol=1e-5)

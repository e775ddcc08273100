"""What the graph of a training step must not hold, and what a decoding step must not redo."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.losses import SequenceNLL
from tfmrc.models import Masque

# Sizes that no sum or product of others equals, so that a shape tells what a tensor is.
B, J, K, L, T, D, G, VOCABULARY = 2, 5, 3, 11, 7, 34, 53, 101
S = J + K * L
SIZES = {
    "vocabulary_size": VOCABULARY,
    "num_styles": 2,
    "num_passages": K,
    "word_dim": 19,
    "hidden_dim": D,
    "num_heads": 2,
    "intermediate_dim": 29,
    "num_shared_blocks": 1,
    "num_question_blocks": 1,
    "num_passage_blocks": 1,
    "num_decoder_blocks": 1,
    "generation_vocabulary_size": G,
    "dropout": 0.1,
}


def inputs():
    random = np.random.default_rng(0)
    passages = random.integers(4, VOCABULARY, (B, K, L))
    question = random.integers(4, VOCABULARY, (B, J))
    passages[:, :, 0] = 2
    words = np.concatenate([question, passages.reshape(B, -1)], 1)
    extended = np.where(words < G, words, G + np.arange(S))
    extended[words == 2] = 0
    x = {
        "question_ids": question,
        "passage_ids": passages,
        "extended_ids": extended,
        "style_ids": np.zeros(B),
        "answer_ids": random.integers(4, VOCABULARY, (B, T)),
        "target_ids": random.integers(4, G, (B, T)),
    }
    return {name: array.astype("int32") for name, array in x.items()}


def graphs(graph):
    """The graph and all those of the functions that it calls."""
    yield graph
    for name in graph._functions:
        yield from graphs(graph._functions[name].graph)


def shapes(function, *arguments):
    """Shape to the names of the operations that make tensors of it; None where not known."""
    found = {}
    for graph in graphs(function.get_concrete_function(*arguments).graph):
        for operation in graph.get_operations():
            for output in operation.outputs:
                shape = output.shape
                known = tuple(shape.as_list()) if shape.rank is not None else None
                found.setdefault(known, []).append(operation.name)
    return found


@pytest.fixture(scope="module")
def training():
    model = Masque(**SIZES)
    x = {name: tf.constant(array) for name, array in inputs().items()}

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = SequenceNLL()(x["target_ids"], outputs["decoder"])
            loss += tf.reduce_sum(outputs["ranker"]) + tf.reduce_sum(outputs["classifier"])
        return tape.gradient(loss, model.trainable_variables)

    return shapes(step, x)


def test_training_holds_nothing_over_the_extended_vocabulary(training):
    assert (B, T, G) in training and (B, T, S) in training  # what it does hold
    for shape in training:
        assert not {G + S, VOCABULARY + S} & set(shape or ()), training[shape][:3]
    # Nor one distribution of all copies: time, places and words together.
    for shape in training:
        dims = list(shape or ())
        assert not (T in dims and S in dims and G in dims), training[shape][:3]


def test_training_holds_no_similarity_of_every_pair_and_feature(training):
    assert (B, K, L, J) in training  # the scores themselves
    for shape in training:
        dims = list(shape or ())
        pairs = L in dims and J in dims
        assert not (pairs and {D, 3 * D} & set(dims)), training[shape][:3]
        # The weight itself has 3 d numbers, and so has what mixes the sources, [B, T, 3 d]; no
        # word of a source has.
        assert not (3 * D in dims and {J, L, K * L, S} & set(dims)), training[shape][:3]

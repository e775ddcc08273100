"""What the graph of a training step must not hold, and what a decoding step must not redo."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layers.weights import randomise
from tests.models import examples
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


def test_all_shapes_of_the_graph_are_known(training):
    unknown = [shape for shape in training if shape is None or None in shape]
    # Slots of no size of their own (queues of gradients, masks of shapes) have rank 1 at most.
    assert all(shape is not None and len(shape) <= 1 for shape in unknown), unknown
    assert len(training) > 50  # forward and backward


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


def test_training_never_copies_the_whole_table(training):
    for shape in training:
        if shape and shape[0] in (VOCABULARY, VOCABULARY - 4) and len(shape) > 1:
            for name in training[shape]:
                assert "ReadVariableOp" in name or "Gather" in name or "words" in name, name


def test_a_step_of_decoding_projects_no_memory_again():
    model = Masque(**{**SIZES, "dropout": 0.0})
    x = {name: a for name, a in inputs().items() if name not in ("answer_ids", "target_ids")}
    memory = model.encode(x)
    cache = model.init_cache(memory, 2, T)
    ids = tf.zeros((B, 2), "int32")
    step = tf.function(
        lambda memory, cache, ids, t: model.decode_step(memory, cache, ids, t), autograph=False
    )
    concrete = step.get_concrete_function(memory, cache, ids, tf.constant(1))
    (d,) = {D}
    for graph in graphs(concrete.graph):
        for operation in graph.get_operations():
            if operation.type in ("MatMul", "BatchMatMulV2", "Einsum", "Tensordot"):
                left, right = (list(value.shape) for value in operation.inputs[:2])
                # A product of all source places with a square weight is a projection.
                projects = right[-2:] == [d, d] and len(right) == 2
                rows = int(np.prod(left[:-1]))
                assert not (projects and rows >= B * J), (operation.name, left, right)


def test_a_step_of_decoding_copies_no_memory_a_beam():
    model = Masque(**{**SIZES, "dropout": 0.0})
    x = {name: a for name, a in inputs().items() if name not in ("answer_ids", "target_ids")}
    memory = model.encode(x)
    beams = 13
    cache = model.init_cache(memory, beams, T)
    ids = tf.zeros((B, beams), "int32")
    step = tf.function(
        lambda memory, cache, ids, t: model.decode_step(memory, cache, ids, t), autograph=False
    )
    found = shapes(step, memory, cache, ids, tf.constant(1))
    for shape in found:
        dims = list(shape or ())
        # The additive attention's sum of query and memory is [B, W, S_i, d] by its nature.
        keys = {B, beams, K * L, D // 2} <= set(dims)
        assert not keys, (shape, found[shape][:3])


def test_graph_gives_the_numbers_of_the_eager_model():
    model = examples.small()
    randomise(model)
    x = examples.batch(examples.FOUR)
    memory = model.encode(examples.source_only(x))
    search = tf.function(lambda m: model.generate(m, 4, num_beams=2)._asdict(), autograph=False)
    compiled, eager = search(memory), model.generate(memory, 4, num_beams=2)._asdict()
    np.testing.assert_array_equal(compiled["ids"], eager["ids"])
    np.testing.assert_allclose(compiled["score"], eager["score"], rtol=1e-5)

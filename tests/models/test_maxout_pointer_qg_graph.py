"""What a training step must not hold, what a decoding step must not redo."""

import numpy as np
import tensorflow as tf

from tests.models.test_masque_graph import graphs, shapes
from tfmrc.losses import SequenceNLL
from tfmrc.models import MaxoutPointerQG
from tfmrc.ops.ids import BOS

# Sizes that no sum or product of others equals, so that a shape tells what a tensor is.
B, M, T, D, G, VOCABULARY = 2, 11, 7, 17, 53, 101
SIZES = {
    "vocabulary_size": VOCABULARY,
    "word_dim": 19,
    "hidden_dim": D,
    "generation_vocabulary_size": G,
    "dropout": 0.1,
}


def inputs():
    random = np.random.default_rng(0)
    words = random.integers(4, VOCABULARY, (B, M))
    x = {
        "passage_ids": words,
        "answer_tags": random.integers(0, 2, (B, M)),
        "extended_ids": np.where(words < G, words, G + np.arange(M)),
        "question_ids": random.integers(4, VOCABULARY, (B, T)),
        "target_ids": random.integers(4, G, (B, T)),
    }
    return {name: tf.constant(array, "int32") for name, array in x.items()}


def test_training_holds_nothing_over_the_extended_vocabulary():
    model = MaxoutPointerQG(**SIZES)

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = SequenceNLL()(x["target_ids"], outputs["decoder"])
        return tape.gradient(loss, model.trainable_variables)

    found = shapes(step, inputs())
    assert (B, T, G) in found and (B, T, M) in found  # what it does hold
    for shape, names in found.items():
        assert not {G + M, VOCABULARY + M} & set(shape or ()), names[:3]
        assert not {T, M, G} <= set(shape or ()), names[:3]


def test_a_step_of_decoding_projects_no_memory_and_groups_no_words():
    model = MaxoutPointerQG(**SIZES)
    memory = model.encode(inputs())
    beams = 13
    cache = model.init_cache(memory, beams, T)
    step = tf.function(
        lambda memory, cache, ids, t: model.decode_step(memory, cache, ids, t), autograph=False
    )
    ids = tf.zeros((B, beams), "int32")
    found = shapes(step, memory, cache, ids, tf.constant(1))
    assert (B, M, M) not in found  # words are grouped once an example
    assert (B, beams, M, D) not in found and (B, beams, M, 2 * D) not in found
    concrete = step.get_concrete_function(memory, cache, ids, tf.constant(1))
    for graph in graphs(concrete.graph):
        for operation in graph.get_operations():
            if operation.type in ("MatMul", "BatchMatMulV2"):
                left, right = (list(value.shape) for value in operation.inputs[:2])
                assert not (M in left and right[-2:] == [2 * D, D]), operation.name


def test_training_step_of_batches_of_any_size():
    model = MaxoutPointerQG(**SIZES)
    x = inputs()
    x["question_ids"] = tf.concat([tf.fill([B, 1], BOS), x["question_ids"][:, 1:]], axis=1)
    anything = {name: tf.TensorSpec([None, None], tf.int32) for name in x}

    @tf.function(input_signature=[anything], autograph=False)
    def gradients(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True)["decoder"])
        return tape.gradient(loss, model.trainable_variables)

    for part, variable in zip(gradients(x), model.trainable_variables, strict=True):
        assert np.isfinite(tf.convert_to_tensor(part)).all(), variable.path
        assert np.any(tf.convert_to_tensor(part)), variable.path

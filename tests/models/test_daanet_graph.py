"""What a training step must not hold, what a decoding step must not redo."""

import numpy as np
import tensorflow as tf

from tests.models.test_masque_graph import graphs, shapes
from tfmrc.losses import SequenceNLL
from tfmrc.models import DAANet

# Sizes that no sum or product of others equals, so that a shape tells what a tensor is.
B, N, M, K, C, D, G, VOCABULARY = 2, 16, 7, 5, 3, 22, 53, 101
SIZES = {
    "vocabulary_size": VOCABULARY,
    "num_characters": 31,
    "word_dim": 19,
    "character_dim": 17,
    "hidden_dim": D,
    "num_lstm_layers": 1,
    "num_heads": 2,
    "inner_dim": 41,
    "generation_vocabulary_size": G,
}


def inputs():
    random = np.random.default_rng(0)
    x = {}
    for text, length in (("passage", N), ("question", M), ("answer", K)):
        x[f"{text}_ids"] = random.integers(4, VOCABULARY, (B, length))
        x[f"{text}_characters"] = random.integers(1, 31, (B, length, C))
    words = x["passage_ids"]
    x["extended_ids"] = np.where(words < G, words, G + np.arange(N))
    x["question_target_ids"] = random.integers(4, G, (B, M))
    x["answer_target_ids"] = random.integers(4, G, (B, K))
    return {name: tf.constant(array, "int32") for name, array in x.items()}


def test_training_holds_nothing_over_the_extended_vocabulary_and_reads_each_text_once():
    model = DAANet(**SIZES)

    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            outputs = model(x, training=True)
            loss = SequenceNLL()(x["question_target_ids"], outputs["ask"])
            loss += SequenceNLL()(x["answer_target_ids"], outputs["answer"])
        return tape.gradient(loss, model.trainable_variables)

    found = shapes(step, inputs())
    assert (B, M, G) in found and (B, K, G) in found and (B, M, N) in found  # what it does hold
    for shape, names in found.items():
        assert not {G + N, VOCABULARY + N} & set(shape or ()), names[:3]
        assert not {M, N, G} <= set(shape or ()) and not {K, N, G} <= set(shape or ()), names[:3]
        assert not {C, 3 * 17} <= set(shape or ()), names[:3]  # no window of characters
    names = [layer.name for layer in model.layers]
    for text in ("context", "question", "answer"):
        assert names.count(f"{text}_encoder") == 1
        assert len(model.get_layer(f"{text}_encoder")._inbound_nodes) == 1


def test_a_step_of_decoding_reads_neither_the_passage_nor_the_past_again():
    model = DAANet(**SIZES)
    x = inputs() | {"generable_characters": tf.ones((G, C), "int32")}
    memory = model.asking.encode(x)
    beams, longest = 11, 29
    cache = model.asking.init_cache(memory, beams, longest)

    @tf.function(autograph=False)
    def step(memory, cache, ids, t):
        return model.asking.decode_step(memory, cache, ids, t)

    concrete = step.get_concrete_function(
        memory, cache, tf.zeros((B, beams), "int32"), tf.constant(1)
    )
    for graph in graphs(concrete.graph):
        for operation in graph.get_operations():
            if operation.type in ("MatMul", "BatchMatMulV2"):
                left, right = (list(value.shape) for value in operation.inputs[:2])
                # Weights meet one word a beam: never the passage, never all steps.
                assert not (len(right) == 2 and {N, longest} & set(left)), operation.name

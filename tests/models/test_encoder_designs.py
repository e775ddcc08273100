"""Models on a pretrained encoder, and Masque on ELMo: what these designs change."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise, values
from tests.models import duals, encoded, examples, papers, questions, subwords
from tests.models.generation import (
    assert_scores_are_those_of_the_words,
    assert_steps_equal_teacher_forcing,
)
from tests.models.spans import SMALL, batch
from tfmrc import encoders
from tfmrc.losses import SpanPositionNLL
from tfmrc.models import SAN
from tfmrc.models.daanet import GIVEN, TASKS
from tfmrc.ops.ids import PAD, UNK
from tfmrc.testing import gradients, run_model_test

PARTS = ("encoder_ids", "segment_ids", "passage_pieces")


@dataclass
class Case:
    """A model that generates, and how its examples are batched."""

    model: Any
    batch: Callable[..., Any]  # rows to inputs
    directions: dict[str, Any]  # name of the output to what decodes it
    source: Callable[..., Any]  # inputs and name of the output to what `encode` takes

    def targets(self, x: Any, output: str) -> Any:
        return x["target_ids"] if output == "decoder" else duals.targets(x, output)


def masque(use, reading):
    model, preprocessor, _ = encoded.make(use, reading)
    texts = encoded.QUESTIONS, encoded.PASSAGES, encoded.ANSWERS, encoded.STYLES

    def inputs(rows=slice(None)):
        return encoded.inputs(preprocessor, *(strings[rows] for strings in texts))

    return Case(model, inputs, {"decoder": model}, lambda x, _: encoded.reading_inputs(x))


def masque_on_elmo():
    model, preprocessor = papers.masque_with_elmo()

    def inputs(rows=slice(None)):
        x, source = papers.masque_batch(preprocessor, papers.EXAMPLES[rows])
        both = x | {"generable_characters": source["generable_characters"]}
        return {name: np.array(a) for name, a in both.items()}

    return Case(model, inputs, {"decoder": model}, lambda x, _: examples.source_only(x))


def daanet(use, reading, **changes):
    encoder = subwords.encoder()
    sizes = {"num_lstm_layers": 1, **changes}
    model = duals.small(encoder=encoder, encoder_use=use, reading=reading, **sizes)
    randomise(model, seed=3, scale=0.5)

    def inputs(rows=slice(None)):
        return with_subwords(reading, duals.FOUR[rows])

    def source(x, task):
        names = ("encoder_ids", "passage_pieces", *(f"{GIVEN[task]}_{part}" for part in PARTS))
        return duals.source(x, task) | {name: x[name] for name in names if name in x}

    return Case(model, inputs, {"answer": model.answering, "ask": model.asking}, source)


def with_subwords(reading, triplets):
    """The inputs of DAANet."""
    x = duals.batch(triplets)
    passages, width = [t.passage for t in triplets], x["passage_ids"].shape[1]
    if reading == "separate":
        ids, _, pieces = subwords.read([()] * len(triplets), passages, width)
        return x | {"encoder_ids": ids, "passage_pieces": pieces}
    for text in GIVEN.values():
        read = subwords.read([getattr(t, text) for t in triplets], passages, width)
        x |= {f"{text}_{part}": value for part, value in zip(PARTS, read, strict=True)}
    return x


def maxout_pointer_qg(use, pooling, **options):
    encoder = subwords.encoder(pooling=pooling, **options)
    model = questions.small(encoder=encoder, encoder_use=use)
    randomise(model, seed=3, scale=0.5)

    def inputs(rows=slice(None)):
        asked = questions.FOUR[rows]
        x, answers = questions.batch(asked), [a.passage[slice(*a.answer)] for a in asked]
        read = subwords.read(answers, [a.passage for a in asked], x["passage_ids"].shape[1])
        return x | dict(zip(PARTS, read, strict=True))

    return Case(model, inputs, {"decoder": model}, lambda x, _: questions.source_only(x))


CASES = {
    "masque reader joint": lambda: masque("reader", "joint"),
    "masque embedding separate": lambda: masque("embedding", "separate"),
    "masque elmo": masque_on_elmo,
    "daanet embedding joint": lambda: daanet("embedding", "joint", context_attention=False),
    "daanet contextual separate": lambda: daanet("contextual", "separate"),
    "qg embedding": lambda: maxout_pointer_qg("embedding", "mean"),
    "qg contextual": lambda: maxout_pointer_qg("contextual", "first"),
}


@functools.cache
def made(name):
    return CASES[name]()


@pytest.fixture(params=CASES)
def case(request):
    return made(request.param)


def test_steps_equal_teacher_forcing(case):
    x = case.batch()
    for output, direction in case.directions.items():
        source, targets = case.source(x, output), case.targets(x, output)
        forced = case.model(inputs_of(case, x))[output]
        assert_steps_equal_teacher_forcing(direction, source, targets, forced)
        assert_scores_are_those_of_the_words(direction, source, num_beams=2)


def inputs_of(case, x):
    return {name: x[name] for name in case.model.input}


def test_an_example_alone_equals_the_same_in_a_batch(case):
    x = case.batch()
    together = case.model(inputs_of(case, x))
    for row in (0, 1):
        alone = case.batch(slice(row, row + 1))
        for name, found in case.model(inputs_of(case, alone)).items():
            found, right = np.array(found)[0], np.array(together[name])[row]
            if found.ndim and name in case.directions:  # impossible words have no probability
                targets = case.targets(alone, name)[0]
                real = (targets != PAD) & (targets != UNK)
                found, right = found[real], right[: len(real)][real]
                np.testing.assert_allclose(found, right, rtol=1e-4, atol=5e-5, err_msg=name)
            elif name in ("ranker", "classifier"):
                np.testing.assert_allclose(found, right, rtol=1e-4, atol=5e-5, err_msg=name)


def first_subwords(model, states, pieces, ids):
    """Vectors of words, in float64: the mean or the first of the states of their subwords."""
    states, found = np.array(states).astype("float64"), []
    for first, count in pieces:
        count = count if model.encoder.words.pooling == "mean" else min(count, 1)
        found.append(states[first : first + count].sum(0) / max(count, 1))
    if model.arguments.encoder_use == "embedding":
        return np.array(found)
    v = values(model, strip=False)
    rows = np.concatenate([v["word_embedding/special"], v["word_embedding/words"]])
    rows[PAD] = 0.0
    return np.concatenate([rows[ids], found], axis=-1)


@pytest.mark.parametrize("name", [name for name in CASES if "masque" not in name])
def test_each_word_has_the_vector_of_its_own_subwords(name):
    case = made(name)
    model, x = case.model, case.batch()
    for output in case.directions:
        if output == "decoder":
            read, expected = PARTS, lambda b, words: questions.expected(model, b, words)
        else:
            joint = model.arguments.reading == "joint"
            read = [f"{GIVEN[output]}_{part}" if joint else part for part in PARTS]

            def expected(b, words, output=output):
                return duals.expected(model, output, b, words)[0]

        states = model.encoder(*(x[name] for name in read[:2] if name in x))
        found = np.array(model(x)[output])
        for b in range(4):
            ids, length = x["passage_ids"][b], (x["passage_ids"][b] != PAD).sum()
            words = first_subwords(model, states[b], x[read[2]][b], ids)
            right = expected(b, words)
            np.testing.assert_allclose(found[b, : len(right)], right, rtol=3e-4, atol=5e-5)
            other = expected(b, words[:length][::-1])
            assert b or abs(right - other).max() > 1e-3  # other words' vectors would be seen


def test_in_joint_reading_the_passage_knows_what_is_given():
    for reading in ("joint", "separate"):
        model = daanet("embedding", reading).model
        x = with_subwords(reading, duals.FOUR)
        changed = [duals.Triplet(t.passage, [9, 4, 11], t.answer) for t in duals.FOUR]
        other = with_subwords(reading, changed)
        names = [f"question_{part}" for part in PARTS if reading == "joint"]
        right, found = model(x), model(x | {name: other[name] for name in names})
        differs = {task: float(abs(np.array(found[task] - right[task])).max()) for task in TASKS}
        assert differs["ask"] == 0.0  # asks about the same answer
        assert (differs["answer"] > 1e-4) is (reading == "joint")
        # Each sequence is read by one task alone, the passage alone by both.
        calls = len(model.get_layer("encoder")._inbound_nodes)
        assert calls == (2 if reading == "joint" else 1)


@pytest.mark.parametrize("design", [("reader", "joint"), ("embedding", "separate")])
def test_relevance_of_a_passage_does_not_depend_on_the_others(design):
    model, preprocessor, _ = encoded.make(*design)
    found = np.array(model(encoded.inputs(preprocessor))["ranker"])
    assert (found[2] <= -1e8).all() and found[1, 2] <= -1e8  # passages that are missing
    others = [[p[0], "a mill", encoded.LONG] for p in encoded.PASSAGES]
    again = np.array(model(encoded.inputs(preprocessor, passages=others))["ranker"])
    np.testing.assert_allclose(again[:, 0], found[:, 0], rtol=1e-4, atol=2e-5)


# === SAN ===


def encoder(**options):
    sizes = {"length": 12, "num_layers": 1, "hidden_dim": 6}
    return encoders.from_vocabulary(["a", "b", "c"], **sizes, **options)


def san_inputs(reading):
    x, draw = batch(), np.random.default_rng(0)
    rows, words = x["passage_ids"].shape
    ids = draw.integers(4, 7, (rows, 1, 11)).astype("int32")
    ids[1, :, 9:] = 0
    pieces = np.stack([np.arange(words) + 4, np.ones(words)], -1).astype("int32")
    x["passage_pieces"] = np.where((x["passage_ids"] > 0)[..., None], pieces, 0).astype("int32")
    asked = np.stack([np.arange(3) + 1, np.ones(3)], -1).astype("int32")
    x["question_pieces"] = np.where((x["question_ids"] > 0)[..., None], asked, 0).astype("int32")
    if reading == "joint":
        return x | {"encoder_ids": ids, "segment_ids": (np.arange(11) > 4) * np.ones_like(ids)}
    return x | {"passage_encoder_ids": ids, "question_encoder_ids": ids[:, :, :5]}


def test_what_a_model_owes():
    run_model_test(
        SAN,
        {
            **SMALL,
            "encoder": encoder(dropout=0.0).layer,
            "encoder_use": "embedding",
            "reading": "separate",
        },
        san_inputs("separate"),
        compile_kwargs={
            "optimizer": "sgd",
            "loss": {"begin": SpanPositionNLL(), "end": SpanPositionNLL()},
            "run_eagerly": True,  # tracing takes longest
        },
        targets={"begin": np.array([0, 1, -1]), "end": np.array([1, 1, -1])},
        expected_output_shape={"begin": (3, 5), "end": (3, 5)},
        without_gradient=("special",),
        precisions=(),  # the models of such a comparison would share the encoder that is trained
    )


def test_linear_head_by_hand(without_graphs):
    read = encoder()
    model = SAN(**SMALL, encoder=read, answer="linear")
    x = san_inputs("joint")
    states = read.layer(x["encoder_ids"], x["segment_ids"])
    words = np.array(read.layer.words(states, x["passage_pieces"]), "float64")
    kernel, bias = (np.array(v, "float64") for v in model.answer_module.scores.weights)
    scores = np.where((x["passage_ids"] > 0)[..., None], words @ kernel + bias, -np.inf)
    expected = np.exp(scores - np.log(np.exp(scores).sum(axis=1, keepdims=True)))
    found = model.predict(x, verbose=0)
    for index, name in enumerate(("begin", "end")):
        np.testing.assert_allclose(np.exp(found[name]), expected[..., index], atol=1e-6)


# === ELMo ===


def test_the_spelling_matters_and_only_the_mix_is_trained():
    model, preprocessor = papers.masque_with_elmo()
    first, second = papers.EXAMPLES
    passages = tuple(p.lower() for p in first.passages)
    lower = type(first)("1", first.question.lower(), passages, {"qa": ("ada lee",)})
    x, _ = papers.masque_batch(preprocessor)
    other, _ = papers.masque_batch(preprocessor, [lower, second])
    assert np.array_equal(x["passage_ids"], other["passage_ids"])  # ids do not know the case
    one, two = np.array(model(x)["ranker"]), np.array(model(other)["ranker"])
    assert np.abs(one[0] - two[0]).max() > 1e-4
    np.testing.assert_allclose(one[1], two[1], atol=1e-5)
    trained = model.contextual_embedding.trainable_variables
    assert {variable.name for variable in trained} == {"mix_weights", "gamma"}
    for part in ("decoder", "ranker"):
        for gradient in gradients(lambda part=part: ops.sum(model(x)[part][:, :1]), trained):
            assert gradient is not None and np.abs(gradient).max() > 1e-6

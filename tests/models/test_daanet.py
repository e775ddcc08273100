"""Every variant by argument: values, sharing, no look ahead, decoding, training."""

import keras
import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import duals
from tests.models.duals import FOUR, X
from tests.models.generation import (
    assert_scores_are_those_of_the_words,
    assert_steps_equal_teacher_forcing,
)
from tfmrc import training
from tfmrc.models import DAANet
from tfmrc.models.daanet import TASKS
from tfmrc.ops.ids import PAD, UNK
from tfmrc.testing import gradients

STEPPED = (
    {},
    {"copy": False, "context_attention": False, "tasks": ("answer",)},
    {"in_series": True, "share_encoders": False, "tasks": ("ask",)},
)


@pytest.fixture(scope="module", params=[n for n in DAANet.presets if n != "daanet_demo"])
def variant(request):
    arguments = DAANet.PRESETS[request.param].arguments  # several LSTMs: in `dual`
    model = duals.small(**{"num_lstm_layers": 1, **arguments})
    randomise(model, seed=3, scale=0.5)
    return request.param, model


@pytest.fixture(scope="module")
def dual():
    model = duals.small()
    randomise(model, seed=3, scale=0.5)
    return model


@pytest.mark.equation("daanet-01", "daanet-02", "daanet-03", "daanet-07", "daanet-08", "daanet-09")
@pytest.mark.equation("daanet-10", "daanet-11", "daanet-15", "daanet-16")
def test_values_of_every_variant(variant):
    _, model = variant
    outputs = model(X)
    assert sorted(outputs) == sorted([n for t in model.tasks for n in (t, f"{t}_coverage")])
    for task in model.tasks:
        for b in range(4):
            log_p, coverage = duals.expected(model, task, b)
            n = len(log_p)
            np.testing.assert_allclose(outputs[task][b, :n], log_p, rtol=2e-4, atol=3e-5)
            got = outputs[f"{task}_coverage"][b, :n]
            np.testing.assert_allclose(got, coverage, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("changes", STEPPED, ids=str)
def test_steps_equal_teacher_forcing_and_probabilities_sum_to_one(changes):
    model = duals.small(**changes)
    randomise(model, seed=3, scale=0.5)
    for task in model.tasks:
        direction = model.answering if task == "answer" else model.asking
        source, forced = duals.source(X, task), model(X)[task]
        copies = model.arguments.copy
        assert_steps_equal_teacher_forcing(
            direction, source, duals.targets(X, task), forced, copies
        )


def test_one_batch_sends_gradients_from_both_tasks_into_every_shared_weight(dual):
    own = ("_answer/", "_ask/")
    found = {}
    for task in TASKS:
        variables = dual.trainable_variables
        parts = gradients(lambda task=task: -ops.sum(dual(X)[task]), variables)
        found[task] = {v.path: p for v, p in zip(variables, parts, strict=True)}
    shared = [path for path in found["ask"] if not any(end in path for end in own)]
    for name in (
        "word_embedding", "character_embedding", "projection", "highway", "context_encoder",
        "question_encoder", "answer_encoder", "output_projection",
    ):  # fmt: skip
        assert any(path.startswith(name) for path in shared), name
    for path in shared:
        for task in TASKS:
            assert found[task][path] is not None and np.any(found[task][path]), (task, path)
    for task, other in zip(TASKS, reversed(TASKS), strict=True):
        for path in found[task]:
            if f"_{task}/" in path:
                assert np.any(found[task][path]), path
                assert found[other][path] is None or not np.any(found[other][path]), path


def test_generated_words_their_score_and_the_batch(dual):
    for direction in (dual.answering, dual.asking):
        task = direction.task
        assert_scores_are_those_of_the_words(
            direction,
            duals.source(X, task),
            alone=lambda b, task=task: duals.source(duals.batch(FOUR[b : b + 1]), task),
        )


def labels():
    y = {n: duals.targets(X, n.split("_")[0]) for t in TASKS for n in (t, f"{t}_coverage")}
    return y, {n: (a != PAD).sum(-1).astype("float32") for n, a in y.items()}


@pytest.mark.equation("daanet-15", "daanet-16")
def test_loss_is_the_printed_one(dual):
    y, weight = labels()
    dual.compile(**training.daanet(steps=10, coverage_weight=0.7, model=dual))
    found = dual.evaluate(X, y, sample_weight=weight, batch_size=4, verbose=0, return_dict=True)
    total = 0.0
    for task in TASKS:
        for b in range(4):
            log_p, coverage = duals.expected(dual, task, b)
            total += -log_p.sum() + 0.7 * coverage.sum()
    assert found["loss"] == pytest.approx(total / 4, rel=1e-4)


def test_configuration_saving_and_learning_by_heart(tmp_path):
    sizes = {"num_lstm_layers": 1, "hidden_dim": 16, "inner_dim": 16, "initializer_stddev": 0.5}
    keras.utils.set_random_seed(1)
    model = duals.small(**sizes, embeddings_trainable=True)
    y, weight = labels()
    model.compile(
        **training.daanet(
            steps=60, learning_rate=5e-3, warmup_steps=2, coverage_weight=0.1, model=model
        )
    )
    for _ in range(60):
        losses = model.train_on_batch(X, y, sample_weight=weight, return_dict=True)
    assert losses["loss"] < 1.5 and losses["answer_loss"] < 0.5  # 18 at first
    right = duals.targets(X, "answer")
    memory = model.answering.encode(duals.source(X, "answer"))
    ids = np.array(model.answering.generate(memory, right.shape[1]).ids)[:, 0]
    known = (right != UNK).all(-1)
    np.testing.assert_array_equal(ids[known], right[known])
    model.save(tmp_path / "m.keras")
    again = keras.saving.load_model(tmp_path / "m.keras")
    assert again.get_config() == model.get_config()
    np.testing.assert_allclose(again(X)["ask"], model(X)["ask"], atol=1e-5)


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_half_precision_with_an_example_without_a_passage(dual, policy):
    half = duals.small(dtype=policy)
    half.set_weights([np.array(ops.convert_to_numpy(w)) for w in dual.weights])
    emptied = {n: np.where(np.arange(4)[:, None] == 1, 0, X[n]) for n in ("passage_ids",)}
    emptied["extended_ids"] = np.where(np.arange(4)[:, None] == 1, 0, X["extended_ids"])
    x = {**X, **emptied}
    halves = half(x)
    for name, right in dual(x).items():
        got, right = np.array(halves[name]), np.array(right)
        assert got.dtype == "float32" and np.isfinite(got).all()
        possible = right > -1e8
        np.testing.assert_array_equal(got > -1e8, possible)
        np.testing.assert_allclose(
            got[possible], right[possible], atol=0.1 * np.abs(right[possible]).max()
        )
    variables = half.trainable_variables
    for part in gradients(lambda: ops.sum(ops.maximum(half(x)["ask"], -1e3)), variables):
        assert part is None or np.isfinite(part).all()

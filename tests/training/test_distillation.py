"""Distillation: the loss against NumPy, shared weights, and a student that learns its teacher."""

import keras
import numpy as np
import pytest

from tfmrc import encoders, models, training
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.training.distillation import SoftTargets
from tfmrc.utils import keras_private

BATCH = {
    "encoder_ids": np.array([[2, 4, 3, 5, 6, 3], [2, 4, 3, 6, 3, 0]]),
    "segment_ids": np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0]]),
    "answer_mask": np.array([[1, 0, 0, 1, 1, 0], [1, 0, 0, 1, 0, 0]], bool),
}


def reader(seed, num_layers=1, dropout=0.0):
    keras.utils.set_random_seed(seed)
    encoder = encoders.from_vocabulary(["owl", "hill", "who"], num_layers=num_layers, length=16)
    model = models.ExtractiveReader(encoder=encoder, dropout=dropout)
    head = model.answer_module.scores.kernel
    head.assign(np.random.default_rng(seed).normal(size=head.shape))  # clear probabilities
    return model


def softened(log_probabilities, temperature):
    scores = np.array(log_probabilities, "float64") / temperature
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_soft_targets_by_hand(temperature):
    random = np.random.default_rng(4)
    values = {}
    for role in ("student", "teacher"):
        scores = random.normal(size=(2, 3, 5)) * 2
        scores[:, 1, 3:] = -np.inf  # a shorter passage
        log = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
        log[:, 2] = -np.inf  # a passage without words
        values[role] = np.maximum(log, LOG_ZERO).astype("float32")
    expected = 0.0
    for name in range(2):
        for row, count in ((0, 5), (1, 3)):
            t, s = (
                softened(values[role][name, row, :count], temperature)
                for role in ("teacher", "student")
            )
            expected += 0.7 * temperature**2 * (t * np.log(t / s)).sum() / 3
    layer = SoftTargets(0.7, temperature)
    student, teacher = (
        {"begin": values[role][0], "end": values[role][1]} for role in ("student", "teacher")
    )
    outputs = layer(student, teacher)
    assert float(sum(layer.losses)) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_array_equal(outputs["begin"], student["begin"])
    layer = SoftTargets(0.7, temperature)
    layer(teacher, teacher)
    assert float(sum(layer.losses)) == pytest.approx(0, abs=1e-6)


def test_a_student_learns_what_no_label_says():
    """All labels are missing, so whatever the student learns is from the teacher."""
    student, teacher = reader(1), reader(2, num_layers=2)
    before = {name: np.array(value) for name, value in teacher(BATCH).items()}
    for layer in keras_private.all_sublayers(student):
        if isinstance(layer, keras.layers.Dropout):
            layer.rate = 0.0  # so that what is learnt depends on no draw
    model = training.Distillation(student=student, teacher=teacher, temperature=2.0)
    arguments = training.extractive_reader(
        model=student, steps=20, learning_rate=0.02, encoder_learning_rate=0.02, weight_decay=0.0
    )
    model.compile(**arguments, run_eagerly=True)
    labels = {"begin": np.array([-1, -1]), "end": np.array([-1, -1])}

    def distance():
        return max(
            np.abs(np.exp(student(BATCH)[name]) - np.exp(before[name])).max() for name in before
        )

    start = distance()
    for _ in range(20):
        model.train_on_batch(BATCH, labels)
    assert start > 0.2
    assert distance() < start / 4
    for name, value in teacher(BATCH).items():
        np.testing.assert_array_equal(value, before[name])
    for ours, theirs in zip(model(BATCH).values(), student(BATCH).values(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_the_teacher_reads_without_dropout_in_training(monkeypatch):
    teacher = reader(2, dropout=0.5)
    model = training.Distillation(student=reader(1, dropout=0.5), teacher=teacher)
    given = []
    call = SoftTargets.call

    def spied(layer, student, teacher):
        given.append([{name: np.array(part[name]) for name in part} for part in (student, teacher)])
        return call(layer, student, teacher)

    monkeypatch.setattr(SoftTargets, "call", spied)
    for _ in range(2):
        model(BATCH, training=True)
    for _, soft in given:
        for name, value in teacher(BATCH).items():
            np.testing.assert_allclose(soft[name], value, rtol=1e-6)
    assert not np.array_equal(given[0][0]["begin"], given[1][0]["begin"])  # the student has dropout

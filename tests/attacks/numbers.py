"""Losses and gradients of all four models at one word, no word, many words, and large weights."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tests.attacks import models
from tfmrc import data, training
from tfmrc.data.batching.training_example import records

POLICIES = ("float32", "mixed_bfloat16", "mixed_float16")
SETTINGS = {
    "SAN": training.san, "Masque": training.masque,
    "MaxoutPointerQG": training.maxout_pointer_qg, "DAANet": training.daanet,
}  # fmt: skip
# At weights ten times as large the layers of Transformer blocks have outputs above 65,504, the
# largest number of float16. Training then stops with an error (`tfmrc.training.StopOnNonFinite`).
LARGEST_IN_FLOAT16 = {"Masque": 3, "DAANet": 3}


def attack(count: int, seed: int, folder: Path) -> list[str]:
    """Computes gradients of every model in every precision with weights of up to `count` times.

    Returns:
        A description of each loss or gradient that is not finite.
    """
    wrong: list[str] = []
    for name in models.PREDICTORS:
        for policy in POLICIES:
            found = attack_model(name, policy, count)
            wrong += found
            print(f"{name}, {policy}: {len(found)} wrong", flush=True)
    return wrong


def attack_model(name: str, policy: str, factor: int) -> list[str]:
    """Checks one model with its own weights and with weights that are `factor` times as large."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        predictor = models.PREDICTORS[name]()
    finally:
        keras.config.set_dtype_policy(before)
    model = predictor.model
    model.compile(**SETTINGS[name](steps=3_000, model=model), run_eagerly=True)
    batches = data.make_dataset(list(records(EXAMPLES, ("qa",))), predictor.preprocessor, 8)
    if isinstance(model.output, dict):
        batches = batches.map(training.only_outputs(model))
    [batch] = batches
    wrong = []
    weights = model.get_weights()
    if policy == "mixed_float16":
        factor = min(factor, LARGEST_IN_FLOAT16.get(name, factor))
    for scale in (1, factor):
        model.set_weights([
            array * scale if array.dtype.kind == "f" else array for array in weights
        ])  # fmt: skip
        wrong += [
            f"{name}, {policy}, weights x {scale}: {each}" for each in _not_finite(model, batch)
        ]
    return wrong


def _not_finite(model: Any, batch: Any) -> list[str]:
    x, y, weight = batch
    with tf.GradientTape() as tape:
        loss = model.compute_loss(x, y, model(x, training=True), weight, training=True)
    gradients = tape.gradient(loss, [v.value for v in model.trainable_variables])
    found = [] if np.isfinite(float(loss)) else [f"the loss is {float(loss)}"]
    for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
        if gradient is not None and not np.isfinite(tf.convert_to_tensor(gradient).numpy()).all():
            found.append(f"the gradient of {variable.path}")
    return found


def _example(name: str, question: str, passage: str, answer: str) -> data.Example:
    start = passage.find(answer) if answer else -1
    spans = () if start < 0 else (data.Span(0, start, start + len(answer)),)
    answers = {"qa": (answer,)} if spans else {}
    return data.Example(name, question, (passage,), answers, bool(spans), spans=spans)


EXAMPLES = [
    _example("one word", "mill", "mill", "mill"),
    _example("several", "Anna the U.S. 1802 ?", "the mill of 1802 and Anna", "1802"),
    _example("many", "the " * 9_000, "the mill " * 4_500, "mill"),
]

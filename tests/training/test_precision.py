import keras
import numpy as np
import pytest

from tests.training import masque_batches, toy
from tfmrc import training


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_masque_trains_in_half_precision_without_nan(policy):
    """With examples that have no passage, an empty passage, an empty question, no answer."""
    model = masque_batches.model(dropout=0.1, num_decoder_blocks=1, dtype=policy)
    model.compile(
        **training.masque(steps=60, learning_rate=0.01, warmup_steps=5, ema=0.9, model=model)
    )
    scaled = isinstance(model.optimizer, training.LossScale)
    assert scaled == (policy == "mixed_float16")
    x, y, weight = masque_batches.rows(6)
    seen = []
    model.fit(
        x,
        y,
        sample_weight=weight,
        batch_size=8,
        epochs=5,
        shuffle=False,
        verbose=0,
        callbacks=keras.callbacks.LambdaCallback(
            on_train_batch_end=lambda batch, logs: seen.append([logs[k] for k in sorted(logs)])
        ),
    )
    assert len(seen) == 30 and np.isfinite(seen).all()
    for variable in [*model.variables, *model.optimizer.variables]:
        assert np.isfinite(variable.numpy()).all(), variable.path
    assert {keras.backend.standardize_dtype(v.dtype) for v in model.trainable_variables} == {
        "float32"
    }
    outputs = model({name: values[:8] for name, values in x.items()})
    for name, values in outputs.items():
        assert values.dtype == "float32" and np.isfinite(values).all(), name
    loss = np.array(model.history.history["loss"])
    assert loss[-1] < 0.8 * loss[0]
    if scaled:
        # steps were left out until the scale fitted, then training went on
        assert int(model.optimizer.iterations) > 20
        assert float(model.optimizer.dynamic_scale) >= 1


def test_clipping_sees_the_true_gradient_in_float16():
    """The limit is far below the scaled gradient and above the true one: nothing is clipped."""
    updates = []
    for clip_norm in (1e3, None):
        model = toy.model(dtype="mixed_float16")
        arguments = training.masque(
            steps=9, learning_rate=0.01, warmup_steps=1, clip_norm=clip_norm, model=model
        )
        arguments["optimizer"].initial_scale = 2.0**14
        model.compile(**arguments, run_eagerly=True)
        for x, y, weight in toy.batches(2):
            model.train_on_batch(x, y, weight)
        updates.append([np.array(w) for w in model.get_weights()])
    for clipped, free in zip(*updates, strict=True):
        np.testing.assert_array_equal(clipped, free)

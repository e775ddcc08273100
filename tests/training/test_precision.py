import numpy as np

from tests.training import toy
from tfmrc import training


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

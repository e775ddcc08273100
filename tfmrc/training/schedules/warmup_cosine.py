"""Learning rate schedule: a linear warmup, then Keras' cosine decay."""

import keras


def warmup_cosine(
    learning_rate: float, warmup_steps: int, steps: int
) -> keras.optimizers.schedules.CosineDecay:
    """Returns Keras' cosine decay to 0 after a linear rise from 0.

    Args:
        learning_rate: float. The highest rate, reached after `warmup_steps` updates.
        warmup_steps: int. Updates of the warmup.
        steps: int. Updates of the whole training, warmup included.

    Example:

    >>> from tfmrc.training.schedules.warmup_cosine import warmup_cosine
    >>> schedule = warmup_cosine(1.0, warmup_steps=4, steps=8)
    >>> [round(float(schedule(t)), 3) for t in range(9)]
    [0.0, 0.25, 0.5, 0.75, 1.0, 0.854, 0.5, 0.146, 0.0]
    """
    if warmup_steps == 0:
        return keras.optimizers.schedules.CosineDecay(float(learning_rate), steps)
    return keras.optimizers.schedules.CosineDecay(
        0.0, steps - warmup_steps, warmup_target=float(learning_rate), warmup_steps=warmup_steps
    )

"""Adamax, with averages that move once per update."""

import keras

from tfmrc.training.optimizers.averages import Averages


@keras.saving.register_keras_serializable(package="tfmrc")
class Adamax(Averages, keras.optimizers.Adamax):
    """Keras' Adamax, whose moving average of the weights follows updates and not batches.

    With `use_ema` the model has the averaged weights when `model.fit` ends, unless these are still
    more than half the weights after the first update (see `tfmrc.training.AdamW`).

    Args:
        learning_rate: float or schedule. The learning rate. Default: 0.001.
        **kwargs: Further arguments of `keras.optimizers.Adamax`.

    Example:

    >>> from tfmrc.training import Adamax
    >>> Adamax(0.002, use_ema=True, ema_momentum=0.999).ema_momentum
    0.999

    Reference: Kingma and Ba 2015.
    """

"""Gradient descent with momentum, and one gradient norm for all replicas."""

from typing import Any

import keras

from tfmrc.training.optimizers.mixin import OptimizerMixin, Rate


@keras.saving.register_keras_serializable(package="tfmrc")
class SGD(OptimizerMixin, keras.optimizers.SGD):
    """Keras' SGD, with the gradient clipped after its sum over the replicas.

    Keras clips each replica's gradient before the sum, and counts the rows of an embedding's
    gradient one by one (see `tfmrc.training.AdamW`).

    Args:
        learning_rate: float or schedule. The learning rate. Default: 0.1.
        momentum: float. Momentum. Default: 0.9.
        nesterov: bool. Whether to use Nesterov momentum. Default: True.
        clip_norm: float or None. The largest norm of the gradient; None or 0 for no clipping.
            Default: None.
        learning_rate_multipliers: dict or None. Factors of the learning rate by regular expression,
            searched in a variable's path; the first match is used. None for one rate.
            Default: None.
        **kwargs: Further arguments of `keras.optimizers.SGD`, such as
            `gradient_accumulation_steps`, whose mean is clipped.

    Example:

    >>> import keras
    >>> from tfmrc.training import SGD
    >>> weight = keras.Variable([0.0, 0.0])
    >>> optimizer = SGD(1.0, momentum=0.0, nesterov=False, clip_norm=1.0)
    >>> optimizer.apply([keras.ops.array([3.0, 4.0])], [weight])
    >>> [round(float(x), 2) for x in keras.ops.convert_to_numpy(weight)]
    [-0.6, -0.8]

    Reference: Nesterov 1983; Pascanu et al. 2013 (clipping).
    """

    def __init__(
        self,
        learning_rate: Rate = 0.1,
        momentum: float = 0.9,
        nesterov: bool = True,
        clip_norm: float | None = None,
        learning_rate_multipliers: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, momentum, nesterov, **kwargs)
        self.set_options(clip_norm, learning_rate_multipliers)

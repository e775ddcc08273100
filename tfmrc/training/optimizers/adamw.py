"""Adam with decoupled weight decay, one gradient norm for all replicas and moving averages."""

import re
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from tfmrc.ops.typing import Tensor
from tfmrc.training.optimizers import updates
from tfmrc.training.optimizers.averages import Averages
from tfmrc.training.optimizers.mixin import OptimizerMixin, Rate
from tfmrc.utils import keras_private

# The last part of a variable's path: biases, and the gain and shift of normalisation layers.
NO_DECAY = r"(^|_)(bias|gamma|beta|scale)$"


@keras.saving.register_keras_serializable(package="tfmrc")
class LeanAdam(Averages, keras.optimizers.Adam):
    """Keras' Adam with few operations: the graph of a training step is built sooner.

    What is the same for all variables is computed once per update: the corrections of the moments
    and the decay of the moving average. Each variable's update is one operation on TensorFlow
    (`tfmrc.training.optimizers.updates`).
    """

    _correction: Tensor = None
    _numbers: tuple[Any, ...] = ()

    def _backend_update_step(
        self, grads: Sequence[Tensor], trainable_variables: Sequence[Any], learning_rate: Tensor
    ) -> None:
        beta_1, beta_2 = ops.cast(self.beta_1, "float32"), ops.cast(self.beta_2, "float32")
        step = ops.cast(self.iterations + 1, "float32")
        self._correction = ops.sqrt(1 - ops.power(beta_2, step)) / (1 - ops.power(beta_1, step))
        self._numbers = beta_1, beta_2, ops.cast(self.epsilon, "float32")
        rate = ops.convert_to_tensor(learning_rate)
        super()._backend_update_step(grads, trainable_variables, rate)
        self._correction, self._numbers = None, ()  # no tensors of a graph are kept

    def update_step(self, gradient: Tensor, variable: Any, learning_rate: Tensor) -> None:
        """Updates one variable."""
        index = keras_private.index_of(self, variable)
        m, v = self._momentums[index], self._velocities[index]
        rate = ops.cast(learning_rate, "float32") * self._correction
        updates.adam(variable, m, v, gradient, rate, *self._numbers)


@keras.saving.register_keras_serializable(package="tfmrc")
class AdamW(OptimizerMixin, LeanAdam):
    """Adam, decoupled weight decay, clipping by the global norm, moving average of the weights.

    One update, with `t` counting from 1, `lr` the learning rate of this update, `n` replicas::

        g = sum over replicas of the replica's gradient     (its loss is divided by n already)
        g = mean of the g of `gradient_accumulation_steps` batches
        g = g * clip_norm / max(|g|, clip_norm)             |g| over all variables together
        p = p - lr * weight_decay * p                       not for biases and normalisation
        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g * g
        p = p - lr * sqrt(1 - beta_2^t) / (1 - beta_1^t) * m / (sqrt(v) + epsilon)
        a = ema_momentum * a + (1 - ema_momentum) * p       with `use_ema`; first a = p

    Differences from Keras' Adam with the same arguments:

    - `clip_norm` instead of `global_clipnorm`. Keras clips each replica's gradient before the
      sum, so that two replicas train differently from one. It also uses the rows of an embedding's
      look-ups: a word that occurs twice counts as two rows, not as their sum. Here gradients are
      made dense and summed over the replicas, then clipped, then divided by the number of replicas,
      because Keras sums them again.
    - Biases and the parameters of normalisation layers are never decayed. They are recognised by
      name: the last part of the variable's path matches `no_decay` (by default `bias`, `gamma`,
      `beta`, `scale`, alone or after an underscore, such as `attention_bias`). The pattern is part
      of the configuration and is saved.
    - With `use_ema` the model has the averaged weights when `model.fit` ends, as in Keras, unless
      these are still more than half the weights after the first update (a warning says so).
      `tfmrc.training.ema_weights` swaps them in before that.
    - With `gradient_accumulation_steps` clipping, decay, rates and averages are those of one update
      with the joined batch. As in Keras, a schedule counts batches. Batches of different sizes have
      the same share in the mean.
    - `learning_rate_multipliers` sets separate learning rates, for instance for a pretrained
      encoder (`tfmrc.encoders.learning_rate_multipliers`): `lr` above is then the learning rate
      times the variable's factor, also in the weight decay.

    Padding: does not apply.

    Args:
        learning_rate: float or schedule. The learning rate. Default: 0.00025.
        beta_1: float. Decay of the first moment. Default: 0.9.
        beta_2: float. Decay of the second moment. Default: 0.999.
        epsilon: float. Added to the root of the second moment (`epsilon hat` of Kingma and Ba).
            Default: 1e-08.
        weight_decay: float or None. Share of a weight, times the learning rate, that is subtracted
            at each update; None for no decay. Default: 0.01.
        clip_norm: float or None. The largest norm of the gradient; None or 0 for no clipping.
            Default: 1.0.
        no_decay: str. Regular expression, searched in the last part of a variable's path.
            Default: `"(^|_)(bias|gamma|beta|scale)$"`.
        use_ema: bool. Whether to keep the moving average. Default: False.
        ema_momentum: float. Decay of the moving average. Default: 0.9995.
        loss_scale_factor: float or None. A fixed factor of the loss, by which the gradients are
            divided before they are clipped. For float16, Keras wraps the optimizer itself.
            Default: None.
        gradient_accumulation_steps: int or None. Number of batches per update; None for one.
            Default: None.
        learning_rate_multipliers: dict or None. Factors of the learning rate by regular expression,
            searched in a variable's path; the first match is used. None for one rate.
            Default: None.
        name: str. Name of the optimizer. Default: "adamw".

    Example:

    >>> import keras
    >>> from tfmrc.training import AdamW
    >>> dense = keras.layers.Dense(2)
    >>> dense.build((None, 3))
    >>> optimizer = AdamW(0.001)
    >>> optimizer.build(dense.trainable_variables)
    >>> [variable.name for variable in optimizer.decayed]
    ['kernel']

    Reference: Kingma and Ba 2015; Loshchilov and Hutter 2017 (decoupled decay); Nishida et al.
    2019, appendix A, for the numbers.
    """

    def __init__(
        self,
        learning_rate: Rate = 2.5e-4,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float | None = 0.01,
        clip_norm: float | None = 1.0,
        no_decay: str = NO_DECAY,
        use_ema: bool = False,
        ema_momentum: float = 0.9995,
        loss_scale_factor: float | None = None,
        gradient_accumulation_steps: int | None = None,
        learning_rate_multipliers: dict[str, float] | None = None,
        name: str = "adamw",
    ) -> None:
        super().__init__(
            learning_rate=learning_rate,
            beta_1=beta_1,
            beta_2=beta_2,
            epsilon=epsilon,
            weight_decay=weight_decay,
            use_ema=use_ema,
            ema_momentum=ema_momentum,
            loss_scale_factor=loss_scale_factor,
            gradient_accumulation_steps=gradient_accumulation_steps,
            name=name,
        )
        self.no_decay = no_decay
        self.set_options(clip_norm, learning_rate_multipliers)

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Creates the moments and averages, and determines the variables that are decayed."""
        if self.built:
            return
        pattern = re.compile(self.no_decay)
        spared = [v for v in variables if pattern.search(v.path.rsplit("/", 1)[-1])]
        self.exclude_from_weight_decay(var_list=spared)
        super().build(variables)

    @property
    def decayed(self) -> list[keras.Variable]:
        """The variables that weight decay applies to, in the order of the model."""
        if self.weight_decay is None:
            return []
        variables = keras_private.optimizer_variables(self)
        return [v for v in variables if keras_private.uses_weight_decay(self, v)]

    def get_config(self) -> dict[str, Any]:
        config = super().get_config() | {"no_decay": self.no_decay}
        fixed = ("amsgrad", "clipnorm", "clipvalue", "global_clipnorm", "ema_overwrite_frequency")
        return {name: value for name, value in config.items() if name not in fixed}

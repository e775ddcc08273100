"""Answer module of SAN and its variants, which combine the predictions of all steps."""

import keras
from keras import ops

from tfmrc.layers.heads.answer_module import AnswerModule
from tfmrc.layers.regularization.dropout import ReplicaSeedGenerator
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class OneStepAnswer(AnswerModule):
    """Predicts from the first state only ("standard 1-step"). See `AnswerModule`.

    Example:
        >>> from tfmrc.layers import OneStepAnswer
        >>> OneStepAnswer().num_steps
        1

    Reference: Liu et al. 2018 (SAN), section 4 and Table 1.
    """

    def __init__(self, num_steps=1, **kwargs):
        super().__init__(num_steps=num_steps, **kwargs)

    def log_weights(self, states, training):
        return _twice(ops.zeros(sizes(states)[:2], "float32"))


@keras.saving.register_keras_serializable(package="tfmrc")
class LastStepAnswer(AnswerModule):
    """Predicts from the last state: a memory network of T steps. See `AnswerModule`.

    Example:
        >>> from tfmrc.layers import LastStepAnswer
        >>> LastStepAnswer().num_steps
        5

    Reference: Liu et al. 2018 (SAN), section 4 and Table 1.
    """

    def log_weights(self, states, training):
        size = sizes(states)[1]
        return _twice(_only(ops.full_like(states[:, 0, 0], size - 1, dtype="int32"), size))


@keras.saving.register_keras_serializable(package="tfmrc")
class AveragedAnswer(AnswerModule):
    """Averages the predictions of all steps: a memory network of T steps.

    The mean is over probabilities, computed from their logarithms. See `AnswerModule`.

    Example:
        >>> from tfmrc.layers import AveragedAnswer
        >>> AveragedAnswer(num_steps=3).num_steps
        3

    Reference: Liu et al. 2018 (SAN), equations 7 and 8 and Table 1: san-14, san-15.
    """

    def log_weights(self, states, training):
        return _twice(_mean_of(ops.ones(sizes(states)[:2], "bool")))


@keras.saving.register_keras_serializable(package="tfmrc")
class StochasticAnswer(AveragedAnswer):
    """Averages the predictions of randomly selected steps: stochastic prediction dropout.

    In training each step's prediction is dropped with probability `prediction_dropout`,
    independently for begin and end (as in the paper's example) and for each example. At least one
    random step is kept. The mean is over the remaining steps; outside training it is over all T
    steps. See `AnswerModule`.

    Args:
        num_steps: int. Number of steps T. Default: 5.
        prediction_dropout: float. Probability that the prediction of a step is dropped. Default:
            0.4.
        **kwargs: Arguments of `AnswerModule`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import StochasticAnswer
        >>> layer = StochasticAnswer(num_steps=3)
        >>> question, memory = np.ones((2, 4, 6), "float32"), np.ones((2, 5, 8), "float32")
        >>> masks = np.ones((2, 4), bool), np.ones((2, 5), bool)
        >>> print(np.round(np.exp(layer(question, memory, *masks)["begin"][0]), 4))
        [0.2 0.2 0.2 0.2 0.2]

    Reference: Liu et al. 2018 (SAN), section 2, answer module: san-09 to san-16.
    """

    def __init__(self, num_steps=5, prediction_dropout=0.4, **kwargs):
        super().__init__(num_steps=num_steps, **kwargs)
        self.prediction_dropout = prediction_dropout
        if prediction_dropout > 0:
            self.step_generator = ReplicaSeedGenerator(self.seed)

    def log_weights(self, states, training):
        if not training or not self.prediction_dropout:
            return super().log_weights(states, training)
        shape = sizes(states)[:2]
        return tuple(_mean_of(self.kept_steps(shape)) for _ in ("begin", "end"))

    def kept_steps(self, shape):
        """Returns the mask of kept steps, boolean `[B, T]`, at least one per row (san-16)."""
        chance = keras.random.uniform(shape, seed=self.step_generator)
        remaining = chance >= self.prediction_dropout
        largest = ops.equal(ops.argmax(chance, axis=1)[:, None], ops.arange(shape[1]))
        return ops.logical_or(remaining, largest)  # san-16


@keras.saving.register_keras_serializable(package="tfmrc")
class ReasoNetAnswer(AnswerModule):
    """Predicts after a learned number of steps, at most T, controlled by a termination gate.

    `g_t = sigmoid(w . s_t + b)`; the process stops after step t with probability
    `g_t prod_{i < t} (1 - g_i)`, and after step T in any case. In training the prediction is the
    mean over the steps, weighted by these probabilities. (ReasoNet samples the number of steps and
    uses a policy gradient; for at most T steps the exact sum is cheap.) Outside training the
    prediction is that of the most probable last step. See `AnswerModule`.

    Example:
        >>> from tfmrc.layers import ReasoNetAnswer
        >>> ReasoNetAnswer(num_steps=4).num_steps
        4

    Reference: Shen et al. 2017 (ReasoNet); Liu et al. 2018 (SAN), Table 1.
    """

    def build(self, question_shape, memory_shape, *mask_shapes):
        super().build(question_shape, memory_shape, *mask_shapes)
        self.termination = self.add_dense("termination", 1, question_shape[-1])

    def log_weights(self, states, training):
        gate = ops.cast(self.termination(states)[..., 0], "float32")  # [B, T]
        not_stopped = ops.cumsum(ops.log_sigmoid(-gate[:, :-1]), axis=1)
        reached = ops.concatenate([ops.zeros_like(gate[:, :1]), not_stopped], axis=1)
        stop = ops.concatenate([ops.log_sigmoid(gate[:, :-1]), ops.zeros_like(gate[:, :1])], axis=1)
        log_probability = reached + stop
        if training:
            return _twice(log_probability)
        return _twice(_only(ops.argmax(log_probability, axis=1), sizes(gate)[1]))


def _twice(weights):
    return weights, weights


def _only(step, size):
    """Returns log-weights with all weight on one step of each row."""
    selected = ops.equal(ops.cast(step, "int32")[:, None], ops.arange(size, dtype="int32"))
    return ops.where(selected, 0.0, LOG_ZERO)


def _mean_of(mask):
    """Returns equal log-weights for the steps of the mask."""
    count = ops.sum(ops.cast(mask, "float32"), axis=1, keepdims=True)
    return ops.where(mask, -ops.log(count), LOG_ZERO)

"""Distillation: a small model learns the distributions of a large one."""

import keras
from keras import ops

from tfmrc.models.base import Model
from tfmrc.models.configuration import inputs_like, renamed_copy
from tfmrc.ops.masking import LOG_ZERO, masked_log_softmax

SPAN = ("begin", "end")


@keras.saving.register_keras_serializable(package="tfmrc")
class SoftTargets(keras.layers.Layer):
    """Adds the distance of a student's distributions from a teacher's to the loss.

    `loss = weight T^2 / B sum_i KL(t_i || s_i)`, summed over begin and end, with
    `t = softmax(log P_teacher / T)` and `s = softmax(log P_student / T)` over the real positions.
    The factor `T^2` keeps the size of the gradient.

    Args:
        weight: float. Weight of the loss. Default: 1.
        temperature: float. T, above 1 for softer distributions. Default: 1.

    Call arguments:
        student: dict. `begin` and `end` `[B, n]`, log-probabilities.
        teacher: dict. The same of the teacher.

    Returns:
        `student`.
    """

    def __init__(self, weight=1.0, temperature=1.0, **kwargs):
        super().__init__(**kwargs)
        self.weight = weight
        self.temperature = temperature

    def call(self, student, teacher):
        for name in SPAN:
            mask = teacher[name] > LOG_ZERO / 2
            # A row without any position has no distribution.
            real = ops.any(mask, axis=-1)
            soft, ours = (
                masked_log_softmax(values / self.temperature, mask)
                for values in (ops.stop_gradient(teacher[name]), student[name])
            )
            distance = ops.where(mask, ops.exp(soft) * (soft - ours), 0.0)
            rows = ops.where(real, ops.sum(distance, axis=-1), 0.0)
            self.add_loss(self.weight * self.temperature**2 * ops.mean(rows))
        return student

    def get_config(self):
        return {**super().get_config(), "weight": self.weight, "temperature": self.temperature}


@keras.saving.register_keras_serializable(package="tfmrc")
class Teacher(keras.layers.Layer):
    """Reads without dropout, also within a model in training.

    A functional model hands its own `training` to every layer whose `call` takes it, and so undoes
    `model(inputs, training=False)`; this `call` does not take it.

    Args:
        model: `keras.Model`. The trained model.

    Call arguments:
        inputs: dict. The model's inputs.

    Returns:
        The model's outputs.
    """

    def __init__(self, *, model, **options):
        super().__init__(**options)
        self.model = model
        self.built = True

    def call(self, inputs):
        return self.model(inputs, training=False)

    def get_config(self):
        model = keras.saving.serialize_keras_object(self.model)
        return {**super().get_config(), "model": model}

    @classmethod
    def from_config(cls, config):
        model = keras.saving.deserialize_keras_object(config["model"])
        return cls(**{**config, "model": model})


@keras.saving.register_keras_serializable(package="tfmrc")
class Distillation(Model):
    """A span model in training with a teacher.

    Its inputs, outputs and labels are those of the student. To the student's loss it adds that of
    `SoftTargets`. The weights are shared with the student, so after `fit` the student is trained.
    The teacher is copied; it reads without dropout and is not trained. Examples without a label
    teach too. The dtype policy is that of the student.

    Args:
        student: The model to train: `tfmrc.models.ExtractiveReader` or `tfmrc.models.SAN`.
        teacher: A trained model with the same inputs; `tfmrc.models.ReaderEnsemble` and
            `tfmrc.models.SpanEnsemble` too.
        weight: float. Weight of the soft targets beside the labels. Default: 1.
        temperature: float. Temperature of both distributions. Default: 1.

    Example:
        >>> from tfmrc import encoders, models, training
        >>> student, teacher = (
        ...     models.ExtractiveReader(encoder=encoders.from_vocabulary(["owl"], num_layers=n))
        ...     for n in (1, 2))
        >>> model = training.Distillation(student=student, teacher=teacher)
        >>> model.compile(**training.extractive_reader(model=student, steps=100))
        >>> len(model.trainable_weights) == len(student.trainable_weights)
        True

    Reference: Hinton et al. 2015, section 2.
    """

    def __init__(
        self,
        *,
        student: keras.Model,
        teacher: keras.Model,
        weight: float = 1.0,
        temperature: float = 1.0,
        name: str = "distillation",
    ):
        teacher = renamed_copy(teacher, "teacher")
        teacher.trainable = False
        inputs = inputs_like(student)
        soft_targets = SoftTargets(weight, temperature, name="soft_targets", dtype="float32")
        read = Teacher(model=teacher, name="teacher", dtype=teacher.dtype_policy)(inputs)
        outputs = soft_targets(student(inputs), read)
        super().__init__(inputs=inputs, outputs=outputs, name=name)
        self.student = student
        self.teacher = teacher
        self.dtype_policy = student.dtype_policy

"""Ensemble of extractive readers: the mean of their scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
from keras import ops

from tfmrc.models.base import Model
from tfmrc.models.extractive_reader import ExtractiveReader
from tfmrc.models.span_ensemble import rebuilt
from tfmrc.ops.masking import masked_log_softmax


@keras.saving.register_keras_serializable(package="tfmrc")
class ReaderEnsemble(Model):
    """Averages the scores of several extractive readers.

    `s = 1/N sum_n s_n`, likewise for the end. Scores are averaged and not probabilities, because
    the windows and passages of a question share one softmax, which follows. The members are copied
    with their weights. All must read the same subwords.

    Args:
        members: list. `tfmrc.models.ExtractiveReader` models, or their configurations.

    Call arguments:
        Those of `tfmrc.models.ExtractiveReader`.

    Returns:
        A dict: `begin` and `end` float32 `[B, P]`, log-probabilities; `LOG_ZERO` at padding.

    Raises:
        ValueError: There is no member, one is no extractive reader, or they have different numbers
            of subwords.

    Example:
        >>> import numpy as np
        >>> from tfmrc import encoders
        >>> from tfmrc.models import ExtractiveReader, ReaderEnsemble
        >>> members = [ExtractiveReader(encoder=encoders.from_vocabulary(["owl"])) for _ in "ab"]
        >>> batch = {"encoder_ids": np.array([[2, 4, 3]]), "segment_ids": np.zeros((1, 3), int)}
        >>> mean = sum(np.array(member.scores(batch)) for member in members) / 2
        >>> bool(np.allclose(ReaderEnsemble(members).scores(batch), mean, atol=1e-6))
        True
    """

    def __init__(
        self,
        members: Sequence[ExtractiveReader | Mapping[str, Any]],
        *,
        name: str = "reader_ensemble",
        dtype: Any = None,
    ):
        given = list(members)
        self.members = [
            rebuilt(member, number, ExtractiveReader) for number, member in enumerate(given, 1)
        ]
        if not self.members:
            raise ValueError("An ensemble needs members. Received: members=[]")
        sizes = [member.encoder.backbone.token_embedding.input_dim for member in self.members]
        if len(set(sizes)) > 1:
            raise ValueError(
                "The members must read the same subwords. "
                f"Received: encoders with {', '.join(map(str, sizes))} subwords"
            )
        self._captured.members = self.members  # the copies are saved
        self.arguments.members = self.members
        first = self.members[0]
        inputs = {
            key: keras.Input(tensor.shape[1:], dtype=tensor.dtype, name=key)
            for key, tensor in first.input.items()
        }
        read = [member(inputs) for member in self.members]
        outputs = {  # a member's log-probabilities are its scores but for a constant
            each: masked_log_softmax(_mean([one[each] for one in read]), inputs["answer_mask"])
            for each in ("begin", "end")
        }
        super().__init__(inputs=inputs, outputs=outputs, name=name)
        self.dtype_policy = keras.dtype_policies.get(dtype or first.dtype_policy)

    @property
    def encoder(self):
        """The first member's encoder."""
        return self.members[0].encoder

    def scores(self, inputs):
        """Returns the mean of the members' scores, float32 `[B, P, 2]`."""
        return _mean([member.scores(inputs) for member in self.members])


def _mean(values):
    return ops.mean(ops.stack(values), axis=0)

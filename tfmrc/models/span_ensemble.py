"""Ensembles of span models: the mean of their distributions or scores."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from tfmrc.models.base import Model
from tfmrc.models.configuration import inputs_like, renamed_copy
from tfmrc.models.extractive_reader import ExtractiveReader
from tfmrc.models.san import SAN
from tfmrc.ops.masking import masked_log_softmax
from tfmrc.ops.spans import best_spans

SHARED = ("num_exact_match", "num_word_features", "num_pos", "num_ner", "tagger")


@keras.saving.register_keras_serializable(package="tfmrc")
class Ensemble(Model):
    """Reads with copies of several models, and combines their outputs.

    A subclass defines `_combined(inputs, outputs)`, with the outputs of each member.
    """

    def __init__(self, members: Sequence[Model], *, name: str, dtype: Any = None):
        self.members: Any = [
            renamed_copy(member, f"member_{number}") for number, member in enumerate(members, 1)
        ]
        first = self.members[0]
        for member in self.members:
            if _reads(member) != _reads(first):
                raise ValueError(
                    "The members must read the same ids, features and tags. "
                    f"Received: {_reads(first)} and {_reads(member)}"
                )
        self._captured.members = self.members  # the copies are saved
        self.arguments.members = self.members
        inputs = inputs_like(first)
        outputs = self._combined(inputs, [member(inputs) for member in self.members])
        super().__init__(inputs=inputs, outputs=outputs, name=name)
        self.dtype_policy = keras.dtype_policies.get(dtype or first.dtype_policy)

    @property
    def encoder(self):
        """The first member's encoder, or None."""
        return self.members[0].encoder


def _reads(member):
    """Returns what the ids and features that a member reads depend on."""
    names = ("vocabulary_size", *SHARED)
    reads = {n: getattr(member.arguments, n) for n in names if hasattr(member.arguments, n)}
    if isinstance(member, ExtractiveReader):
        reads["subwords"] = member.encoder.backbone.token_embedding.input_dim
    return {**reads, "inputs": sorted(member.input)}


@keras.saving.register_keras_serializable(package="tfmrc")
class SpanEnsemble(Ensemble):
    """Averages the begin and end probabilities of several span models.

    `P_begin = 1/N sum_n P_begin,n`, likewise `P_end`. The search for the span is that of a single
    model. The members are copied with their weights. All must read the same ids.

    Args:
        members: list. `tfmrc.models.SAN` models with the same inputs.

    Call arguments:
        Those of the members.

    Returns:
        A dict: `begin` and `end` float32 `[B, n]`, log-probabilities; `LOG_ZERO` at padding.

    Raises:
        ValueError: If their inputs differ.

    Example:
        >>> import numpy as np
        >>> from tfmrc.models import SAN, SpanEnsemble
        >>> sizes = {"vocabulary_size": 9, "word_dim": 4, "units": 2, "align_dim": 2}
        >>> one, two = (SAN(**sizes, num_exact_match=0, seed=n) for n in (1, 2))
        >>> model = SpanEnsemble([one, two])
        >>> batch = {"question_ids": np.array([[5, 6]]), "passage_ids": np.array([[6, 7, 8]])}
        >>> mean = (np.exp(one(batch)["end"]) + np.exp(two(batch)["end"])) / 2
        >>> bool(np.allclose(np.exp(model(batch)["end"]), mean, atol=1e-6))
        True

    Reference: Liu et al. 2018 (SAN), Table 2.
    """

    def __init__(self, members: Sequence[SAN], *, name: str = "span_ensemble", dtype: Any = None):
        super().__init__(members, name=name, dtype=dtype)
        for option in SHARED:
            setattr(self, option, getattr(self.members[0], option))

    def _combined(self, inputs, outputs):
        return {
            name: ops.logsumexp(ops.stack([one[name] for one in outputs]), axis=0)
            - ops.log(float(len(outputs)))
            for name in ("begin", "end")
        }

    def find(self, inputs, num_steps=None, return_steps=False):
        """Computes the outputs of `tfmrc.models.SAN.find`; the members' steps are concatenated."""
        results = [
            member.find(inputs, num_steps=num_steps, return_steps=return_steps)
            for member in self.members
        ]
        outputs = self._combined(inputs, results)
        if return_steps:
            for name in ("step_begin", "step_end", "step_weights"):
                outputs[name] = ops.concatenate([one[name] for one in results], axis=1)
            outputs["step_weights"] = outputs["step_weights"] / len(results)
        return outputs

    def spans(self, outputs, max_length=15, num_spans=1):
        """Returns the best spans of the outputs; see `tfmrc.ops.best_spans`."""
        return best_spans(outputs["begin"], outputs["end"], max_length, num_spans)


@keras.saving.register_keras_serializable(package="tfmrc")
class ReaderEnsemble(Ensemble):
    """Averages the scores of several extractive readers.

    `s = 1/N sum_n s_n`, likewise for the end. Scores are averaged and not probabilities, because
    the windows and passages of a question share one softmax, which follows. The members are copied
    with their weights. All must read the same subwords.

    Args:
        members: list. `tfmrc.models.ExtractiveReader` models.

    Call arguments:
        Those of `tfmrc.models.ExtractiveReader`.

    Returns:
        A dict: `begin` and `end` float32 `[B, P]`, log-probabilities; `LOG_ZERO` at padding.

    Raises:
        ValueError: If they have different numbers of subwords.

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
        members: Sequence[ExtractiveReader],
        *,
        name: str = "reader_ensemble",
        dtype: Any = None,
    ):
        super().__init__(members, name=name, dtype=dtype)

    def _combined(self, inputs, outputs):
        return {  # a member's log-probabilities are its scores but for a constant
            name: masked_log_softmax(
                ops.mean(ops.stack([one[name] for one in outputs]), axis=0), inputs["answer_mask"]
            )
            for name in ("begin", "end")
        }

    def scores(self, inputs):
        """Returns the mean of the members' scores, float32 `[B, P, 2]`."""
        return ops.mean(ops.stack([member.scores(inputs) for member in self.members]), axis=0)

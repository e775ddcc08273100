"""Ensemble of span models: the mean of their distributions."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
from keras import ops

from tfmrc.models.base import Model
from tfmrc.models.configuration import renamed_copy
from tfmrc.models.san import SAN
from tfmrc.ops.spans import best_spans

SHARED = ("num_exact_match", "num_word_features", "num_pos", "num_ner", "tagger")


@keras.saving.register_keras_serializable(package="tfmrc")
class SpanEnsemble(Model):
    """Averages the begin and end probabilities of several span models.

    `P_begin = 1/N sum_n P_begin,n`, likewise `P_end`. The search for the span is that of a single
    model. The members are copied with their weights. All must read the same ids.

    Args:
        members: list. `tfmrc.models.SAN` models with the same inputs, or their configurations.

    Call arguments:
        Those of the members.

    Returns:
        A dict: `begin` and `end` float32 `[B, n]`, log-probabilities; `LOG_ZERO` at padding.

    Raises:
        ValueError: If there is no member, one is no SAN, or their inputs differ.

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

    def __init__(
        self,
        members: Sequence[SAN | Mapping[str, Any]],
        *,
        name: str = "span_ensemble",
        dtype: Any = None,
    ):
        given = list(members)
        self.members = [rebuilt(member, number, SAN) for number, member in enumerate(given, 1)]
        if not self.members:
            raise ValueError("An ensemble needs members. Received: members=[]")
        first = self.members[0]
        for member in self.members[1:]:
            for option in ("vocabulary_size", *SHARED):
                values = [getattr(m.arguments, option) for m in (first, member)]
                if values[0] != values[1]:
                    raise ValueError(
                        "Members must read the same ids and tags. "
                        f"Received: {option}={values[0]!r} and {values[1]!r}"
                    )
            if set(member.input) != set(first.input):
                raise ValueError(
                    "Members must have the same inputs. "
                    f"Received: {sorted(first.input)} and {sorted(member.input)}"
                )
        self._captured.members = self.members  # the copies are saved
        self.arguments.members = self.members
        for option in SHARED:
            setattr(self, option, getattr(first, option))
        inputs = {
            key: keras.Input(tensor.shape[1:], dtype=tensor.dtype, name=key)
            for key, tensor in first.input.items()
        }
        outputs = _mean([member(inputs) for member in self.members])
        super().__init__(inputs=inputs, outputs=outputs, name=name)
        self.dtype_policy = keras.dtype_policies.get(dtype or first.dtype_policy)

    @property
    def encoder(self):
        """The first member's encoder, or None."""
        return getattr(self.members[0], "encoder", None)

    def find(self, inputs, num_steps=None, return_steps=False):
        """Computes the outputs of `tfmrc.models.SAN.find`; the members' steps are concatenated."""
        results = [
            member.find(inputs, num_steps=num_steps, return_steps=return_steps)
            for member in self.members
        ]
        outputs = _mean(results)
        if return_steps:
            for name in ("step_begin", "step_end", "step_weights"):
                outputs[name] = ops.concatenate([one[name] for one in results], axis=1)
            outputs["step_weights"] = outputs["step_weights"] / len(results)
        return outputs

    def spans(self, outputs, max_length=15, num_spans=1):
        """Returns the best spans of the outputs; see `tfmrc.ops.best_spans`."""
        return best_spans(outputs["begin"], outputs["end"], max_length, num_spans)


def rebuilt(member: Any, number: int, model_class: type[Model]) -> Any:
    """Returns a member's copy under a name of its own.

    Args:
        member: A model, or the configuration of a `model_class`.
        number: int. The number of the member, for its name.
        model_class: class. The class of a configuration.

    Raises:
        ValueError: If the member is neither.
    """
    name = f"member_{number}"
    if isinstance(member, Mapping):
        return model_class.from_config({**member, "name": name})
    if not isinstance(member, model_class):
        raise ValueError(
            f"The members must be {model_class.__name__} models. Received: {member!r:.80}"
        )
    return renamed_copy(member, name)


def _mean(distributions):
    """Returns the log of the mean of probabilities, given as logs."""
    count = float(len(distributions))
    return {
        name: ops.logsumexp(ops.stack([one[name] for one in distributions]), axis=0)
        - ops.log(count)
        for name in ("begin", "end")
    }

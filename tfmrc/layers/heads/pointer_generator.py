import functools
from typing import Any

import keras
from keras import ops

from tfmrc.layers.attention.additive_attention import AdditiveAttention
from tfmrc.layers.attention.multiplicative_attention import MultiplicativeAttention
from tfmrc.layers.base import Layer, float32_spec
from tfmrc.layers.encoders.linear import linear
from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO, masked_log_softmax
from tfmrc.ops.mixture import generation_parts, joined_distribution, target_parts
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class PointerGenerator(Layer):
    """Mixes generation with copying from several sources.

    - Generation: `P_v`, one softmax over the scores of the G common words and of the words of this
      example's sources (each at its first occurrence). PAD and BOS are never generated.
    - Copying from source i: a separate additive attention, `P_i(y) = sum_{l: x_l = y} alpha_l`.
    - Mixture: `lambda = softmax(W_m [s; c_1; ...; c_n] + b_m)`,
      `P(y) = lambda_v P_v(y) + sum_i lambda_i P_i(y)`.

    Positions with the id PAD or a prior of zero are not copied. A source without any other position
    has weight zero in the mixture, and the other weights sum to one.

    A call returns the *parts* of the distribution, a dict of float32 tensors: `log_mixture`
    `[B, T, 1 + n]` (generation first), `log_attentions` (a list of `[B, T, S_i]`),
    `common_logits` `[B, T, G]`, `source_logits` `[B, T, S]` and `log_normalizer` `[B, T]`; with
    targets also `log_parts` `[B, T, 1 + n]`, the log of each term of the mixture at the targets,
    and `log_probability` `[B, T]`, their sum. Only `distribution` builds the distribution over all
    words, for one decoding step.

    Args:
        num_sources: int. Number of sources n.
        attention_dim: int or None. Width of a multiplicative attention for copying, which compares
            states with words from the first step on; None for the additive one of the paper, which
            begins near its linear part, where the choice of a word does not depend on the state.
            Default: None.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        states: `[B, T, d]`, the decoder's output.
        memories: list of `[B, S_i, d]`, one per source.
        source_ids: `[B, S]` extended ids of all sources, concatenated, PAD where nothing can be
            copied.
        common_logits: `[B, T, G]` scores of the first G ids.
        source_logits: `[B, T, S]` scores of the sources' words.
        source_generable: boolean `[B, S]`, the source words that can be generated.
        log_priors: list of `[B, S_i]` or None, the log of the positions' prior weights (combined
            attention).
        target_ids: `[B, T]` extended ids of the targets; None for no targets.
        projected: the output of `project(memories)`; computed here if None.

    Returns:
        The parts, as above.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import PointerGenerator
        >>> states, memory = np.ones((1, 2, 4), "float32"), np.ones((1, 3, 4), "float32")
        >>> parts = PointerGenerator(num_sources=1)(
        ...     states, [memory], source_ids=np.array([[7, 9, 7]]),
        ...     common_logits=np.zeros((1, 2, 7), "float32"),
        ...     source_logits=np.zeros((1, 2, 3), "float32"),
        ...     source_generable=np.array([[True, True, False]]), target_ids=np.array([[7, 3]]),
        ... )
        >>> tuple(parts["log_probability"].shape)
        (1, 2)

    Reference: Nishida et al. 2019 (Masque), sections 3.4.3 and 3.4.4, masque-13, masque-17 to
    masque-20.
    """

    AXES = {"states": "B T d", "common_logits": "B T G", "source_logits": "B T S"}

    def __init__(self, num_sources, attention_dim=None, initializer=0.02, **kwargs):
        super().__init__(autocast=False, **kwargs)  # log-probabilities stay float32
        self.num_sources = num_sources
        options = {"initializer": initializer, "dtype": self.dtype_policy}
        attention: Any = AdditiveAttention
        if attention_dim is not None:
            attention = functools.partial(MultiplicativeAttention, attention_dim, autocast=False)
        self.attentions = [
            attention(name=f"copy_attention_{i}", **options) for i in range(num_sources)
        ]
        self.mixture = linear(1 + num_sources, name="mixture", **options)

    def build(self, states_shape, memories_shape):
        for attention, shape in zip(self.attentions, memories_shape, strict=True):
            attention.build(states_shape, shape)
        width = states_shape[-1] + sum(shape[-1] for shape in memories_shape)
        self.mixture.build((*states_shape[:-1], width))

    def project(self, memories):
        """Returns the part of each copy attention that is the same at every step."""
        return [
            attention.project(memory)
            for attention, memory in zip(self.attentions, memories, strict=True)
        ]

    def call(
        self,
        states,
        memories,
        source_ids,
        common_logits,
        source_logits,
        source_generable,
        log_priors=None,
        target_ids=None,
        projected=None,
    ):
        states = ops.cast(states, self.compute_dtype)
        log_priors = log_priors or [None] * self.num_sources
        projected = self.project(memories) if projected is None else projected
        ids = self._by_source(source_ids, memories)
        masks = [_copyable(i, prior) for i, prior in zip(ids, log_priors, strict=True)]
        log_attentions, contexts = [], []
        for attention, memory, mask, prior, fixed in zip(
            self.attentions, memories, masks, log_priors, projected, strict=True
        ):
            log_weights, context = attention(states, memory, mask, log_prior=prior, projected=fixed)
            log_attentions.append(log_weights)  # [B, T, S_i]
            contexts.append(context)  # [B, T, d]
        parts = {
            "log_mixture": self._mix(states, contexts, masks),
            "log_attentions": log_attentions,
            **generation_parts(common_logits, source_logits, source_generable),
        }
        if target_ids is not None:
            parts |= target_parts(parts, target_ids, ids)
        return parts

    def compute_output_spec(
        self,
        states,
        memories,
        source_ids,
        common_logits,
        source_logits,
        source_generable,
        log_priors=None,
        target_ids=None,
        projected=None,
    ):
        # Declared explicitly: shape inference assigns one placeholder to every unknown dimension,
        # which is wrong for S = S_1 + S_2.
        spec = functools.partial(float32_spec, states)
        parts = {
            "log_mixture": spec(1 + self.num_sources),
            "log_attentions": [spec(memory.shape[1]) for memory in memories],
            "common_logits": spec(common_logits.shape[-1]),
            "source_logits": spec(source_logits.shape[-1]),
            "log_normalizer": spec(),
        }
        if target_ids is not None:
            parts |= {"log_parts": spec(1 + self.num_sources), "log_probability": spec()}
        return parts

    def distribution(self, parts, source_ids):
        """Returns `log P` over all extended ids for one decoding step.

        Args:
            parts: the output of a call for the beams of one step, `[B, W, ...]`.
            source_ids: `[B, S]`, as in the call.

        Returns:
            `[B, W, G + S]`, `LOG_ZERO` where a word is impossible.
        """
        return joined_distribution(parts, source_ids)

    def _by_source(self, source_ids, memories):
        """Splits `[B, S]` to a list of `[B, S_i]`."""
        ids, start = [], 0
        for memory in memories:
            length = sizes(memory)[1]
            ids.append(source_ids[:, start : start + length])
            start = start + length
        return ids

    def _mix(self, states, contexts, masks):
        scores = self.mixture(ops.concatenate([states, *contexts], axis=-1))  # [B, T, 1 + n]
        nonempty = [ops.any(mask, axis=1, keepdims=True) for mask in masks]  # n times [B, 1]
        usable = ops.concatenate([ops.ones_like(nonempty[0]), *nonempty], axis=1)
        return masked_log_softmax(scores, usable[:, None, :])  # masque-20


def _copyable(ids, log_prior):
    """Returns the positions of words whose prior is not zero."""
    words = ops.not_equal(ids, PAD)
    return words if log_prior is None else ops.logical_and(words, log_prior > LOG_ZERO / 2)

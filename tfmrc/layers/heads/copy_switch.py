"""Switch between generating a word and copying it from one source."""

import functools

import keras
from keras import ops

from tfmrc.layers.base import Layer, float32_spec
from tfmrc.layers.encoders.linear import linear
from tfmrc.ops.ids import PAD, UNK
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.ops.mixture import generation_parts, joined_distribution, target_parts


@keras.saving.register_keras_serializable(package="tfmrc")
class CopySwitch(Layer):
    """Mixes generation and copying for one source with given attention and word scores.

    `lambda = sigmoid([folded; previous] W + b)`,
    `P(y) = lambda P_vocab(y) + (1 - lambda) sum_{s: x_s = y} a_s`, with `P_vocab` the softmax of
    the scores of the G common words. All other words can only be copied. PAD and BOS are never
    generated.

    If the source is empty, nothing is copied and lambda is 1.

    A call returns the parts of `tfmrc.ops.mixture`; with targets also `log_parts` `[B, T, 2]` and
    `log_probability` `[B, T]`. Only `distribution` builds the distribution over all words.

    Args:
        copy: bool. Whether to copy. If False, a target that is only in the source becomes UNK.
            Default: True.
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one, None Glorot uniform. Default: None.

    Call arguments:
        folded: `[B, T, d]`, the output of the attention.
        previous: `[B, T, e]`, the previous words.
        common_logits: `[B, T, G]`.
        log_attention: `[B, T, S]` log of the attention over the source.
        source_ids: int `[B, S]` extended ids, PAD at padding.
        target_ids: int `[B, T]` extended ids of the targets; None for no targets.

    Returns:
        The parts, a dict of float32 tensors.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import CopySwitch
        >>> x = np.ones((1, 2, 4), "float32")
        >>> parts = CopySwitch()(
        ...     x, x, np.zeros((1, 2, 6), "float32"), np.log(np.full((1, 2, 3), 1 / 3, "float32")),
        ...     source_ids=np.array([[6, 5, 6]]), target_ids=np.array([[6, 3]]),
        ... )
        >>> tuple(parts["log_probability"].shape)
        (1, 2)

    Reference: Xiao et al. 2018 (DAANET), output layer, daanet-12, daanet-13 and daanet-14.
    """

    AXES = {"folded": "B T d", "previous": "B T e", "log_attention": "B T S", "source_ids": "B S"}

    def __init__(self, copy=True, initializer=None, **kwargs):
        super().__init__(autocast=False, **kwargs)  # log-probabilities stay float32
        self.copy = copy
        if copy:
            self.switch = linear(1, initializer=initializer, name="switch", dtype=self.dtype_policy)

    def build(self, folded_shape, previous_shape):
        if self.copy:
            self.switch.build((*folded_shape[:-1], folded_shape[-1] + previous_shape[-1]))

    def call(self, folded, previous, common_logits, log_attention, source_ids, target_ids=None):
        folded, previous = (ops.cast(x, self.compute_dtype) for x in (folded, previous))
        parts = {"log_attentions": [log_attention], **generation_parts(common_logits)}
        none = ops.zeros_like(parts["log_normalizer"])
        if self.copy:
            score = self.switch(ops.concatenate([folded, previous], axis=-1))[..., 0]
            score = ops.cast(score, "float32")
            some = ops.any(ops.not_equal(source_ids, PAD), axis=1, keepdims=True)  # [B, 1]
            generate = ops.where(some, ops.log_sigmoid(score), none)  # daanet-13
            copy = ops.where(some, ops.log_sigmoid(-score), LOG_ZERO)
        else:
            generate, copy = none, none + LOG_ZERO
        parts["log_mixture"] = ops.stack([generate, copy], axis=-1)
        if target_ids is not None:
            if not self.copy:
                target_ids = ops.where(target_ids < common_logits.shape[-1], target_ids, UNK)
            parts |= target_parts(parts, target_ids, [source_ids])
        return parts

    def compute_output_spec(
        self, folded, previous, common_logits, log_attention, source_ids, target_ids=None
    ):
        spec = functools.partial(float32_spec, folded)
        parts = {
            "log_attentions": [spec(log_attention.shape[-1])],
            "common_logits": spec(common_logits.shape[-1]),
            "log_normalizer": spec(),
            "log_mixture": spec(2),
        }
        if target_ids is not None:
            parts |= {"log_parts": spec(2), "log_probability": spec()}
        return parts

    def distribution(self, parts, source_ids):
        """Returns `log P` `[B, W, G + S]` over all extended ids for one decoding step.

        Args:
            parts: the output of a call for the beams of one step, `[B, W, ...]`.
            source_ids: `[B, S]`, as in the call.
        """
        return joined_distribution(parts, source_ids)

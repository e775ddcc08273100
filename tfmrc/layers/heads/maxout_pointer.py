import functools

import keras
from keras import ops

from tfmrc.layers.base import Layer, float32_spec
from tfmrc.ops.copying import scatter_copies
from tfmrc.ops.gradients import custom_gradient
from tfmrc.ops.ids import BOS, PAD
from tfmrc.ops.masking import LOG_ZERO, masked_logsumexp
from tfmrc.ops.sizes import sizes
from tfmrc.ops.words import first_positions, is_first, scores_of_targets, scores_of_words


@keras.saving.register_keras_serializable(package="tfmrc")
class MaxoutPointer(Layer):
    """Computes one softmax over words to generate and words to copy.

    The raw attention scores `r` are the copy scores. A word that occurs several times in the source
    gets the maximum (`combine="max"`, the maxout pointer) or the sum (`combine="sum"`, the basic
    copy mechanism) of its scores. Then

        log P(y) = logaddexp(gen[y], copy[y]) - logsumexp(all gen, all distinct copy words)

    where `gen[y]` is minus infinity for words that cannot be generated, and `copy[y]` for words
    that are not in the source. PAD and BOS are never generated. Without scores (`combine=None`)
    this is the softmax of the generator.

    A call returns the *parts* of the distribution, a dict of float32 tensors: `logits` `[B, T, G]`,
    `copy_scores` `[B, T, M]` (a word's score at its first position, `LOG_ZERO` elsewhere) and
    `log_normalizer` `[B, T]`; with targets also `log_parts` `[B, T, 2]`, the log-probabilities of
    generating and of copying the target, and `log_probability` `[B, T]`, their sum. Only
    `distribution` builds the distribution over all words, for one decoding step.

    Args:
        combine: str. "max", "sum", or None for no copying. Default: "max".

    Call arguments:
        logits: `[B, T, G]` scores of the generable words.
        scores: `[B, T, M]` raw scores of the source's positions; None without copying.
        source_ids: int `[B, M]` extended ids, PAD where nothing can be copied; None without
            copying.
        target_ids: int `[B, T]` extended ids of the targets; None for no targets.
        positions: int `[B, M]`, the output of `tfmrc.ops.first_positions(source_ids)`; computed
            here if None.

    Returns:
        The parts, as above.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import MaxoutPointer
        >>> scores = np.log([[[1.0, 3.0, 2.0]]]).astype("float32")
        >>> parts = MaxoutPointer("max")(
        ...     np.zeros((1, 1, 6), "float32"), scores, np.array([[5, 8, 5]]), np.array([[5]])
        ... )
        >>> print(np.round(np.exp(parts["log_probability"]), 4))  # (1 + 2) / (4 + 2 + 3)
        [[0.3333]]

    Reference: Zhao et al. 2018, section 2.3, qg-08, qg-13, qg-14.
    """

    def __init__(self, combine="max", **kwargs):
        super().__init__(autocast=False, **kwargs)  # scores stay float32
        self.combine = combine
        self.built = True

    def call(self, logits, scores=None, source_ids=None, target_ids=None, positions=None):
        rows = ops.arange(logits.shape[-1])
        never = ops.logical_or(ops.equal(rows, PAD), ops.equal(rows, BOS))
        logits = ops.cast(logits, "float32") + ops.where(never, LOG_ZERO, 0.0)
        parts = {"logits": logits, "log_normalizer": _logsumexp(logits)}  # qg-08
        if self.combine is not None:
            scores = ops.cast(scores, "float32")
            positions = first_positions(source_ids) if positions is None else positions
            copy_scores = scores_of_words(scores, source_ids, self.combine, positions)
            mask = is_first(source_ids, positions)[:, None, :]
            parts["copy_scores"] = copy_scores
            parts["log_normalizer"] = ops.logaddexp(
                parts["log_normalizer"], masked_logsumexp(copy_scores, mask)
            )
        if target_ids is not None:
            log_parts = self._log_parts(parts, scores, source_ids, target_ids)
            parts["log_parts"] = log_parts
            parts["log_probability"] = ops.maximum(masked_logsumexp(log_parts), LOG_ZERO)
        return parts

    def _log_parts(self, parts, scores, source_ids, target_ids):
        size = parts["logits"].shape[-1]
        target_ids = ops.cast(target_ids, "int32")
        position = ops.clip(target_ids, 0, size - 1)[..., None]
        generated = ops.take_along_axis(parts["logits"], position, axis=-1)[..., 0]
        generated = ops.where(target_ids < size, generated, LOG_ZERO)
        if self.combine is None:
            copied = ops.full_like(generated, LOG_ZERO)
        else:
            copied = scores_of_targets(scores, source_ids, target_ids, self.combine)
        both = ops.stack([generated, copied], axis=-1)
        impossible = both <= LOG_ZERO / 2
        return ops.where(impossible, LOG_ZERO, both - parts["log_normalizer"][..., None])

    def distribution(self, parts, source_ids, positions=None):
        """Returns `log P` over all extended ids for one decoding step.

        Args:
            parts: the output of a call for the beams of one step, `[B, W, ...]`.
            source_ids: `[B, M]` extended ids.
            positions: as in the call. Default: None.

        Returns:
            `[B, W, G + M]`, `LOG_ZERO` where a word is impossible.
        """
        size = sizes(parts["logits"])[-1] + sizes(source_ids)[1]
        log_normalizer = parts["log_normalizer"][..., None]
        total = ops.exp(parts["logits"] - log_normalizer)
        total = ops.pad(total, [[0, 0], [0, 0], [0, sizes(source_ids)[1]]])
        if self.combine is not None:
            copied = ops.exp(parts["copy_scores"] - log_normalizer)
            first = ops.where(is_first(source_ids, positions), source_ids, PAD)
            total = total + scatter_copies(copied, first, size)
        return ops.where(total > 0, ops.log(ops.where(total > 0, total, 1.0)), LOG_ZERO)

    def compute_output_spec(
        self, logits, scores=None, source_ids=None, target_ids=None, positions=None
    ):
        # Declared explicitly: shape inference cannot handle segments of unknown sizes.
        spec = functools.partial(float32_spec, logits)
        parts = {"logits": spec(logits.shape[-1]), "log_normalizer": spec()}
        if self.combine is not None:
            parts["copy_scores"] = spec(source_ids.shape[1])
        if target_ids is not None:
            parts |= {"log_parts": spec(2), "log_probability": spec()}
        return parts


@custom_gradient
def _logsumexp(x):
    """Computes `logsumexp` over the last axis; its gradient stores no tensor of the size of `x`."""
    result = ops.logsumexp(x, axis=-1)

    def gradient(*upstream, **_):
        return ops.expand_dims(upstream[0], -1) * ops.exp(x - result[..., None])

    return result, gradient

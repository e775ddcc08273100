"""Mixtures of generation and copying: terms of a word's probability and the joint distribution.

The *parts* of a pointer-generator are a dict of float32 tensors: `log_mixture` `[B, T, 1 + n]`, the
log-weights of generation and of n sources; `log_attentions`, a list of `[B, T, S_i]`; and the
output of `generation_parts`. Ids are extended ids (see `tfmrc.text`).
"""

from keras import ops

from tfmrc.ops.copying import copy_log_probability, scatter_copies
from tfmrc.ops.ids import BOS, PAD
from tfmrc.ops.masking import LOG_ZERO, masked_logsumexp
from tfmrc.ops.sizes import sizes


def generation_parts(common_logits, source_logits=None, source_generable=None):
    """Returns the scores of the words that can be generated; PAD and BOS cannot.

    Args:
        common_logits: `[B, T, G]` scores of the first G ids.
        source_logits: `[B, T, S]` scores of the sources' words; None if they can only be copied.
            Default: None.
        source_generable: boolean `[B, S]`, the source words that can be generated. Default: None.

    Returns:
        A dict: `common_logits`, `source_logits` if given, and `log_normalizer` `[B, T]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.ops.mixture import generation_parts
        >>> parts = generation_parts(np.zeros((1, 1, 6), "float32"))
        >>> print(np.round(np.exp(parts["log_normalizer"]), 3))  # six ids without PAD and BOS
        [[4.]]
    """
    rows = ops.arange(common_logits.shape[-1])
    never = ops.logical_or(ops.equal(rows, PAD), ops.equal(rows, BOS))
    common = ops.where(never, LOG_ZERO, ops.cast(common_logits, "float32"))
    if source_logits is None:
        log_normalizer = ops.logsumexp(common, axis=-1)  # daanet-11
        return {"common_logits": common, "log_normalizer": log_normalizer}
    generable = source_generable[:, None, :]
    source = ops.where(generable, ops.cast(source_logits, "float32"), LOG_ZERO)
    # masque-13: one softmax over common and source words.
    normalizer = ops.logaddexp(ops.logsumexp(common, axis=-1), masked_logsumexp(source, generable))
    return {"common_logits": common, "source_logits": source, "log_normalizer": normalizer}


def target_parts(parts, target_ids, source_ids):
    """Returns the terms of the mixture at the targets, without a distribution over all words.

    Args:
        parts: dict of the parts (see above).
        target_ids: int `[B, T]` extended ids.
        source_ids: list of `[B, S_i]`, the sources' extended ids.

    Returns:
        A dict: `log_parts` `[B, T, 1 + n]` and `log_probability` `[B, T]`, the log of their sum.

    Reference: masque-19, daanet-14.
    """
    target_ids = ops.cast(target_ids, "int32")
    num_common = parts["common_logits"].shape[-1]
    common = _gather(parts["common_logits"], target_ids)
    source = LOG_ZERO
    if "source_logits" in parts:
        source = _gather(parts["source_logits"], target_ids - num_common)
    logits = ops.where(target_ids < num_common, common, source)
    terms = [ops.maximum(logits - parts["log_normalizer"], LOG_ZERO)]
    terms += [
        copy_log_probability(log_attention, ids, target_ids)
        for log_attention, ids in zip(parts["log_attentions"], source_ids, strict=True)
    ]
    log_parts = parts["log_mixture"] + ops.stack(terms, axis=-1)  # masque-19, daanet-14
    return {
        "log_parts": log_parts,
        "log_probability": ops.maximum(masked_logsumexp(log_parts), LOG_ZERO),
    }


def joined_distribution(parts, source_ids):
    """Returns `log P` over all extended ids for one decoding step.

    Args:
        parts: dict of the parts (see above) for the beams of one step, `[B, W, ...]`.
        source_ids: int `[B, S]`, all sources concatenated.

    Returns:
        `[B, W, G + S]`, `LOG_ZERO` where a word is impossible.
    """
    logits = parts["common_logits"]
    source_logits = parts.get("source_logits")
    if source_logits is None:
        batch, width, _ = sizes(logits)
        source_logits = ops.full((batch, width, sizes(source_ids)[1]), LOG_ZERO, "float32")
    logits = ops.concatenate([logits, source_logits], axis=-1)
    mixture = ops.exp(parts["log_mixture"])
    total = mixture[..., :1] * ops.exp(logits - parts["log_normalizer"][..., None])
    # All sources at once: their positions concatenated and weighted by their source's share.
    attention = ops.concatenate(
        [
            mixture[..., i + 1 : i + 2] * ops.exp(log_attention)
            for i, log_attention in enumerate(parts["log_attentions"])
        ],
        axis=-1,
    )
    total = total + scatter_copies(attention, source_ids, sizes(logits)[-1])
    return ops.where(total > 0, ops.log(ops.where(total > 0, total, 1.0)), LOG_ZERO)


def _gather(values, positions):
    """Returns `values[b, t, positions[b, t]]`; positions are clipped to the valid range."""
    positions = ops.clip(positions, 0, sizes(values)[-1] - 1)
    return ops.take_along_axis(values, positions[..., None], axis=-1)[..., 0]

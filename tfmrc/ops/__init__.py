"""Tensor functions on `keras.ops`: masking, similarity, copying and ids of special words."""

from tfmrc.ops.copying import copy_log_probability, scatter_copies
from tfmrc.ops.coverage import coverage_overlap
from tfmrc.ops.ids import BOS, EOS, NUM_SPECIAL, PAD, UNK
from tfmrc.ops.masking import (
    LOG_ZERO,
    masked_log_softmax,
    masked_logsumexp,
    masked_max,
    masked_softmax,
)
from tfmrc.ops.maxout import maxout
from tfmrc.ops.mixture import generation_parts, joined_distribution, target_parts
from tfmrc.ops.positions import sinusoid
from tfmrc.ops.similarity import trilinear_similarity
from tfmrc.ops.spans import best_spans
from tfmrc.ops.words import first_positions, is_first, scores_of_targets, scores_of_words

"""Inputs and targets of a decoder."""

import tensorflow as tf

from tfmrc.ops.ids import BOS, EOS
from tfmrc.preprocessing.base import Preprocessor
from tfmrc.text.extended_ids import target_extended_ids
from tfmrc.text.layout import FlatTokens, longest, spread


def decoder_targets(
    preprocessor: Preprocessor, tokens: FlatTokens, length: int, source: dict[str, tf.Tensor]
) -> dict[str, tf.Tensor]:
    """Returns decoder inputs and extended target ids of answers or questions to generate.

    Args:
        preprocessor: `Preprocessor`. Its vocabulary and the generable part of it.
        tokens: `FlatTokens` of B texts, N words.
        length: int. Largest number of words of a text, before `EOS`.
        source: dict. `extended_ids` int32 `[B, S]` and `compared` string `[B, S]`.

    Returns:
        `answer_ids` and `target_ids`, int32 `[B, T]`; see `MasquePreprocessor.target`. And
        `answer_words` string `[B, T]`, the surfaces of `answer_ids`, "" where no word is.
    """
    shape = (tf.size(tokens.lengths), longest(tokens.lengths + 1, length + 1))  # B, T
    input_ids = preprocessor.vocabulary.lookup(tokens.compared)  # [N]
    extended_ids = target_extended_ids(
        input_ids,
        tokens.compared,
        tokens.row,
        source["extended_ids"],
        source["compared"],
        preprocessor.generation_vocabulary_size,
    )  # [N]
    begins = tf.one_hot(tf.zeros_like(tokens.lengths), shape[1], dtype=tf.int32) * BOS  # [B, T]
    ends = tf.one_hot(tokens.lengths, shape[1], dtype=tf.int32) * EOS  # [B, T]
    return {
        "answer_words": spread(tokens.surface, tokens.row, tokens.position + 1, shape),
        "answer_ids": spread(input_ids, tokens.row, tokens.position + 1, shape) + begins,
        "target_ids": spread(extended_ids, tokens.row, tokens.position, shape) + ends,
    }

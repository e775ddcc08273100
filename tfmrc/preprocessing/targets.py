"""Inputs and targets of a decoder."""

import tensorflow as tf

from tfmrc.ops.ids import BOS, EOS
from tfmrc.text.extended_ids import target_extended_ids
from tfmrc.text.layout import cut_rows, longest, spread
from tfmrc.text.vocabulary import Vocabulary
from tfmrc.text.words.tokenizer import Tokenizer


def decoder_targets(
    tokenizer: Tokenizer,
    vocabulary: Vocabulary,
    text: tf.Tensor,
    source_extended_ids: tf.Tensor,
    source_words: tf.Tensor,
    length: int,
    generation_vocabulary_size: int,
) -> dict[str, tf.Tensor]:
    """Returns decoder inputs and extended target ids of answers or questions to generate.

    Args:
        tokenizer: `Tokenizer`.
        vocabulary: `Vocabulary`. Maps words to input ids.
        text: string `[B]`.
        source_extended_ids: int32 `[B, S]`.
        source_words: string `[B, S]`, in compared form.
        length: int. Largest number of words, before `EOS`.
        generation_vocabulary_size: int. G.

    Returns:
        `answer_ids` and `target_ids`, int32 `[B, T]`; see `MasquePreprocessor.target`. And
        `answer_words` string `[B, T]`, the surfaces of `answer_ids`, "" where no word is.
    """
    result = tokenizer.tokenize(text)
    tokens = cut_rows(result, tf.fill([result.starts.nrows(tf.int32)], length))
    rows = tf.range(tf.size(tokens.lengths))
    shape = (tf.size(rows), longest(tokens.lengths + 1, length + 1))
    input_ids = vocabulary.lookup(tokens.compared)
    extended_ids = target_extended_ids(
        input_ids,
        tokens.compared,
        tokens.row,
        source_extended_ids,
        source_words,
        generation_vocabulary_size,
    )
    begins = tf.one_hot(tf.zeros_like(rows), shape[1], dtype=tf.int32) * BOS
    ends = tf.one_hot(tokens.lengths, shape[1], dtype=tf.int32) * EOS
    return {
        "answer_words": spread(tokens.surface, tokens.row, tokens.position + 1, shape),
        "answer_ids": spread(input_ids, tokens.row, tokens.position + 1, shape) + begins,
        "target_ids": spread(extended_ids, tokens.row, tokens.position, shape) + ends,
    }

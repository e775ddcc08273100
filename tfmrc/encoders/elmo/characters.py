"""Character ids of words for ELMo, by graph operations."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tfmrc.encoders.elmo.elmo import (
    MAX_CHARACTERS,
    PADDING,
    SENTENCE_BEGIN,
    SENTENCE_END,
    WORD_BEGIN,
    WORD_END,
    boundary,
)
from tfmrc.ops.ids import BOS, EOS, NUM_SPECIAL, UNK
from tfmrc.text.typing import TensorLike

UNKNOWN = "<UNK>"  # the spelling of an unknown word in the authors' code


def elmo_character_ids(words: TensorLike) -> tf.Tensor:
    """Returns the character ids of words in the scheme of ELMo's authors.

    A word is encoded as its begin (259), at most 48 UTF-8 bytes plus 1, its end (260), and padding
    (261). These are the authors' ids plus 1, with 0 for masking. The scheme is case-sensitive, so
    words must have their original spelling.

    Args:
        words: string `[...]`; "" is padding.

    Returns:
        int32 `[..., 50]`, zeros at padding.

    Example:
        >>> from tfmrc.encoders import elmo_character_ids
        >>> elmo_character_ids(["Été", ""])[:, :9].numpy()
        array([[259, 196, 138, 117, 196, 170, 260, 261, 261],
               [  0,   0,   0,   0,   0,   0,   0,   0,   0]], dtype=int32)

    Reference: Peters et al. 2018; the classes `UnicodeCharsVocabulary` and `Batcher` of their code.
    """
    words = tf.convert_to_tensor(words, tf.string)
    most = MAX_CHARACTERS - 2
    flat = tf.reshape(words, [-1])  # [N]
    # A byte is appended, because the operation rejects tensors of empty strings only.
    content = tf.io.decode_raw(flat + " ", tf.uint8, fixed_length=MAX_CHARACTERS)  # [N, 50]
    length = tf.minimum(tf.strings.length(flat), most)[:, None]
    position = tf.range(MAX_CHARACTERS - 1)[None]
    ids = tf.cast(content, tf.int32)[:, :-1] + 1
    ids = tf.where(position < length, ids, tf.where(position == length, WORD_END, PADDING))
    ids = tf.pad(ids, [[0, 0], [1, 0]], constant_values=WORD_BEGIN)  # [N, 50]
    ids = tf.where(length > 0, ids, 0)
    return tf.reshape(ids, tf.concat([tf.shape(words), [MAX_CHARACTERS]], axis=0))


def elmo_generable_characters(words: Sequence[str]) -> tf.Tensor:
    """Returns the character ids of the words that a decoder can generate.

    At each step a decoder looks up the characters of its previous word in this table or, for a
    copied word, in the source.

    Args:
        words: sequence of str. The generable words by id, the four special words first
            (`vocabulary.words[:generation_vocabulary_size]`).

    Returns:
        int32 `[G, 50]`. PAD is masked, BOS and EOS are the sentence boundaries, and UNK is spelled
        `<UNK>`, as in the authors' code.

    Example:
        >>> from tfmrc.encoders import elmo_generable_characters
        >>> words = ["[PAD]", "[UNK]", "[BOS]", "[EOS]", "owl"]
        >>> elmo_generable_characters(words)[:, :3].numpy()
        array([[  0,   0,   0],
               [259,  61,  86],
               [259, 257, 260],
               [259, 258, 260],
               [259, 112, 120]], dtype=int32)
    """
    special = [""] * NUM_SPECIAL
    special[UNK] = UNKNOWN
    ids = elmo_character_ids([*special, *words[NUM_SPECIAL:]])
    rows = np.stack([boundary(SENTENCE_BEGIN), boundary(SENTENCE_END)])
    return tf.tensor_scatter_nd_update(ids, [[BOS], [EOS]], rows)

"""The source of each word of an answer."""

import tensorflow as tf

from tfmrc.ops.ids import PAD
from tfmrc.predictors.results.generated import SOURCES


def provenance(
    ids: tf.Tensor, parts: dict[str, tf.Tensor], source: dict[str, tf.Tensor]
) -> dict[str, tf.Tensor]:
    """Returns for every word its kind of source and, if it was copied, its position.

    The kind is the largest of the three terms that add up to the word's probability (masque-19):
    `lambda_v P_v(y)`, `lambda_q P_q(y)`, `lambda_p P_p(y)`. The position is the one with the
    largest copy attention among those of that source where the word occurs. Padding has the kind
    "vocabulary" and positions -1.

    Args:
        ids: int `[B, T]`. Extended ids of the answer.
        parts: dict. `mixture` and `log_parts` `[B, T, 3]`, `question_attention` `[B, T, J]`,
            `passage_attention` `[B, T, K * L]` of these ids, from the model.
        source: dict. Outputs of `preprocessor.source`: `question_ids` `[B, J]`, `passage_ids`
            `[B, K, L]`, and `[B, J + K * L]` each: `extended_ids`, `starts`, `ends` and `words`,
            the words as the question or passage writes them.

    Returns:
        A dict: `sources` and `source_texts` string `[B, T]`; `word_passages`, `word_starts` and
        `word_ends` int32 `[B, T]`, -1 where they mean nothing; `mixture` float32 `[B, T, 3]`.
    """
    question_length = tf.shape(source["question_ids"])[1]
    passage_length = tf.shape(source["passage_ids"])[2]
    attention = tf.concat([parts["question_attention"], parts["passage_attention"]], axis=-1)
    kind = tf.argmax(parts["log_parts"], axis=-1, output_type=tf.int32)
    kind = tf.where(ids == PAD, 0, kind)

    same = ids[:, :, None] == source["extended_ids"][:, None, :]
    in_passages = tf.range(tf.shape(attention)[-1]) >= question_length
    eligible = same & (in_passages == (kind == 2)[:, :, None])
    attention = tf.where(eligible, tf.cast(attention, tf.float32), -1.0)
    position = tf.argmax(attention, axis=-1, output_type=tf.int32)
    copied = kind > 0

    def at(values: tf.Tensor, fill: int | str) -> tf.Tensor:
        return tf.where(copied, tf.gather(values, position, batch_dims=1), fill)

    return {
        "sources": tf.gather(tf.constant(SOURCES), kind),
        "source_texts": at(source["words"], ""),
        "word_passages": tf.where(kind == 2, (position - question_length) // passage_length, -1),
        "word_starts": at(source["starts"], -1),
        "word_ends": at(source["ends"], -1),
        "mixture": tf.cast(parts["mixture"], tf.float32),
    }


def common_passage(passages: tf.Tensor, real: tf.Tensor) -> tf.Tensor:
    """Returns the passage that all words of a text were copied from, -1 if there is none.

    Args:
        passages: int32 `[B, T]`. The passage of each word, -1 for none.
        real: bool `[B, T]`. Which words there are.

    Returns:
        int32 `[B]`.

    Example:

    >>> from tfmrc.predictors.results.provenance import common_passage
    >>> common_passage([[1, 1, -1], [1, 0, 1], [1, -1, 1]], [[True, True, False]] * 3).numpy()
    array([ 1, -1, -1], dtype=int32)
    """
    lowest = tf.reduce_min(tf.where(real, passages, tf.int32.max), axis=1)
    highest = tf.reduce_max(tf.where(real, passages, -1), axis=1)
    return tf.where(lowest == highest, lowest, -1)

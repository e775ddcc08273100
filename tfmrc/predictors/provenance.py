"""Where each word of an answer came from."""

import tensorflow as tf

from tfmrc.ops.ids import PAD
from tfmrc.predictors.answer import SOURCES

__all__ = ["provenance"]


def provenance(
    ids: tf.Tensor,
    parts: dict[str, tf.Tensor],
    source: dict[str, tf.Tensor],
) -> dict[str, tf.Tensor]:
    """Finds for every word its kind of source and, if it was copied, the place.

    The kind is the largest of the three terms that add up to the word's probability (masque-19):
    `lambda_v P_v(y)`, `lambda_q P_q(y)`, `lambda_p P_p(y)`. The place is the one with the largest
    copy attention among the places of that source where the word stands. Nothing is found at
    padding: kind "vocabulary" and places -1.

    Args:
        ids: int `[B, T]`, extended ids of the answer.
        parts: what `model.explain` returns for them: `mixture` and `log_parts` `[B, T, 3]`,
            `question_attention [B, T, J]`, `passage_attention [B, T, K * L]`.
        source: what `preprocessor.source` returned: `question_ids [B, J]`, `passage_ids [B, K, L]`,
            `extended_ids [B, J + K * L]`, `starts` and `ends` of the same shape.

    Returns:
        `sources` string `[B, T]`; `passage_indices`, `starts`, `ends` int32 `[B, T]`, -1 where
        they mean nothing; `mixture` float32 `[B, T, 3]`.
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
    place = tf.argmax(attention, axis=-1, output_type=tf.int32)
    copied = kind > 0

    def at(offsets: tf.Tensor) -> tf.Tensor:
        return tf.where(copied, tf.gather(offsets, place, batch_dims=1), -1)

    return {
        "sources": tf.gather(tf.constant(SOURCES), kind),
        "passage_indices": tf.where(kind == 2, (place - question_length) // passage_length, -1),
        "starts": at(source["starts"]),
        "ends": at(source["ends"]),
        "mixture": tf.cast(parts["mixture"], tf.float32),
    }

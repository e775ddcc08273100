"""Labels and sample weights of Masque's three losses."""

import tensorflow as tf

Tensors = dict[str, tf.Tensor]
UNKNOWN = -1


def masque_labels(
    present: tf.Tensor, has_answer: tf.Tensor, relevance: tf.Tensor, answerable: tf.Tensor
) -> tuple[Tensors, Tensors]:
    """Returns the ranker and classifier labels, and the sample weights of all three losses.

    A weight is 0 for an ignored entry and otherwise N / count, where N is the number of entries, so
    that Keras' mean over all entries equals the paper's mean over the counted entries.

    Args:
        present: bool `[B, K]`, False for missing passages.
        has_answer: bool `[B]`, False for empty answers.
        relevance: int `[B, K]`: 1, 0 or -1 (unknown).
        answerable: int `[B]`: 1, 0 or -1 (unknown).

    Returns:
        Labels `ranker [B, K]`, `classifier [B]` and weights `decoder [B]`, `ranker [B, K]`,
        `classifier [B]`, all float32.

    Example:
        >>> from tfmrc.preprocessing.labels import masque_labels
        >>> labels, weights = masque_labels([[True], [True]], [True, False], [[1], [-1]], [1, 0])
        >>> for name in ("decoder", "ranker", "classifier"):
        ...     print(name, weights[name].numpy().tolist())
        decoder [2.0, 0.0]
        ranker [[2.0], [0.0]]
        classifier [1.0, 1.0]

    Reference: "masque-23", "masque-24", "masque-25".
    """
    relevance = tf.cast(relevance, tf.int32)
    answerable = tf.cast(answerable, tf.int32)
    labels = {
        "ranker": tf.cast(relevance == 1, tf.float32),
        "classifier": tf.cast(answerable == 1, tf.float32),
    }
    weights = {
        "decoder": mean_of_counted(tf.convert_to_tensor(has_answer) & (answerable != 0)),
        "ranker": mean_of_counted(tf.convert_to_tensor(present) & (relevance != UNKNOWN)),
        "classifier": mean_of_counted(answerable != UNKNOWN),
    }
    return labels, weights


def mean_of_counted(counts: tf.Tensor) -> tf.Tensor:
    """Returns weights N / count for counted entries and 0 for others.

    The weighted mean over all entries is then the mean over the counted entries.

    Example:
        >>> from tfmrc.preprocessing.labels import mean_of_counted
        >>> mean_of_counted([True, False]).numpy()
        array([2., 0.], dtype=float32)
    """
    counted = tf.cast(counts, tf.float32)
    return tf.math.divide_no_nan(
        counted * tf.cast(tf.size(counted), tf.float32), tf.reduce_sum(counted)
    )

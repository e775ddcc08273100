"""Lexical features of words, from their strings alone."""

import tensorflow as tf

from tfmrc.text.words.matching import occurs_in_other
from tfmrc.text.words.stems import light_stems

MATCHES = ("match_written", "match_compared", "match_stem")
# Name and pattern of each feature of a word's shape.
SHAPES = {
    "capital": r"(?s)[\p{Lu}\p{Lt}].*",
    "capitals": r"(?s)[^\p{Ll}]*\p{Lu}[^\p{Ll}]*\p{Lu}[^\p{Ll}]*",
    "digit": r"(?s).*\p{Nd}.*",
    "mark": r"(?s)[^\p{L}\p{N}]+",
}
WORD_FEATURES = (*MATCHES, *SHAPES)
NUM_WORD_FEATURES = len(WORD_FEATURES)


def match_features(
    surface: tf.Tensor, compared: tf.Tensor, group: tf.Tensor, first: tf.Tensor
) -> tf.Tensor:
    """Returns whether each word occurs in the other text of its group, in three forms.

    The forms are the word as written, as compared (NFKC, lower case), and its stem
    (`tfmrc.text.words.stems.light_stems`). Time and memory are linear in N.

    Args:
        surface, compared: string `[N]`.
        group: int `[N]`, the index of the word's example.
        first: bool `[N]`, True for the words of one text of the group, such as the question, False
            for those of the other.

    Returns:
        float32 `[N, 3]`, 1 or 0, in the order of `MATCHES`.

    Example:
        >>> from tfmrc.preprocessing.word_features import match_features
        >>> surface = ["Who", "moved", "?", "The", "king", "Moves"]
        >>> compared = [word.lower() for word in surface]
        >>> match_features(surface, compared, [0] * 6, [True] * 3 + [False] * 3).numpy()[1::4]
        array([[0., 0., 1.],
               [0., 0., 1.]], dtype=float32)

    Reference: Chen et al. 2017, section 3.2 (exact match as written, in lower case and as lemma).
    """
    distinct, index = tf.unique(tf.convert_to_tensor(compared, tf.string))
    forms = (surface, compared, tf.gather(light_stems(distinct), index))
    matches = [occurs_in_other(form, group, first) for form in forms]
    return tf.cast(tf.stack(matches, axis=-1), tf.float32)


def shape_features(surface: tf.Tensor) -> tf.Tensor:
    """Returns features of each word's spelling that its lower-case form lacks.

    The features are: the first character is a capital; at least two capitals and no small letter;
    a decimal digit; neither a letter nor a number.

    Args:
        surface: string `[N]`, without empty strings.

    Returns:
        float32 `[N, 4]`, 1 or 0, in the order of `SHAPES`.

    Example:
        >>> from tfmrc.preprocessing.word_features import shape_features
        >>> shape_features(["Émile", "U.S.", "1990s", "--"]).numpy()
        array([[1., 0., 0., 0.],
               [1., 1., 0., 0.],
               [0., 0., 1., 0.],
               [0., 0., 0., 1.]], dtype=float32)
    """
    distinct, index = tf.unique(tf.convert_to_tensor(surface, tf.string))
    shapes = [tf.strings.regex_full_match(distinct, pattern) for pattern in SHAPES.values()]
    return tf.cast(tf.gather(tf.stack(shapes, axis=-1), index), tf.float32)


def word_features(
    surface: tf.Tensor, compared: tf.Tensor, group: tf.Tensor, first: tf.Tensor
) -> tf.Tensor:
    """Returns `match_features` and `shape_features` of words, float32 `[N, NUM_WORD_FEATURES]`.

    Args:
        surface, compared, group, first: as for `match_features`.
    """
    matches = match_features(surface, compared, group, first)
    return tf.concat([matches, shape_features(surface)], axis=-1)


def spread_features(
    features: tf.Tensor, row: tf.Tensor, column: tf.Tensor, shape: tuple
) -> tf.Tensor:
    """Returns `[B, n, F]` with the features `[N, F]` of the words at their places, else 0.

    Args:
        features: float32 `[N, F]` with static F.
        row, column: int32 `[N]`, distinct pairs.
        shape: tuple of two ints or scalar tensors, B and n.

    Example:
        >>> from tfmrc.preprocessing.word_features import spread_features
        >>> import tensorflow as tf
        >>> spread_features(tf.constant([[1.0]]), [0], [1], (1, 3)).numpy().tolist()
        [[[0.0], [1.0], [0.0]]]
    """
    features = tf.convert_to_tensor(features, tf.float32)
    width = features.shape[-1]
    return tf.scatter_nd(tf.stack([row, column], axis=1), features, tf.stack([*shape, width]))

"""Names of answer styles and their ids."""

from collections.abc import Iterable

import tensorflow as tf

from tfmrc.text.checks import checked


class Styles:
    """Maps style names to ids by graph operations.

    Args:
        names: sequence of distinct str; the index is the id.

    Raises:
        ValueError: Names are missing, empty or repeated.

    Example:
        >>> from tfmrc.preprocessing.styles import Styles
        >>> Styles(("qa", "nlg")).lookup(["nlg", "qa"]).numpy()
        array([1, 0], dtype=int32)
    """

    def __init__(self, names: Iterable[str]):
        self.names = tuple(names)
        if isinstance(names, str) or not self.names or len({*self.names, ""}) <= len(self.names):
            raise ValueError(
                f"Styles must be a list of distinct, non-empty names. Received: styles={names!r}"
            )

    def lookup(self, style: tf.Tensor) -> tf.Tensor:
        """Returns the ids of style names.

        Args:
            style: string `[B]`.

        Returns:
            int32 `[B]`.

        Raises:
            tf.errors.InvalidArgumentError: A name is unknown.
        """
        style = tf.convert_to_tensor(style, tf.string)
        matches = style[:, None] == tf.constant(self.names)
        known = tf.reduce_any(matches, axis=1)
        return checked(
            tf.argmax(tf.cast(matches, tf.int32), axis=1, output_type=tf.int32),
            tf.reduce_all(known),
            f"Unknown answer style; the styles of this model are {', '.join(self.names)}. "
            "Received: style=",
            tf.strings.unicode_transcode(tf.boolean_mask(style, ~known), "UTF-8", "UTF-8"),
        )

"""Names of answer styles and their ids."""

from collections.abc import Iterable

import tensorflow as tf


class Styles:
    """Looks style names up in the graph.

    Args:
        names: distinct names; the position is the id.

    Raises:
        ValueError: no name, an empty one or a repeated one.

    Example:
        >>> from tfmrc.preprocessing.styles import Styles
        >>> Styles(("qa", "nlg")).lookup(["nlg", "qa"]).numpy()
        array([1, 0], dtype=int32)
    """

    def __init__(self, names: Iterable[str]):
        if isinstance(names, str):
            raise ValueError(f"Styles are a list of names. Received: styles={names!r}")
        self.names = tuple(names)
        if not self.names or not all(self.names) or len(set(self.names)) < len(self.names):
            raise ValueError(
                "Styles are one or more distinct names, none of them empty. "
                f"Received: styles={self.names!r}"
            )

    def lookup(self, style: tf.Tensor) -> tf.Tensor:
        """The ids of style names.

        Args:
            style: string `[B]`.

        Returns:
            int32 `[B]`.

        Raises:
            tf.errors.InvalidArgumentError: a name is unknown; the message has the known ones.
        """
        style = tf.convert_to_tensor(style, tf.string)
        matches = style[:, None] == tf.constant(self.names)
        known = tf.reduce_any(matches, axis=1)
        check = tf.debugging.Assert(
            tf.reduce_all(known),
            [
                f"Unknown answer style; this model has the styles {', '.join(self.names)}. "
                "Received: style=",
                tf.boolean_mask(style, ~known),
            ],
        )
        with tf.control_dependencies([] if check is None else [check]):
            return tf.argmax(tf.cast(matches, tf.int32), axis=1, output_type=tf.int32)

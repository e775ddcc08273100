"""Tags of an external tagger: one string per text, with one tag per word."""

import tensorflow as tf

from tfmrc.text.checks import checked
from tfmrc.text.layout import FlatTokens


class TagSet(tf.Module):
    """Tag names and their ids from 1 on; unknown names have the id 0.

    Args:
        names: sequence of str. Distinct names without spaces.

    Raises:
        ValueError: If a name is empty, contains a space or occurs twice.

    Example:
        >>> from tfmrc.text.words.tags import TagSet
        >>> TagSet(["NOUN", "VERB"]).lookup(["VERB", "-", "NOUN"]).numpy()
        array([2, 0, 1], dtype=int32)
    """

    def __init__(self, names: tuple[str, ...] | list[str]):
        super().__init__(name="tag_set")
        self._names = tuple(names)
        wrong = [name for name in self._names if not name or name.split() != [name]]
        if wrong or len(set(self._names)) != len(self._names):
            raise ValueError(
                "Tags must be distinct names without spaces. Received: "
                f"names={wrong or list(self._names)!r}"
            )
        with tf.init_scope():
            self._table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(
                    tf.constant(self._names, tf.string, [len(self._names)]),
                    tf.range(1, len(self._names) + 1),
                ),
                default_value=0,
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names; the id is the index plus 1."""
        return self._names

    def lookup(self, tags: tf.Tensor) -> tf.Tensor:
        """Returns int32 ids of the shape of `tags`."""
        return self._table.lookup(tf.convert_to_tensor(tags, tf.string))


def tags_of_words(tags: tf.Tensor, tokens: FlatTokens, name: str) -> tf.Tensor:
    """Returns the tag of each word.

    Args:
        tags: string `[R]`, one tag per word of a row, separated by single spaces.
        tokens: `FlatTokens` of R rows. Truncated words have tags too.
        name: str. Name of the input, for the error.

    Returns:
        string `[N]`.

    Raises:
        tf.errors.InvalidArgumentError: If the numbers of tags and words of a row differ.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.layout import cut_rows
        >>> from tfmrc.text.words.tags import tags_of_words
        >>> tokens = cut_rows(Tokenizer().tokenize(["An owl flew", ""]), [2, 2])
        >>> tags_of_words(["DET NOUN VERB", ""], tokens, "passage_pos").numpy()
        array([b'DET', b'NOUN'], dtype=object)
    """
    split = tf.strings.split(tf.convert_to_tensor(tags, tf.string))  # ragged [R, ..]
    counts = tf.cast(split.row_lengths(), tf.int32)  # [R]
    fits = tf.where(tokens.cut, counts > tokens.lengths, counts == tokens.lengths)
    row = checked(
        tokens.row,
        tf.reduce_all(fits),
        f"`{name}` must have one tag per word of its text. Received: numbers of tags ",
        counts,
        " and of words ",
        tokens.lengths,
    )
    first = tf.gather(tf.cast(split.row_starts(), tf.int32), row)  # [N]
    return tf.gather(split.values, first + tokens.position)

"""Special tokens of pretrained encoders that a text itself contains."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.subwords.trie import Trie, reached

STAND_IN = ord("<")  # one word with one piece, whatever the vocabulary


class SpecialMatches(NamedTuple):
    """The special tokens in N code points.

    Of `a[S]`, where `[S]` has the id 7: `ids = [-1, 7, -1, -1]`, `begins = [0, 1, 2, 3]`,
    `ends = [0, 3, 2, 3]` and `inside = [F, T, T, T]`.

    Attributes:
        ids: int32 `[N]`, the id at a token's first character; -1 elsewhere.
        inside: bool `[N]`, True at all characters of a token.
        begins: int32 `[N]`, at a token's first character the position of its first one that is
            not white space; elsewhere the position itself.
        ends: int32 `[N]`, at a token's first character the position of its last one; elsewhere
            the position itself.
    """

    ids: tf.Tensor
    inside: tf.Tensor
    begins: tf.Tensor
    ends: tf.Tensor

    @property
    def first(self) -> tf.Tensor:
        """True at the first character of a token, bool `[N]`."""
        return self.ids >= 0

    def stand_ins(self, text: cp.CodePoints) -> cp.Characters:
        """Returns the characters of the texts, with one character in place of each token."""
        points = tf.where(self.inside, STAND_IN, text.points)
        characters = cp.Characters(points, tf.range(tf.size(points)), text.row)
        return characters.select(~self.inside | self.first)


class SpecialTokens:
    """Finds special tokens, such as `[SEP]`, in texts.

    Hugging Face's tokenizers take these strings out of a text before anything else. A token may
    include the white space before it (`lstrip`, as RoBERTa's `<mask>`).

    Args:
        tokens: iterable of dict. `content` (str), `id` (int), `lstrip` and `normalized` (bool,
            False if missing). A normalized token is found after normalization.

    Raises:
        ValueError: If a token is empty.

    Example:
        >>> from tfmrc.text.code_points import CodePoints
        >>> from tfmrc.text.subwords.special_tokens import SpecialTokens
        >>> tokens = SpecialTokens([{"content": "[S]", "id": 7}])
        >>> tokens.find(CodePoints.of(["a[S]"])).ids.numpy()
        array([-1,  7, -1, -1], dtype=int32)
    """

    def __init__(self, tokens: Iterable[Mapping[str, Any]] = ()):
        names: dict[str, Any] = {
            "content": "", "id": 0, "lstrip": False, "normalized": False, "special": True,
        }  # fmt: skip
        self._tokens = [
            {name: default if token.get(name) is None else token[name]
             for name, default in names.items()}
            for token in tokens
        ]  # fmt: skip
        contents = [token["content"] for token in self._tokens]
        if "" in contents:
            raise ValueError(f"A special token must have characters. Received: {self._tokens}")
        self._trie = Trie({content: number for number, content in enumerate(contents)})
        columns = ([*map(len, contents)], *([t[n] for t in self._tokens] for n in ("id", "lstrip")))
        self._widths, self._ids, self._lstrip = (np.array([*c, 0], np.int32) for c in columns)

    def get_config(self) -> list[dict[str, Any]]:
        """Returns the tokens."""
        return [dict(token) for token in self._tokens]

    def divided(self, normalize: Callable[[str], str]) -> "tuple[SpecialTokens, SpecialTokens]":
        """Returns the tokens of texts, and those of normalized texts as they are found there."""
        given = [token for token in self._tokens if not token["normalized"]]
        later = [token for token in self._tokens if token["normalized"]]
        normalized = [{**token, "content": normalize(token["content"])} for token in later]
        return SpecialTokens(given), SpecialTokens(normalized)

    def find(self, text: cp.CodePoints) -> SpecialMatches:
        """Returns the matches in the N code points of some strings.

        Of tokens that overlap, the first one counts, and the longest that begins there.
        """
        size = tf.size(text.points)
        ids, depth = tf.fill([size], -1), tf.zeros([size + 1], tf.int32)
        begins = ends = tf.range(size)
        if not self._tokens:
            return SpecialMatches(ids, depth[:-1] > 0, begins, ends)
        token = self._longest(text)  # [N]
        inner = cp.int32(tf.where(token >= 0)[:, 0])  # [K]
        stops = inner + tf.gather(self._widths, tf.gather(token, inner))
        chosen = reached(tf.searchsorted(inner, stops), tf.range(tf.minimum(tf.size(inner), 1)))
        inner, stops = tf.boolean_mask(inner, chosen), tf.boolean_mask(stops, chosen)
        token = tf.gather(token, inner)
        # The spaces before a token, unless the token before has them.
        first = tf.maximum(self._with_spaces(text, inner), tf.pad(stops, [[1, 0]])[:-1])
        first = tf.where(tf.gather(self._lstrip, token) > 0, first, inner)
        ids = tf.tensor_scatter_nd_update(ids, first[:, None], tf.gather(self._ids, token))
        begins = tf.tensor_scatter_nd_update(begins, first[:, None], inner)
        ends = tf.tensor_scatter_nd_update(ends, first[:, None], stops - 1)
        # Changes of the number of tokens around a character.
        depth = tf.tensor_scatter_nd_add(depth, first[:, None], tf.ones_like(inner))
        depth = tf.tensor_scatter_nd_add(depth, stops[:, None], -tf.ones_like(inner))
        return SpecialMatches(ids, tf.cumsum(depth)[:-1] > 0, begins, ends)

    def _longest(self, text: cp.CodePoints) -> tf.Tensor:
        """Returns the number of the longest token that begins at each character, -1 for none."""
        size = tf.size(text.points)
        index = tf.range(size)

        def step(length, node, best):
            end = tf.minimum(index + length, size - 1)
            inside = (index + length < size) & (tf.gather(text.row, end) == text.row)
            child = self._trie.child(node, tf.gather(text.points, end))
            node = tf.where(inside & ((node > 0) | (length == 0)), child, 0)
            found = self._trie.number(node)
            return length + 1, node, tf.where(found >= 0, found, best)

        start = 0, tf.zeros([size], tf.int32), tf.fill([size], -1)
        return tf.while_loop(
            lambda length, node, _: (length == 0) | tf.reduce_any(node > 0), step, start
        )[2]

    def _with_spaces(self, text: cp.CodePoints, positions: tf.Tensor) -> tf.Tensor:
        """Returns the start of the white space before each position, int32 `[K]`."""
        is_space = cp.white_space_table().lookup(text.points)  # [N]
        # A run of white space begins after another character, or with its string.
        begins = ~is_space | (text.index == 0)
        stops = tf.cast(tf.where(begins)[:, 0], tf.int32)
        before = tf.maximum(positions - 1, 0)  # [K]
        stop = tf.gather(stops, tf.searchsorted(stops, before, side="right") - 1)
        start = tf.where(tf.gather(is_space, stop), stop, stop + 1)
        inner = (tf.gather(text.index, positions) > 0) & tf.gather(is_space, before)
        return tf.where(inner, start, positions)

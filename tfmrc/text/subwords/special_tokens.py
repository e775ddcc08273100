"""Special tokens of pretrained encoders that a text itself contains."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text import code_points as cp

_STAND_IN = ord("<")  # one word with one piece, whatever the vocabulary


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
        points = tf.where(self.inside, _STAND_IN, text.points)
        characters = cp.Characters(points, tf.range(tf.size(points)), text.row)
        return characters.select(~self.inside | self.first)


class SpecialTokens:
    """Finds special tokens, such as `[SEP]`, in texts.

    Hugging Face's tokenizers take these strings out of a text before anything else. A token may
    include the white space before it (`lstrip`, as RoBERTa's `<mask>`).

    Args:
        tokens: iterable of dict. `content` (str), `id` (int), `lstrip` and `normalized` (bool,
            False if missing). `UnigramPieces` finds a normalized token after normalization.

    Raises:
        ValueError: If two tokens can overlap in a text.

    Example:
        >>> from tfmrc.text.code_points import CodePoints
        >>> from tfmrc.text.subwords.special_tokens import SpecialTokens
        >>> tokens = SpecialTokens([{"content": "[S]", "id": 7}])
        >>> tokens.find(CodePoints.of(["a[S]"])).ids.numpy()
        array([-1,  7, -1, -1], dtype=int32)
    """

    def __init__(self, tokens: Iterable[Mapping[str, Any]] = ()):
        names: dict[str, Any] = {"content": "", "id": 0, "lstrip": False, "normalized": False}
        self._tokens = [
            {name: token.get(name) or default for name, default in names.items()}
            for token in tokens
        ]
        contents = [token["content"] for token in self._tokens]
        for one, other in itertools.product(contents, contents):
            shared = any(one[-n:] == other[:n] for n in range(1, min(len(one), len(other))))
            if not one or shared or (one != other and one in other):
                raise ValueError(
                    "Special tokens that overlap are not supported. "
                    f"Received: {one!r} and {other!r}"
                )

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
        """Returns the matches in the N code points of some strings."""
        size = tf.size(text.points)
        ids = tf.fill([size], -1)
        begins = ends = tf.range(size)
        depth = tf.zeros([size + 1], tf.int32)  # changes of the number of tokens around a character
        for token in self._tokens:
            width = len(token["content"])
            match = cp.neighbours(text.row, width - 1, -1) == text.row  # [N]
            for offset, character in enumerate(token["content"]):
                match &= cp.neighbours(text.points, offset, -1) == ord(character)
            inner = tf.cast(tf.where(match)[:, 0], tf.int32)  # [K], the matches
            first = self._with_spaces(text, inner) if token["lstrip"] else inner
            ones = tf.ones_like(inner)
            ids = tf.tensor_scatter_nd_update(ids, first[:, None], ones * token["id"])
            begins = tf.tensor_scatter_nd_update(begins, first[:, None], inner)
            ends = tf.tensor_scatter_nd_update(ends, first[:, None], inner + width - 1)
            depth = tf.tensor_scatter_nd_add(depth, first[:, None], ones)
            depth = tf.tensor_scatter_nd_add(depth, inner[:, None] + width, -ones)
        return SpecialMatches(ids, tf.cumsum(depth)[:-1] > 0, begins, ends)

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

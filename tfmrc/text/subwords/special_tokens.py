"""Special tokens of pretrained encoders that a text itself contains."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.code_points import CodePoints, white_space_table


class SpecialMatches(NamedTuple):
    """The special tokens in N code points.

    Attributes:
        ids: int32 `[N]`, the id at a token's first character; -1 elsewhere.
        inside: bool `[N]`, True at all characters of a token.
        first: bool `[N]`, True at its first character.
        last: bool `[N]`, True at its last character.
        spaces: int32 `[N]`, at the first character the number of those of white space.
    """

    ids: tf.Tensor
    inside: tf.Tensor
    first: tf.Tensor
    last: tf.Tensor
    spaces: tf.Tensor


class SpecialTokens:
    """Finds special tokens, such as `[SEP]`, in texts.

    Hugging Face's tokenizers take these strings out of a text before anything else. A token may
    include the white space before it (`lstrip`, as RoBERTa's `<mask>`).

    Args:
        tokens: iterable of dict. `content` (str), `id` (int), `lstrip` and `normalized` (bool,
            False if missing). `UnigramPieces` finds a normalized token after normalization.

    Raises:
        ValueError: Two tokens can overlap in a text.

    Example:
        >>> from tfmrc.text.code_points import CodePoints
        >>> from tfmrc.text.subwords.special_tokens import SpecialTokens
        >>> tokens = SpecialTokens([{"content": "[S]", "id": 7}])
        >>> tokens.find(CodePoints.of(["a[S]"])).ids.numpy()
        array([-1,  7, -1, -1], dtype=int32)
    """

    def __init__(self, tokens: Iterable[Mapping[str, Any]]):
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
        normalized = [
            {**token, "content": normalize(token["content"])}
            for token in self._tokens
            if token["normalized"]
        ]
        return SpecialTokens(given), SpecialTokens(normalized)

    def find(self, text: CodePoints) -> SpecialMatches:
        """Returns the matches in the code points of some strings."""
        size = tf.size(text.points)
        ids = tf.fill([size], -1)
        depth = tf.zeros([size + 1], tf.int32)
        first = tf.zeros([size], tf.bool)
        last = tf.zeros([size], tf.bool)
        spaces = tf.zeros([size], tf.int32)
        for token in self._tokens:
            codes = [ord(character) for character in token["content"]]
            width = len(codes)
            padded = tf.pad(text.points, [[0, width]], constant_values=-1)
            rows = tf.pad(text.row, [[0, width]], constant_values=-1)
            match = rows[width - 1 : width - 1 + size] == text.row
            for offset, code in enumerate(codes):
                match &= padded[offset : offset + size] == code
            positions = tf.cast(tf.where(match)[:, 0], tf.int32)
            begins = self._with_spaces(text, positions) if token["lstrip"] else positions
            ids = _assigned(ids, begins, token["id"])
            first = _assigned(first, begins, True)
            last = _assigned(last, positions + width - 1, True)
            spaces = tf.tensor_scatter_nd_update(spaces, begins[:, None], positions - begins)
            ones = tf.ones_like(positions)
            depth = tf.tensor_scatter_nd_add(depth, begins[:, None], ones)
            depth = tf.tensor_scatter_nd_add(depth, positions[:, None] + width, -ones)
        return SpecialMatches(ids, tf.cumsum(depth)[:-1] > 0, first, last, spaces)

    def _with_spaces(self, text: CodePoints, positions: tf.Tensor) -> tf.Tensor:
        """Returns the start of the white space before each position."""
        is_space = white_space_table().lookup(text.points) > 0
        # A run of white space begins after a character that is none, or with its string.
        begins = ~is_space | (text.index == 0)
        stops = tf.cast(tf.where(begins)[:, 0], tf.int32)
        before = tf.maximum(positions - 1, 0)
        stop = tf.gather(stops, tf.searchsorted(stops, before, side="right") - 1)
        start = tf.where(tf.gather(is_space, stop), stop, stop + 1)
        inner = (tf.gather(text.index, positions) > 0) & tf.gather(is_space, before)
        return tf.where(inner, start, positions)


def _assigned(values: tf.Tensor, positions: tf.Tensor, value: Any) -> tf.Tensor:
    filling = tf.fill(tf.shape(positions), tf.constant(value, values.dtype))
    return tf.tensor_scatter_nd_update(values, positions[:, None], filling)

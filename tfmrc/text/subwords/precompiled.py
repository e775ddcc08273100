"""The character map of a SentencePiece model, as the package `tokenizers` applies it."""

import base64
import struct

import numpy as np
import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.checks import checked

SHORT = 6  # bytes; a rule for several characters holds for shorter grapheme clusters only
EMOJI_SIGNS = "\xa9\xae"  # of two bytes: shorter clusters that are joined by other rules
CARRIAGE_RETURN, LINE_FEED = 13, 10


def read_rules(charsmap: str) -> dict[str, str]:
    """Returns the rules of `precompiled_charsmap` in `tokenizer.json`.

    Rules for strings of six or more bytes are left out, because `tokenizers` never uses them.

    Args:
        charsmap: str. In base64: the size of a double-array trie (Darts), the trie, and the
            replacements, each with a zero byte after it.
    """
    data = base64.b64decode(charsmap)
    (size,) = struct.unpack_from("<I", data)
    units = np.frombuffer(data, "<u4", size // 4, 4).astype(np.int64)
    replacements = data[4 + size :]
    labels = np.arange(1, 256)
    rules = {}
    nodes = [(b"", _children(0, int(units[0])))]
    while nodes:
        key, base = nodes.pop()
        positions = base ^ labels
        inside = positions < len(units)
        matches = inside & (units[np.where(inside, positions, 0)] & 0x800000FF == labels)
        for label in labels[matches].tolist():
            unit, longer = int(units[base ^ label]), key + bytes([label])
            children = _children(base ^ label, unit)
            if unit >> 8 & 1:
                begin = int(units[children]) & 0x7FFFFFFF
                end = replacements.index(0, begin)
                rules[longer.decode()] = replacements[begin:end].decode()
            if len(longer) < SHORT - 1:
                nodes.append((longer, children))
    return rules


def _children(position: int, unit: int) -> int:
    """Returns the position that the labels of a node's children are combined with."""
    return position ^ (unit >> 10 << ((unit & 0x200) >> 6))


class Precompiled:
    """Replaces characters and short grapheme clusters by a map.

    A cluster of fewer than six bytes is replaced as a whole by the rule of its shortest prefix. In
    other clusters each character has its own rule. The sources follow `tokenizers` also where it
    is not exact: characters that are removed at the beginning of a text shift those of the rest.

    Args:
        rules: dict from str to str, of `read_rules`.

    Raises:
        ValueError: If a rule is not supported.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text.code_points import Characters
        >>> from tfmrc.text.subwords.precompiled import Precompiled
        >>> text = tf.zeros([3], tf.int32)
        >>> letters = Characters(tf.constant([233, 0x301, 97]), tf.range(3), text)
        >>> result = Precompiled({"é": "e"})(letters)
        >>> print(result.points.numpy(), result.source.numpy())
        [101  97] [0 2]
    """

    def __init__(self, rules: dict[str, str]):
        single = np.full(cp.NUM_CODES, -1, np.int32)
        pairs, refused = [], []
        for number, key in enumerate(rules):
            if len(key) == 1:
                single[ord(key)] = number
            elif not any(key[:size] in rules for size in range(1, len(key))):
                pairs.append((_pair(ord(key[0]), ord(key[1])), number))
                refused += [key] * (len(key) > 2)
            refused += [key] * (key[0] in EMOJI_SIGNS)
        if refused:
            raise ValueError(
                "Rules of precompiled_charsmap for three characters, and for © and ®, are not "
                f"supported. Received: {refused[0]!r}"
            )
        pairs = [*sorted(pairs), (1 << 62, -1)]
        self._single = cp.CodePointTable(single)
        self._pairs = np.array([key for key, _ in pairs], np.int64)
        self._pair_rules = np.array([number for _, number in pairs], np.int32)
        # Of each rule the number of new characters and the first one; the last row is for none.
        self._counts = np.array([*map(len, rules.values()), 1], np.int32)
        self._first = np.cumsum(self._counts, dtype=np.int32) - self._counts
        self._first[-1] = -1
        self._new_points = np.array([*map(ord, "".join(rules.values())), 0], np.int32)
        kinds = np.zeros(cp.NUM_CODES, np.int32)
        for bit, name in enumerate(("extenders", "controls", "prefixes")):
            kinds |= cp.having(name).astype(np.int32) << bit
        self._kinds = cp.CodePointTable(kinds)

    def __call__(self, characters: cp.Characters) -> cp.Characters:
        """Returns the characters after replacement.

        Raises:
            tf.errors.InvalidArgumentError: If a cluster could be the end of a longer one.
        """
        rule, size = self._matches(characters)  # [M]
        counts = tf.where(size > 0, tf.gather(self._counts, rule), 0)
        result, origin, number = cp.expand(  # [N]
            characters, counts, tf.gather(self._first, rule), self._new_points
        )

        # === Sources: how many characters each one consumes; removed ones go to the last before ===
        removed = tf.maximum(size - counts, 0)
        last = tf.maximum(tf.cumsum(counts) - 1, 0)
        is_after = (tf.cumsum(counts) > 0) & (
            tf.gather(tf.pad(result.text, [[0, 1]]), last) == characters.text
        )  # [M]
        change = cp.int32(number >= tf.gather(size, origin))
        change = tf.tensor_scatter_nd_sub(change, last[is_after][:, None], removed[is_after])
        consumed = tf.where(change > 0, 0, 1 - change)  # [N]
        cursor = tf.cumsum(consumed) - consumed
        first_of_text = tf.searchsorted(result.text, result.text)
        cursor -= tf.gather(tf.pad(cursor, [[0, 1]]), first_of_text)
        cursor += tf.searchsorted(characters.text, result.text) - cp.int32(change > 0)
        return result._replace(source=tf.gather(characters.source, cursor))

    def _matches(self, characters: cp.Characters) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns each character's rule, and the number of characters that it replaces.

        The rule of a character that stays is the last row. The number is 0 at the characters of a
        replaced cluster after the first one.
        """
        points, text = characters.points, characters.text
        kinds = self._kinds.lookup(points)
        extender, control, prefix = (kinds // (1 << bit) % 2 > 0 for bit in range(3))  # [M]
        joins = extender & ~cp.neighbours(control, -1, True)
        joins |= ~control & cp.neighbours(prefix, -1)
        joins |= (points == LINE_FEED) & (cp.neighbours(points, -1, -1) == CARRIAGE_RETURN)
        joins &= text == cp.neighbours(text, -1, -1)
        cluster = tf.cumsum(cp.int32(~joins)) - 1  # [M], of C clusters
        num_bytes = tf.math.segment_sum(cp.code_point_sizes(points), cluster)
        count = tf.math.segment_sum(tf.ones_like(cluster), cluster)  # [C]
        short = tf.gather((num_bytes < SHORT) & (count > 1), cluster)

        single = self._single.lookup(points)
        key = _pair(tf.cast(points, tf.int64), tf.cast(cp.neighbours(points, 1, 0), tf.int64))
        index = tf.searchsorted(self._pairs, key)  # [M], rows of the table of pairs
        pair = tf.gather(self._pair_rules, index)
        pair = tf.where(short & ~joins & (tf.gather(self._pairs, index) == key), pair, -1)
        rule = tf.where(single >= 0, single, pair)
        whole = short & ~joins & (rule >= 0)
        inner = tf.gather(tf.math.segment_max(cp.int32(whole), cluster), cluster) > 0
        size = tf.where(whole, tf.gather(count, cluster), tf.where(inner, 0, 1))
        # A letter of several bytes can belong to a syllable or an emoji that began before it.
        unsure = whole & (points >= 0x80) & cp.neighbours(extender, -1)
        size = checked(
            size,
            ~tf.reduce_any(unsure),
            "A combining mark after a character that is replaced, in a syllable or an emoji of "
            "several characters, is not supported by this tokenizer. Received: code points ",
            tf.boolean_mask(points, unsure),
        )
        return tf.where((size > 0) & (rule >= 0), rule, len(self._counts) - 1), size


def _pair(first: int | tf.Tensor, second: int | tf.Tensor) -> int | tf.Tensor:
    """Packs two code points into one integer: U+0061 and U+0301 into `0x61 << 21 | 0x301`."""
    return first * (1 << 21) + second

"""SentencePiece's Unigram of whole texts with offsets, as the package `tokenizers` computes it."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from tfmrc.text.code_points import CodePoints, CodePointTable
from tfmrc.text.normalized import Characters, neighbours
from tfmrc.text.normalizers import normalizers_of, white_space
from tfmrc.text.special_tokens import SpecialTokens
from tfmrc.text.text_pieces import Spelling, TextPieces, Words, assemble, spell
from tfmrc.text.unigram import Unigram

__all__ = ["UnigramText"]

SPACE, META_SPACE = ord(" "), ord("▁")
INERT = 0x10FFFF  # stands for the characters of special tokens; no character, so no rule has it
Json = Mapping[str, Any]


class UnigramText:
    """Splits texts into the subwords of a Unigram model.

    What is between special tokens is normalized, split at white space if the pre-tokenizer does
    so, and each space becomes `▁`, which begins a word. A `▁` is also put before each part. It has
    the offsets of the next character.

    Args:
        model: `Unigram`.
        normalizer: dict or None. The value in `tokenizer.json`.
        pre_tokenizer: dict. The value in `tokenizer.json`: `Metaspace`, or a sequence of
            `WhitespaceSplit` and `Metaspace`.
        special_tokens: `SpecialTokens`.

    Raises:
        ValueError: A component is not followed here.

    Example:
        >>> from tfmrc.text.special_tokens import SpecialTokens
        >>> from tfmrc.text.unigram import Unigram
        >>> from tfmrc.text.unigram_text import UnigramText
        >>> model = Unigram([("<s>", 0.0), ("<unk>", 0.0), ("▁", -1.0), ("▁a", -1.0)], 1)
        >>> text = UnigramText(model, None, {"type": "Metaspace", "replacement": "▁"},
        ...     SpecialTokens([{"content": "<s>", "id": 0}]))
        >>> pieces = text.tokenize(["a b<s>"])
        >>> print(pieces.ids.to_list(), pieces.starts.to_list(), pieces.words.to_list())
        [[3, 2, 1, 0]] [[0, 1, 2, 3]] [[0, 1, 1, 2]]
    """

    def __init__(
        self,
        model: Unigram,
        normalizer: Json | None,
        pre_tokenizer: Json,
        special_tokens: SpecialTokens,
    ):
        self._model = model
        self._steps = normalizers_of(normalizer)
        self._splits, self._prepends = _rules(pre_tokenizer)
        self._space = CodePointTable(white_space())
        tokens = special_tokens.get_config()
        self._special = SpecialTokens(each for each in tokens if "normalized" not in each)
        normalized = [each for each in tokens if "normalized" in each]
        with tf.init_scope():
            for each in normalized:
                each["content"] = self._normalized(each["content"])
        self._normalized_special = SpecialTokens(normalized)

    def tokenize(self, texts: Any, spaced: Any = True) -> TextPieces:
        """Returns the subwords of texts.

        Args:
            texts: string `[R]`, UTF-8.
            spaced: bool or bool `[R]`. Whether a space precedes the text. Default: True.

        Raises:
            tf.errors.InvalidArgumentError: A text has combining marks that are not followed here.
        """
        text = CodePoints.of(texts)
        special = self._special.find(text)
        begins = (text.index == 0) | special.first
        begins |= special.inside != neighbours(special.inside, -1, False)
        points = tf.where(special.inside, INERT, text.points)
        characters = Characters(points, tf.range(tf.size(points)), tf.cumsum(_int(begins)))
        for step in self._steps:
            characters = step(characters)
        is_special = tf.gather(special.inside, characters.source)
        ids = tf.gather(special.ids, characters.source)

        # === Special tokens of normalized text ===
        points, source, part = characters
        first = tf.searchsorted(part, part)
        index = tf.range(tf.size(part)) - first
        later = self._normalized_special.find(CodePoints(points, part, index, text.num_rows))
        begins = (index == 0) | later.first
        begins |= later.inside != neighbours(later.inside, -1, False)
        points = tf.where(later.inside, INERT, points)
        is_special |= later.inside
        ids = tf.maximum(ids, later.ids)

        # === Words ===
        white = (self._space.lookup(points) > 0) & self._splits
        part = tf.cumsum(_int(begins) + _int(white))
        points = tf.where(points == SPACE, META_SPACE, points)
        points, source, part, ids, is_special = (
            tf.boolean_mask(each, ~white) for each in (points, source, part, ids, is_special)
        )
        begins = part != neighbours(part, -1, -1)
        spaced = tf.broadcast_to(spaced, text.num_rows[None])
        prepended = begins & ~is_special & (points != META_SPACE) & self._prepends
        prepended &= tf.gather(spaced, tf.gather(text.row, source))
        begins |= points == META_SPACE
        counts = 1 + _int(prepended)
        origin = tf.repeat(tf.range(tf.size(points)), counts)
        is_new = tf.gather(prepended, origin) & (origin != neighbours(origin, -1, -1))
        is_old = tf.gather(prepended, origin) & ~is_new
        points = tf.where(is_new, META_SPACE, tf.gather(points, origin))
        source, ids = tf.gather(source, origin), tf.gather(ids, origin)
        firsts = _int(tf.where(tf.gather(begins, origin) & ~is_old)[:, 0])
        lasts = tf.pad(firsts, [[0, 1]], constant_values=tf.size(points))[1:] - 1
        words = Words(firsts, lasts)

        # === Pieces ===
        spelling = spell(points, words)
        pieces, starts, ends = self._cut(spelling)
        special_ids = tf.gather(ids, firsts)
        return assemble(text, source, words, spelling, pieces, starts, ends, special_ids)

    def _cut(self, spelling: Spelling) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of the strings, and their first and last bytes."""
        codes = tf.strings.unicode_decode(spelling.strings, "UTF-8")
        pieces, *characters = self._model.split(codes)
        sizes = tf.searchsorted(tf.constant([0x80, 0x800, 0x10000]), codes.values, side="right") + 1
        before = tf.pad(tf.cumsum(sizes), [[1, 0]])
        first = tf.gather(codes.row_starts(), pieces.value_rowids())
        offsets = (
            tf.gather(before, tf.cast(first, tf.int32) + each.values) - tf.gather(before, first)
            for each in characters
        )
        return pieces, *(pieces.with_values(each) for each in offsets)

    def _normalized(self, string: str) -> str:
        text = CodePoints.of([string])
        characters = Characters(text.points, text.index, text.row)
        for step in self._steps:
            characters = step(characters)
        return "".join(map(chr, characters.points.numpy()))


def _rules(pre_tokenizer: Json) -> tuple[bool, bool]:
    """Returns whether white space splits texts, and whether parts begin with `▁`."""
    rules = pre_tokenizer or {}
    parts = rules.get("pretokenizers") or [{}] if rules.get("type") == "Sequence" else [rules]
    types = [part.get("type") for part in parts]
    last = parts[-1] if parts else {}
    scheme = "always" if last.get("add_prefix_space", True) else "never"
    scheme = last.get("prepend_scheme", scheme)
    known = types in (["Metaspace"], ["WhitespaceSplit", "Metaspace"])
    known &= last.get("replacement") == "▁" and last.get("split", True)
    if not known or scheme not in ("always", "never"):
        raise ValueError(
            "A pre_tokenizer must be Metaspace, or WhitespaceSplit and Metaspace, with split=True "
            "and the prepend_scheme 'always' or 'never'. "
            f"Received: {str(pre_tokenizer)[:300]}"
        )
    return types[0] == "WhitespaceSplit", scheme == "always"


def _int(values: tf.Tensor) -> tf.Tensor:
    return tf.cast(values, tf.int32)

"""SentencePiece's Unigram of words and texts, as the package `tokenizers` computes it."""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.text.code_points import (
    Characters,
    CodePoints,
    code_point_sizes,
    neighbours,
    white_space_table,
)
from tfmrc.text.subwords.normalizers import normalizers_of
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import Spelling, TextPieces, Words, assemble, spell
from tfmrc.text.subwords.unigram import Unigram
from tfmrc.utils.optional import optional_import

FILE_NAME = "unigram.json"
SPACE, META_SPACE = ord(" "), ord("▁")
INERT = 0x10FFFF  # stands for the characters of special tokens; no character, so no rule has it
METASPACE = {"type": "Metaspace", "replacement": "▁"}
Json = Mapping[str, Any]


class UnigramPieces(tf.Module):
    """Splits words or whole texts into the pieces of a Unigram model.

    XLM-RoBERTa, DeBERTa and ALBERT have such models. What is between special tokens is normalized,
    split at white space if the pre-tokenizer does so, and each space becomes `▁`, which begins a
    word. A `▁` is also put before each part. It has the offsets of the next character.

    tensorflow-text's kernel of SentencePiece is not used: it adds scores in float32, so that equal
    splits, such as those of repeated letters, have other winners than in the package `tokenizers`,
    and it refuses pieces with a NUL.

    Args:
        vocabulary: list of (str, float). The pieces with their scores; the index is the id.
        unknown_id: int. Id of unknown characters.
        normalizer: dict or None. The value in `tokenizer.json`. Default: None.
        pre_tokenizer: dict. The value in `tokenizer.json`: `Metaspace`, or a sequence of
            `WhitespaceSplit` and `Metaspace`. Default: None, `Metaspace`.

    Raises:
        ValueError: A component is not supported.

    Example:
        >>> from tfmrc.text.subwords.unigram_pieces import UnigramPieces
        >>> pieces = UnigramPieces([("<unk>", 0.0), ("▁owl", -3.0), ("owl", -4.0)], 0)
        >>> pieces.cut(["owl", "owl", "x"], [True, False, False]).to_list()
        [[1], [2], [0]]

    Reference: Kudo and Richardson 2018.
    """

    kind = "unigram"
    first_is_spaced = True

    def __init__(
        self,
        vocabulary: Sequence[tuple[str, float]],
        unknown_id: int,
        normalizer: Json | None = None,
        pre_tokenizer: Json | None = None,
    ):
        super().__init__(name=self.kind)
        self._model = Unigram(vocabulary, unknown_id)
        pre_tokenizer = pre_tokenizer or METASPACE
        # As text, because a module would wrap its dicts and lists.
        self._json = json.dumps(
            {
                "unknown_id": unknown_id,
                "normalizer": normalizer,
                "pre_tokenizer": pre_tokenizer,
                "vocabulary": [*map(list, vocabulary)],
            },
            ensure_ascii=False,
        )
        self._ids = {piece: index for index, (piece, _) in enumerate(vocabulary)}
        self._size = len(vocabulary)
        self._steps = tuple(normalizers_of(normalizer))
        self._splits, self._prepends = _rules(pre_tokenizer)

    @classmethod
    def from_sentencepiece(
        cls,
        model: bytes,
        lowercase: bool = False,
        strip_accents: bool = False,
        fairseq_ids: bool = False,
    ) -> "UnigramPieces":
        """Returns the pieces of a SentencePiece model.

        Args:
            model: bytes. Content of the model file.
            lowercase: bool. Whether to convert words to lower case first (ALBERT). Default: False.
            strip_accents: bool. Whether to remove accents first (ALBERT). Default: False.
            fairseq_ids: bool. Whether to use the ids of XLM-RoBERTa: one more than the model's,
                with the unknown piece at 3. Default: False.

        Raises:
            ImportError: `sentencepiece` is missing.
        """
        with optional_import("tfmrc[encoders]"):
            from sentencepiece import sentencepiece_model_pb2 as messages
        proto = messages.ModelProto.FromString(model)  # type: ignore[attr-defined]
        vocabulary = [(piece.piece, piece.score) for piece in proto.pieces]
        unknown_id = proto.trainer_spec.unk_id
        if fairseq_ids:
            special = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")]
            vocabulary, unknown_id = special + vocabulary[3:], 3
        steps: list[Json] = []
        if strip_accents:
            steps += [{"type": "NFKD"}, {"type": "StripAccents"}]
        if lowercase:
            steps.append({"type": "Lowercase"})
        if charsmap := proto.normalizer_spec.precompiled_charsmap:
            encoded = base64.b64encode(charsmap).decode()
            steps.append({"type": "Precompiled", "precompiled_charsmap": encoded})
        return cls(vocabulary, unknown_id, {"type": "Sequence", "normalizers": steps})

    def cut(self, words: Any, spaced: Any) -> tf.RaggedTensor:
        """Splits words into pieces.

        Args:
            words: string `[N]`.
            spaced: bool `[N]`, whether a space precedes the word.

        Returns:
            int32 ragged `[N, pieces]`.
        """
        return self.tokenize(words, SpecialTokens(()), tf.convert_to_tensor(spaced)).ids

    def tokenize(self, texts: Any, special_tokens: SpecialTokens, spaced: Any = True) -> TextPieces:
        """Returns the subwords of whole texts.

        Args:
            texts: string `[R]`, UTF-8.
            special_tokens: `SpecialTokens`.
            spaced: bool or bool `[R]`. Whether a space precedes the text. Default: True.

        Raises:
            tf.errors.InvalidArgumentError: A text has combining marks that are not supported.
        """
        text = CodePoints.of(texts)
        with tf.init_scope():
            given, normalized = special_tokens.divided(self._normalized_string)
        special = given.find(text)
        begins = (text.index == 0) | special.first
        begins |= special.inside != neighbours(special.inside, -1, False)
        points = tf.where(special.inside, INERT, text.points)
        characters = Characters(points, tf.range(tf.size(points)), tf.cumsum(_int(begins)))
        points, source, part = self._normalized(characters)
        is_special = tf.gather(special.inside, source)
        ids = tf.gather(special.ids, source)

        # === Special tokens of normalized text ===
        index = tf.range(tf.size(part)) - tf.searchsorted(part, part)
        later = normalized.find(CodePoints(points, part, index, text.num_rows))
        begins = (index == 0) | later.first
        begins |= later.inside != neighbours(later.inside, -1, False)
        points = tf.where(later.inside, INERT, points)
        is_special |= later.inside
        ids = tf.maximum(ids, later.ids)

        # === Words ===
        white = (white_space_table().lookup(points) > 0) & self._splits
        part = tf.cumsum(_int(begins) + _int(white))
        points = tf.where(points == SPACE, META_SPACE, points)
        points, source, part, ids, is_special = (
            tf.boolean_mask(field, ~white) for field in (points, source, part, ids, is_special)
        )
        begins = part != neighbours(part, -1, -1)
        spaced = tf.broadcast_to(spaced, text.num_rows[None])
        prepended = begins & ~is_special & (points != META_SPACE) & self._prepends
        prepended &= tf.gather(spaced, tf.gather(text.row, source))
        begins |= points == META_SPACE
        origin = tf.repeat(tf.range(tf.size(points)), 1 + _int(prepended))
        is_new = tf.gather(prepended, origin) & (origin != neighbours(origin, -1, -1))
        is_old = tf.gather(prepended, origin) & ~is_new
        points = tf.where(is_new, META_SPACE, tf.gather(points, origin))
        source, ids = tf.gather(source, origin), tf.gather(ids, origin)
        firsts = _int(tf.where(tf.gather(begins, origin) & ~is_old)[:, 0])
        lasts = tf.pad(firsts, [[0, 1]], constant_values=tf.size(points))[1:] - 1
        words = Words(firsts, lasts)

        # === Pieces ===
        spelling = spell(points, words)
        special_ids = tf.gather(ids, firsts)
        pieces, starts, ends = self._cut(spelling)
        return assemble(text, source, words, spelling, pieces, starts, ends, special_ids)

    def _cut(self, spelling: Spelling) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of the strings, and their first and last bytes."""
        codes = tf.strings.unicode_decode(spelling.strings, "UTF-8")
        pieces, *characters = self._model.split(codes)
        before = tf.pad(tf.cumsum(code_point_sizes(codes.values)), [[1, 0]])
        first = tf.gather(codes.row_starts(), pieces.value_rowids())
        offsets = (
            tf.gather(before, tf.cast(first, tf.int32) + field.values) - tf.gather(before, first)
            for field in characters
        )
        return pieces, *map(pieces.with_values, offsets)

    def _normalized(self, characters: Characters) -> Characters:
        for step in self._steps:
            characters = step(characters)
        return characters

    def _normalized_string(self, string: str) -> str:
        text = CodePoints.of([string])
        characters = self._normalized(Characters(text.points, text.index, text.row))
        return "".join(map(chr, characters.points.numpy()))

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        return self._ids[piece]

    def __len__(self) -> int:
        """Returns the number of ids."""
        return self._size

    def components(self) -> dict[str, Any]:
        """Returns `vocabulary`, `unknown_id`, `normalizer` and `pre_tokenizer`."""
        result: dict[str, Any] = json.loads(self._json)
        return result

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the components."""
        return {}

    def save_assets(self, folder: str | Path) -> None:
        """Writes the components to `unigram.json`."""
        (Path(folder) / FILE_NAME).write_text(self._json, encoding="utf-8")

    @classmethod
    def from_assets(cls, folder: str | Path) -> "UnigramPieces":
        """Loads the pieces from a folder of `save_assets`."""
        return cls(**json.loads((Path(folder) / FILE_NAME).read_text(encoding="utf-8")))


def _rules(pre_tokenizer: Json) -> tuple[bool, bool]:
    """Returns whether white space splits texts, and whether parts begin with `▁`."""
    parts = pre_tokenizer.get("pretokenizers") or [pre_tokenizer]
    types, last = [part.get("type") for part in parts], parts[-1]
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

"""SentencePiece's Unigram of words and texts, as the package `tokenizers` computes it."""

import base64
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.text import code_points as cp
from tfmrc.text.subwords.normalized_text import NormalizedText, normalized_text
from tfmrc.text.subwords.normalizers import normalizers_of
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces, Words, cut_words
from tfmrc.text.subwords.unigram import Unigram
from tfmrc.text.typing import TensorLike
from tfmrc.utils.optional import optional_import

FILE_NAME = "unigram.json"
SPACE, META_SPACE = ord(" "), ord("▁")
METASPACE = {"type": "Metaspace", "replacement": "▁"}
Json = Mapping[str, Any]


class UnigramPieces(Pieces):
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
        ValueError: If a component is not supported.

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
        ids = {piece: index for index, (piece, _) in enumerate(vocabulary)}
        super().__init__(ids, len(vocabulary))
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
            ImportError: If `sentencepiece` is missing.
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

    def cut(self, words: TensorLike, spaced: TensorLike) -> tf.RaggedTensor:
        return self._tokenize(words, SpecialTokens(), spaced).ids

    def tokenize(self, texts: TensorLike, special_tokens: SpecialTokens) -> TextPieces:
        return self._tokenize(texts, special_tokens, spaced=True)

    def _tokenize(
        self, texts: TensorLike, special_tokens: SpecialTokens, spaced: TensorLike | bool
    ) -> TextPieces:
        """Returns the subwords of texts `[R]`; `spaced` `[R]`, whether a space precedes each."""
        text = cp.CodePoints.of(texts)
        points, words = self._words(
            text, spaced, normalized_text(text, special_tokens, self._steps)
        )
        return cut_words(text, points, words, self._cut)

    def _words(
        self, text: cp.CodePoints, spaced: TensorLike | bool, normalized: NormalizedText
    ) -> tuple[tf.Tensor, Words]:
        """Divides normalized texts into words; returns their code points `[M]` and the words.

        The text `"an owl"` becomes `▁an▁owl`, of which the first `▁` is new.
        """
        points, source, _, _, part, ids, is_special = normalized
        white = cp.white_space_table().lookup(points) & self._splits
        part += tf.cumsum(cp.int32(white))
        points = tf.where(points == SPACE, META_SPACE, points)
        points, source, part, ids, is_special = (
            tf.boolean_mask(field, ~white) for field in (points, source, part, ids, is_special)
        )
        begins = part != cp.neighbours(part, -1, -1)
        spaced = tf.broadcast_to(spaced, text.num_rows[None])  # [R]
        prepended = begins & ~is_special & (points != META_SPACE) & self._prepends
        prepended &= tf.gather(spaced, tf.gather(text.row, source))
        begins |= points == META_SPACE
        # A character that a "▁" is prepended to is repeated, and the first of the two becomes it.
        origin = tf.repeat(tf.range(tf.size(points)), 1 + cp.int32(prepended))
        is_new = tf.gather(prepended, origin) & (origin != cp.neighbours(origin, -1, -1))
        is_old = tf.gather(prepended, origin) & ~is_new
        points = tf.where(is_new, META_SPACE, tf.gather(points, origin))
        source, ids = tf.gather(source, origin), tf.gather(ids, origin)
        firsts = cp.int32(tf.where(tf.gather(begins, origin) & ~is_old)[:, 0])  # [V]
        lasts = tf.pad(firsts, [[0, 1]], constant_values=tf.size(points))[1:] - 1
        return points, Words(firsts, lasts, source, source, tf.gather(ids, firsts))

    def _cut(self, strings: tf.Tensor) -> tuple[tf.RaggedTensor, ...]:
        """Returns the pieces of strings `[U]`, and their first and last bytes, ragged `[U, ..]`."""
        codes = tf.strings.unicode_decode(strings, "UTF-8")  # ragged [U, ..]
        pieces, *characters = self._model.split(codes)
        before = tf.pad(tf.cumsum(cp.code_point_sizes(codes.values)), [[1, 0]])  # bytes, of all [U]
        first = tf.cast(tf.gather(codes.row_starts(), pieces.value_rowids()), tf.int32)
        offsets = (
            tf.gather(before, first + field.values) - tf.gather(before, first)
            for field in characters
        )
        return pieces, *map(pieces.with_values, offsets)

    def components(self) -> dict[str, Any]:
        """Returns `vocabulary`, `unknown_id`, `normalizer` and `pre_tokenizer`."""
        result: dict[str, Any] = json.loads(self._json)
        return result

    def get_config(self) -> dict[str, Any]:
        return {}

    def save_assets(self, folder: Path) -> None:
        (folder / FILE_NAME).write_text(self._json, encoding="utf-8")

    @classmethod
    def from_assets(cls, folder: Path, **config: Any) -> "UnigramPieces":
        return cls(**json.loads((folder / FILE_NAME).read_text(encoding="utf-8")))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.components()), ()


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

"""Subwords of pretrained encoders, and the windows in which encoders read them."""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.layout import has_static_shapes, longest, parts_of_rows
from tfmrc.text.pickling import Pickled
from tfmrc.text.subwords.byte_pairs import BytePairs
from tfmrc.text.subwords.character_pairs import CharacterPairs
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces
from tfmrc.text.subwords.unigram_pieces import UnigramPieces
from tfmrc.text.subwords.word_pieces import WordPieces
from tfmrc.text.typing import TensorLike

CONFIG_FILE = "subwords.json"
_KINDS: dict[str, type[Pieces]] = {
    kind.kind: kind for kind in (WordPieces, BytePairs, CharacterPairs, UnigramPieces)
}
Tensors = dict[str, tf.Tensor]


class Subwords(NamedTuple):
    """The subwords of R texts.

    Attributes:
        ids: int32 `[R, T]`, the subwords of all words of a text, padded with 0.
        counts: int32 `[R, n]`, the number of subwords per word; 0 at padding.
    """

    ids: tf.Tensor
    counts: tf.Tensor

    def part(self, row: tf.Tensor, first: tf.Tensor, size: tf.Tensor | int) -> "Subwords":
        """Returns the words `first` to `first + size` of the given rows as separate texts.

        Args:
            row: int32 `[Q]`.
            first: int32 `[Q]`, the first word.
            size: int or int32 scalar, the largest number of words.
        """
        words = first[:, None] + tf.range(size)  # [Q, size]
        known = words < tf.shape(self.counts)[1]
        words = tf.minimum(words, tf.shape(self.counts)[1] - 1)
        counts = tf.where(known, parts_of_rows(self.counts, row, words), 0)
        ends = tf.pad(tf.cumsum(self.counts, axis=1), [[0, 0], [1, 0]])  # [R, n + 1]
        before = parts_of_rows(ends, row, first[:, None])  # [Q, 1]
        lengths = tf.reduce_sum(counts, axis=1)  # [Q]
        positions = tf.range(tf.maximum(tf.reduce_max(lengths), 0))  # [T]; there may be no rows
        inside = positions < lengths[:, None]  # [Q, T]
        # Padding keeps the lookup valid for a batch without subwords.
        ids = tf.pad(self.ids, [[0, 0], [0, 1]])
        ids = parts_of_rows(ids, row, tf.where(inside, before + positions, 0))
        return Subwords(tf.where(inside, ids, 0), counts)


class SubwordTokenizer(Pickled, tf.Module):
    """Splits words into an encoder's subwords and builds the encoder's input sequences.

    There are two layouts. *Separate*: each text is one sequence, `[CLS] text [SEP]`. *Joint*:
    question and passage are one sequence, `[CLS] question [SEP] passage [SEP]` (RoBERTa has two
    separators between them). Words remain the unit: each word has the position of its first subword
    and its number of subwords. All operations are graph operations.

    A text that does not fit into `length` positions is divided into windows that overlap by
    `overlap` subwords. A word belongs to the window in which the smaller of its left and right
    contexts is largest; ties go to the first window. In the joint layout, the question precedes the
    passage in every window, is truncated to half of the positions, and belongs to the first window.

    Args:
        pieces: `WordPieces`, `BytePairs`, `CharacterPairs` or `UnigramPieces`.
        cls_id: int. Id of the first subword of a sequence.
        sep_id: int. Id of the subword that ends a text.
        pad_id: int. Id of padding.
        length: int. Number of positions of a window, at most that of the encoder. Default: 512.
        overlap: int. Number of subwords that consecutive windows share, limited to half of a
            window. Default: 128.
        num_separators: int. Number of separators between question and passage. Default: 1.
        segments: bool. Whether the passage has segment id 1. Default: True.
        special_tokens: list of dict. The special tokens that `tokenize` finds in texts, as in
            `tfmrc.text.subwords.special_tokens.SpecialTokens`. Default: (), none.

    Raises:
        ValueError: If `length` is too small for a text, or `overlap` is negative.

    Example:
        >>> from tfmrc.text import SubwordTokenizer
        >>> from tfmrc.text.subwords.word_pieces import WordPieces
        >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "who", "flew", "##er", "owl"]
        >>> tokenizer = SubwordTokenizer(WordPieces(words, unknown="[UNK]"), 2, 3, 0)
        >>> read = tokenizer.joint(tokenizer.cut([["Who"]]), tokenizer.cut([["owl", "flewer"]]))
        >>> print(read["encoder_ids"].numpy())
        [[[2 4 3 7 5 6 3]]]
        >>> print(read["passage_pieces"].numpy().tolist())
        [[[3, 1], [4, 2]]]

    Reference: Devlin et al. 2019 (sequences, segments); the released `run_squad.py` of BERT
    (windows, largest context).
    """

    def __init__(
        self,
        pieces: Pieces,
        cls_id: int,
        sep_id: int,
        pad_id: int,
        length: int = 512,
        overlap: int = 128,
        num_separators: int = 1,
        segments: bool = True,
        special_tokens: Iterable[Mapping[str, Any]] = (),
    ):
        super().__init__(name="subwords")
        if length < 4 + num_separators or overlap < 0:
            raise ValueError(
                "A window must have room for the special subwords and a text, and overlap by 0 or "
                f"more. Received: length={length}, overlap={overlap}"
            )
        self.pieces = pieces
        self.cls_id = cls_id
        self.sep_id = sep_id
        self.pad_id = pad_id
        self.length = length
        self.overlap = overlap
        self.num_separators = num_separators
        self.segments = segments
        self._special = SpecialTokens(special_tokens)

    @property
    def special_tokens(self) -> list[dict[str, Any]]:
        """The special tokens that `tokenize` finds in texts."""
        return self._special.get_config()

    def tokenize(self, texts: TensorLike) -> TextPieces:
        """Splits whole texts as Hugging Face's tokenizer does, with the characters of each piece.

        Args:
            texts: string `[R]`, UTF-8.

        Returns:
            `tfmrc.text.subwords.text_pieces.TextPieces`.

        Raises:
            tf.errors.InvalidArgumentError: If a text has combining marks that are not supported
                (see `tokenize` of the pieces).
        """
        return self.pieces.tokenize(texts, self._special)

    def cut(self, words: TensorLike, spaced: tf.Tensor | None = None) -> Subwords:
        """Splits the words of texts into subwords.

        Each distinct word of a batch is split once. A word that the encoder's tokenizer removes,
        such as a single control character, has no subword.

        Args:
            words: string `[R, n]`, the surface forms; "" at padding.
            spaced: bool `[R, n]`, whether a space precedes the word. The encoder's convention
                applies to the first word of a text. Default: None, True for all other words.

        Returns:
            `Subwords`.
        """
        words = tf.convert_to_tensor(words, tf.string)  # [R, n]
        if spaced is None:
            spaced = tf.ones_like(words, tf.bool)
        first = tf.range(tf.shape(words)[1]) == 0
        spaced = tf.where(first, self.pieces.first_is_spaced, spaced)
        positions = tf.where(words != "")  # [N, 2], of the words that are not padding
        # The prefix distinguishes a word after a space from the same word without one.
        marked = tf.strings.join([tf.where(spaced, " ", "_"), words])
        unique, which = tf.unique(tf.gather_nd(marked, positions))  # [U], [N]
        pieces = self.pieces.cut(
            tf.strings.substr(unique, 1, 1 << 30), tf.strings.substr(unique, 0, 1) == " "
        )  # ragged [U, ..]
        pieces = tf.gather(pieces, which)  # ragged [N, ..]
        counts = tf.scatter_nd(
            positions, tf.cast(pieces.row_lengths(), tf.int32), tf.shape(words, tf.int64)
        )  # [R, n]
        ids = tf.RaggedTensor.from_row_lengths(
            pieces.values, tf.reduce_sum(counts, axis=1), validate=False
        )  # ragged [R, ..]: the subwords of all words of a row
        return Subwords(ids.to_tensor(), counts)

    def separate(self, text: Subwords) -> Tensors:
        """Builds one sequence per text.

        Returns:
            `encoder_ids` int32 `[R, W, P]`: W windows of P subwords, including special ones,
            padded with `pad_id`; `pieces` int32 `[R, n, 2]`: the position of a word's first subword
            in the flat `[W * P]` and its number of subwords in the window; zeros at padding.
        """
        rows = tf.shape(text.ids)[0]
        prefix = tf.fill([rows, 1], self.cls_id)
        ids, pieces, _ = self._windows(prefix, tf.ones([rows], tf.int32), text)
        return {"encoder_ids": ids, "pieces": pieces}

    def joint(self, question: Subwords, passage: Subwords) -> Tensors:
        """Builds one sequence per question and passage.

        Returns:
            `encoder_ids` int32 `[R, W, P]` as in `separate`; `segment_ids` int32 `[R, W, P]`, 1
            for the passage and the separator after it, if the encoder has segments;
            `question_pieces` int32 `[R, m, 2]` and `passage_pieces` int32 `[R, n, 2]` as `pieces`
            in `separate`.
        """
        limit = (self.length - 2 - self.num_separators) // 2
        lengths = tf.minimum(tf.reduce_sum(question.counts, axis=1), limit)  # [R]
        size = tf.maximum(tf.reduce_max(lengths), 0) + 1 + self.num_separators
        positions = tf.range(size)[None, :]  # [1, size]
        # The prefix [CLS] question [SEP], [R, size]: position 1 has the question's subword 0.
        ids = tf.pad(question.ids, [[0, 0], [1, 0]])
        prefix = tf.gather(ids, tf.minimum(positions[0], tf.shape(ids)[1] - 1), axis=1)
        prefix = tf.where(positions <= lengths[:, None], prefix, self.sep_id)
        prefix = tf.where(positions == 0, self.cls_id, prefix)
        prefix_lengths = lengths + 1 + self.num_separators
        ids, pieces, of_passage = self._windows(prefix, prefix_lengths, passage)
        ends = tf.minimum(tf.cumsum(question.counts, axis=1), lengths[:, None])  # [R, m]
        firsts = tf.pad(ends, [[0, 0], [1, 0]])[:, :-1]
        return {
            "encoder_ids": ids,
            "segment_ids": tf.cast(of_passage & self.segments, tf.int32),
            "question_pieces": _ranges(1 + firsts, ends - firsts),
            "passage_pieces": pieces,
        }

    def _windows(
        self, prefix: tf.Tensor, prefix_lengths: tf.Tensor, text: Subwords
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Divides texts into windows, each of which begins with a prefix and ends with a separator.

        With room for 4 subwords and an overlap of 2, the 7 subwords a to g are in the windows
        `abcd`, `cdef` and `efg`; d, whose smaller context is 0 in the first window and 1 in the
        second, belongs to the second.

        Args:
            prefix: int32 `[R, p]`.
            prefix_lengths: int32 `[R]`.
            text: `Subwords` of R texts.

        Returns:
            Ids `[R, W, P]`, pieces `[R, n, 2]` and the mask `[R, W, P]` of the text.
        """
        lengths = tf.reduce_sum(text.counts, axis=1)  # [R]
        room = self.length - prefix_lengths - 1
        step = room - tf.minimum(self.overlap, room // 2)
        num_windows = 1 + (tf.maximum(lengths - room, 0) + step - 1) // step
        width = longest(prefix_lengths + tf.minimum(lengths, room) + 1, self.length)  # P

        # === Ids ===
        count = tf.maximum(tf.reduce_max(num_windows), 1)  # W; there may be no rows
        if has_static_shapes():
            count = _power_of_two(count)
        window = tf.range(count)[None, :, None]  # [1, W, 1]
        position = tf.range(width)[None, None, :]  # [1, 1, P]
        begin = window * step[:, None, None]  # [R, W, 1], the window's first subword of the text
        held = tf.clip_by_value(lengths[:, None, None] - begin, 0, room[:, None, None])
        inner = position - prefix_lengths[:, None, None]  # [R, 1, P], negative in the prefix
        exists = window < num_windows[:, None, None]
        in_text = exists & (inner >= 0) & (inner < held)  # [R, W, P]
        at_end = exists & (inner == held)
        padded = tf.pad(text.ids, [[0, 0], [0, 1]])
        ids = tf.gather(padded, tf.where(in_text, begin + inner, 0), batch_dims=1)  # [R, W, P]
        before = tf.gather(prefix, tf.minimum(position[0, 0], tf.shape(prefix)[1] - 1), axis=1)
        ids = tf.where(in_text, ids, tf.where(at_end, self.sep_id, self.pad_id))
        ids = tf.where(exists & (inner < 0), before[:, None], ids)

        # === Words ===
        ends = tf.cumsum(text.counts, axis=1)  # [R, n]
        firsts = ends - text.counts
        lengths, room, step, num_windows, prefix_lengths = (
            x[:, None] for x in (lengths, room, step, num_windows, prefix_lengths)
        )  # [R, 1]
        # The step is at least half a window, so a subword is in at most two windows.
        later = tf.minimum(firsts // step, num_windows - 1)
        earlier = tf.maximum(later - 1, 0)

        def context(number):
            end = tf.minimum(number * step + room, lengths)
            left, right = firsts - number * step, end - ends
            # A word after the end of the earlier window is only in the later one.
            return tf.where(firsts < end, tf.minimum(left, right), tf.int32.min)

        # The window of each word, [R, n].
        number = tf.where(context(earlier) >= context(later), earlier, later)
        end = tf.minimum(number * step + room, lengths)
        first = number * width + prefix_lengths + firsts - number * step
        return ids, _ranges(first, tf.minimum(ends, end) - firsts), in_text | at_end

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the vocabulary."""
        names = ("cls_id", "sep_id", "pad_id", "length", "overlap", "num_separators", "segments")
        config = {name: getattr(self, name) for name in names}
        return {**config, "special_tokens": self.special_tokens}

    def save_assets(self, folder: str | Path) -> None:
        """Writes the configuration and the vocabulary to a folder, which is created."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.pieces.save_assets(folder)
        config = {
            "kind": self.pieces.kind,
            "pieces": self.pieces.get_config(),
            "windows": self.get_config(),
        }
        text = json.dumps(config, indent=2) + "\n"
        (folder / CONFIG_FILE).write_text(text, encoding="utf-8")

    @classmethod
    def from_assets(cls, folder: str | Path, **changes: Any) -> "SubwordTokenizer":
        """Loads the tokenizer from a folder of `save_assets`.

        Args:
            folder: str or path.
            **changes: Arguments that replace the saved ones, such as `length`.
        """
        folder = Path(folder)
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        pieces = _KINDS[config["kind"]].from_assets(folder, **config["pieces"])
        return cls(pieces, **{**config["windows"], **changes})

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self.get_config()), (self.pieces,)

    def __repr__(self) -> str:
        return (
            f"<SubwordTokenizer {self.pieces.kind} of {len(self.pieces)}, windows of "
            f"{self.length} that overlap by {self.overlap}>"
        )


def _power_of_two(count: tf.Tensor) -> tf.Tensor:
    """Returns the smallest power of two that is at least `count`."""
    powers = tf.constant([1 << bits for bits in range(31)])
    return powers[tf.searchsorted(powers, count[None])[0]]


def _ranges(first: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Stacks first position and count to int32 `[.., 2]`, zeros for a word without subwords."""
    count = tf.maximum(count, 0)
    return tf.stack([tf.where(count > 0, first, 0), count], axis=-1)

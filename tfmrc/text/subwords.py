"""Words as the subwords of a pretrained encoder, and subwords as the windows that it reads."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.byte_pairs import BytePairs
from tfmrc.text.sentence_pieces import SentencePieces
from tfmrc.text.word_pieces import WordPieces

CONFIG_FILE = "subwords.json"
_KINDS = {kind.kind: kind for kind in (WordPieces, BytePairs, SentencePieces)}
Tensors = dict[str, tf.Tensor]


class Subwords(NamedTuple):
    """The subwords of R texts.

    Attributes:
        ids: int32 `[R, T]`, the subwords of all words of a text, 0 after the last.
        counts: int32 `[R, n]`, how many subwords each word has; 0 at padding.
    """

    ids: tf.Tensor
    counts: tf.Tensor

    def part(self, row: Any, first: Any, size: Any) -> "Subwords":
        """The words `first` to `first + size` of some rows, as texts of their own.

        Args:
            row: int32 `[Q]`, rows.
            first: int32 `[Q]`, the first word.
            size: int32 scalar, the number of words; there may be fewer.
        """
        ends = tf.cumsum(self.counts, axis=1)
        counts, ends = tf.gather(self.counts, row), tf.gather(ends, row)
        words = first[:, None] + tf.range(size)
        known = words < tf.shape(counts)[1]
        words = tf.minimum(words, tf.shape(counts)[1] - 1)
        counts = tf.where(known, tf.gather(counts, words, batch_dims=1), 0)
        before = tf.gather(tf.pad(ends, [[0, 0], [1, 0]]), first, batch_dims=1)
        lengths = tf.reduce_sum(counts, axis=1)
        places = tf.range(tf.reduce_max(lengths))
        inside = places < lengths[:, None]
        places = tf.where(inside, before[:, None] + places, 0)
        # A batch without subwords has no column to look at.
        ids = tf.gather(tf.pad(self.ids, [[0, 0], [0, 1]]), row)
        return Subwords(tf.where(inside, tf.gather(ids, places, batch_dims=1), 0), counts)


class SubwordTokenizer(tf.Module):
    """Cuts words into an encoder's subwords and lays them out as the sequences that it reads.

    Two ways to read. *Separate*: each text by itself, `[CLS] text [SEP]`. *Joint*: question and
    passage as one sequence, `[CLS] question [SEP] passage [SEP]` (RoBERTa writes two separators
    between them). Words stay the unit: every word knows where its first subword is and how many
    it has. Graph operations only.

    A text that does not fit into `length` positions is read in windows, `overlap` subwords of one
    repeated in the next; each word belongs to the window in which the smaller one of its left and
    right contexts is largest, of two equal ones to the first. In joint reading the question
    precedes the passage in every window, cut to half of the positions; its words belong to the
    first window.

    Args:
        pieces: `WordPieces`, `BytePairs` or `SentencePieces`.
        cls_id: id of the first subword of a sequence.
        sep_id: id of the one that ends a text.
        pad_id: id at padding.
        length: positions of a window, at most those of the encoder.
        overlap: subwords of a window that the next repeats; at most half of what a window holds.
        num_separators: between question and passage.
        segments: whether the passage has segment id 1.

    Raises:
        ValueError: a window has no room for a text.

    Example:
        >>> from tfmrc.text import SubwordTokenizer
        >>> from tfmrc.text.word_pieces import WordPieces
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
        pieces: WordPieces | BytePairs | SentencePieces,
        cls_id: int,
        sep_id: int,
        pad_id: int,
        length: int = 512,
        overlap: int = 128,
        num_separators: int = 1,
        segments: bool = True,
    ):
        super().__init__(name="subwords")
        if length < 4 + num_separators or overlap < 0:
            raise ValueError(
                "A window has room for the special subwords and a text, and overlaps by 0 or "
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

    def cut(self, words: Any, spaced: Any = None) -> Subwords:
        """Cuts the words of texts into subwords.

        Each different word of the batch is cut once. A word of which the encoder's tokenizer
        leaves nothing (a control character alone, for instance) has no subword.

        Args:
            words: string `[R, n]`, as they are in the text; "" at padding.
            spaced: bool `[R, n]`, whether a space comes before the word; by default before all
                but the first. The first word of a text is what the encoder's convention says.
        """
        words = tf.convert_to_tensor(words, tf.string)
        if spaced is None:
            spaced = tf.ones_like(words, tf.bool)
        first = tf.range(tf.shape(words)[1]) == 0
        spaced = tf.where(first, self.pieces.first_is_spaced, spaced)
        places = tf.where(words != "")
        # The mark keeps a word after a space apart from the same word without one.
        marked = tf.strings.join([tf.where(spaced, " ", "_"), words])
        unique, which = tf.unique(tf.gather_nd(marked, places))
        pieces = self.pieces.cut(
            tf.strings.substr(unique, 1, 1 << 30), tf.strings.substr(unique, 0, 1) == " "
        )
        pieces = tf.gather(pieces, which)
        counts = tf.scatter_nd(
            places, tf.cast(pieces.row_lengths(), tf.int32), tf.shape(words, tf.int64)
        )
        ids = tf.RaggedTensor.from_row_lengths(
            pieces.values, tf.reduce_sum(counts, axis=1), validate=False
        )
        return Subwords(ids.to_tensor(), counts)

    def separate(self, text: Subwords) -> Tensors:
        """Each text by itself.

        Returns:
            `encoder_ids` int32 `[R, W, P]`: W windows of P subwords, special ones included,
            `pad_id` after the last; `pieces` int32 `[R, n, 2]`: the place of a word's first
            subword in the flat `[W * P]`, and how many of them the window holds; zeros at padding.
        """
        rows = tf.shape(text.ids)[0]
        prefix = tf.fill([rows, 1], self.cls_id)
        ids, pieces, _ = self._windows(prefix, tf.ones([rows], tf.int32), text)
        return {"encoder_ids": ids, "pieces": pieces}

    def joint(self, question: Subwords, passage: Subwords) -> Tensors:
        """Question and passage as one sequence.

        Returns:
            `encoder_ids` int32 `[R, W, P]` as in `separate`; `segment_ids` int32 `[R, W, P]`, 1
            for the passage and the separator after it, if the encoder has segments;
            `question_pieces` int32 `[R, m, 2]` and `passage_pieces` int32 `[R, n, 2]` as `pieces`
            in `separate`.
        """
        limit = (self.length - 2 - self.num_separators) // 2
        lengths = tf.minimum(tf.reduce_sum(question.counts, axis=1), limit)
        size = tf.reduce_max(lengths) + 1 + self.num_separators
        places = tf.range(size)[None, :]
        ids = tf.pad(question.ids, [[0, 0], [1, 0]])
        ids = tf.gather(
            ids,
            tf.minimum(places, tf.shape(ids)[1] - 1) * tf.ones_like(lengths)[:, None],
            batch_dims=1,
        )
        prefix = tf.where(places <= lengths[:, None], ids, self.sep_id)
        prefix = tf.where(places == 0, self.cls_id, prefix)
        prefix_lengths = lengths + 1 + self.num_separators
        ids, pieces, of_passage = self._windows(prefix, prefix_lengths, passage)
        ends = tf.minimum(tf.cumsum(question.counts, axis=1), lengths[:, None])
        firsts = tf.pad(ends, [[0, 0], [1, 0]])[:, :-1]
        return {
            "encoder_ids": ids,
            "segment_ids": tf.cast(of_passage & self.segments, tf.int32),
            "question_pieces": _placed(1 + firsts, ends - firsts),
            "passage_pieces": pieces,
        }

    def _windows(
        self, prefix: tf.Tensor, prefix_lengths: tf.Tensor, text: Subwords
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Ids `[R, W, P]`, words `[R, n, 2]`, and bool `[R, W, P]`: the text and its separator."""
        lengths = tf.reduce_sum(text.counts, axis=1)
        room = self.length - prefix_lengths - 1
        step = room - tf.minimum(self.overlap, room // 2)
        num_windows = 1 + (tf.maximum(lengths - room, 0) + step - 1) // step
        width = tf.reduce_max(prefix_lengths + tf.minimum(lengths, room)) + 1

        # === Ids ===
        window = tf.range(tf.reduce_max(num_windows))[None, :, None]
        place = tf.range(width)[None, None, :]
        begin = window * step[:, None, None]
        held = tf.clip_by_value(lengths[:, None, None] - begin, 0, room[:, None, None])
        inner = place - prefix_lengths[:, None, None]
        exists = window < num_windows[:, None, None]
        in_text = exists & (inner >= 0) & (inner < held)
        at_end = exists & (inner == held)
        padded = tf.pad(text.ids, [[0, 0], [0, 1]])
        ids = tf.gather(padded, tf.where(in_text, begin + inner, 0), batch_dims=1)
        before = tf.gather(prefix, tf.minimum(place[0, 0], tf.shape(prefix)[1] - 1), axis=1)
        ids = tf.where(in_text, ids, tf.where(at_end, self.sep_id, self.pad_id))
        ids = tf.where(exists & (inner < 0), before[:, None], ids)

        # === Words ===
        ends = tf.cumsum(text.counts, axis=1)
        firsts = ends - text.counts
        lengths, room, step, num_windows, prefix_lengths = (
            x[:, None] for x in (lengths, room, step, num_windows, prefix_lengths)
        )
        # Steps are at least half a window: a subword is in at most two of them.
        later = tf.minimum(firsts // step, num_windows - 1)
        earlier = tf.maximum(later - 1, 0)

        def context(number):
            end = tf.minimum(number * step + room, lengths)
            left, right = firsts - number * step, end - ends
            # Where the earlier window ends before the word, only the later one has it.
            return tf.where(firsts < end, tf.minimum(left, right), -self.length * 2)

        number = tf.where(context(earlier) >= context(later), earlier, later)
        end = tf.minimum(number * step + room, lengths)
        first = number * width + prefix_lengths + firsts - number * step
        return ids, _placed(first, tf.minimum(ends, end) - firsts), in_text | at_end

    def get_config(self) -> dict[str, Any]:
        """Plain values; the vocabulary is saved by `save_assets`."""
        return {
            "cls_id": self.cls_id,
            "sep_id": self.sep_id,
            "pad_id": self.pad_id,
            "length": self.length,
            "overlap": self.overlap,
            "num_separators": self.num_separators,
            "segments": self.segments,
        }

    def save_assets(self, folder: str | Path) -> None:
        """Writes the configuration and the vocabulary into the folder, which is made."""
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
        """Builds the tokenizer from the folder that `save_assets` wrote to.

        Args:
            folder: the folder.
            **changes: arguments that replace the saved ones, `length` for instance.

        Raises:
            ValueError: the folder is not one of ours.
        """
        folder = Path(folder)
        config = json.loads((folder / CONFIG_FILE).read_text(encoding="utf-8"))
        if config["kind"] not in _KINDS:
            raise ValueError(
                f"Subwords are of a kind among {sorted(_KINDS)}. "
                f"Received: kind={config['kind']!r} in {folder / CONFIG_FILE}"
            )
        pieces = _KINDS[config["kind"]].from_assets(folder, **config["pieces"])
        return cls(pieces, **{**config["windows"], **changes})

    def __repr__(self) -> str:
        return (
            f"<SubwordTokenizer {self.pieces.kind} of {len(self.pieces)}, windows of "
            f"{self.length} that overlap by {self.overlap}>"
        )


def _placed(first: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """int32 `[.., 2]`, zeros where there is no subword."""
    count = tf.maximum(count, 0)
    return tf.stack([tf.where(count > 0, first, 0), count], axis=-1)

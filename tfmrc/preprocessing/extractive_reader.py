"""Preprocessor of extractive readers."""

import functools
from typing import Any

import keras
import tensorflow as tf

from tfmrc.preprocessing.base import DEVICE, Preprocessor, Tensors
from tfmrc.preprocessing.labels import mean_of_counted
from tfmrc.text.checks import checked
from tfmrc.text.code_points import CodePointTable, marks_table, member, white_space_table
from tfmrc.text.layout import longest, same_batch, strings
from tfmrc.text.subwords.text_pieces import TextPieces
from tfmrc.text.subwords.tokenizer import SubwordTokenizer
from tfmrc.text.vocabulary import Vocabulary
from tfmrc.text.words.unspaced import UNSPACED

WINDOW, OVERLAP = 384, 128  # sizes for encoders that read as much at once
MODEL_INPUTS = ("encoder_ids", "segment_ids", "answer_mask")


@keras.saving.register_keras_serializable(package="tfmrc")
class ExtractiveReaderPreprocessor(Preprocessor):
    """Converts strings to the windows of subwords that an extractive reader reads.

    The subwords, their characters and the windows are those of Hugging Face's tokenizers:
    `[CLS] question [SEP] passage [SEP]`, and for a passage that does not fit, windows of
    `window_length` subwords that share `overlap` subwords of the passage.

    Args:
        vocabulary: `tfmrc.text.Vocabulary` or None. Not used, because the words are the encoder's
            subwords; the first argument of all preprocessors. Default: None.
        encoder: `tfmrc.encoders.Encoder` or `tfmrc.text.SubwordTokenizer`. The pretrained encoder.
        window_length: int or None. Number of subwords of a window, with the question and the
            special subwords; None for 384 or those that the encoder reads at once, if they are
            fewer. Default: None.
        overlap: int or None. Number of subwords that consecutive windows share; None for 128, or
            half of the room for the passage if it has no more. Default: None.
        question_length: int. Largest number of subwords of a question. Default: 64.
        answer_length: int. Largest number of subwords of an answer. Default: 15.
        longest_passage: int. Largest number of subwords of a passage. Default: 100000.
        unanswerable: bool. Whether questions that are labelled as unanswerable are trained to have
            no answer (`[CLS]`), instead of being left out. Default: False.
        styles: sequence of str. Answer styles for training. Default: ('span',).

    Raises:
        ValueError: A size is not positive, or windows have no room for a passage.

    Example:
        >>> from tfmrc import encoders
        >>> from tfmrc.preprocessing import ExtractiveReaderPreprocessor
        >>> encoder = encoders.from_vocabulary(["who", "flew", "an", "owl", "?"])
        >>> preprocessor = ExtractiveReaderPreprocessor(encoder=encoder)
        >>> read = preprocessor.source(["Who flew?"], ["An owl."])
        >>> read["encoder_ids"].numpy().tolist(), read["starts"].numpy().tolist()
        ([[2, 4, 5, 8, 3, 6, 7, 1, 3]], [[-1, -1, -1, -1, -1, 0, 3, 6, -1]])

    Reference: Devlin et al. 2019; the released `run_squad.py` of BERT.
    """

    needs_spans = True

    window_length: int
    overlap: int
    question_length: int
    answer_length: int
    longest_passage: int
    subwords: SubwordTokenizer

    def __init__(
        self,
        vocabulary: Vocabulary | None = None,
        *,
        encoder: Any,
        window_length: int | None = None,
        overlap: int | None = None,
        question_length: int = 64,
        answer_length: int = 15,
        longest_passage: int = 100_000,
        unanswerable: bool = False,
        styles: tuple[str, ...] = ("span",),
    ):
        subwords: SubwordTokenizer = getattr(encoder, "subwords", encoder)
        super().__init__(
            Vocabulary(()),
            styles=styles,
            encoder=encoder,
            window_length=min(WINDOW, subwords.length) if window_length is None else window_length,
            question_length=question_length,
            answer_length=answer_length,
            longest_passage=longest_passage,
            overlap=OVERLAP if overlap is None else overlap,
        )
        self.unanswerable = unanswerable
        self.num_special = 2 + self.subwords.num_separators
        room = self.window_length - question_length - self.num_special
        if overlap is None and room <= OVERLAP:
            self.overlap = max(room // 2, 1)
        if room <= self.overlap:
            raise ValueError(
                "A window must have room for the question, the special subwords, and more subwords "
                "of the passage than windows share. Received: "
                f"window_length={self.window_length}, question_length={question_length}, "
                f"overlap={self.overlap}"
            )
        if self.window_length > self.subwords.length:
            raise ValueError(
                f"The encoder reads {self.subwords.length} subwords at once. "
                f"Received: window_length={self.window_length}"
            )

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments as plain values, with the sizes that it chose."""
        config = super().get_config()
        sizes = {"window_length": self.window_length, "overlap": self.overlap}
        return config | {name: size for name, size in sizes.items() if name in config}

    @classmethod
    def from_examples(cls, examples: Any, **arguments: Any) -> "ExtractiveReaderPreprocessor":
        """Returns a preprocessor.

        No words are counted. The examples are read for their answers' styles, in order of their
        first occurrence, if `styles` is not given.

        Raises:
            TypeError: An argument does not exist.
        """
        if "styles" not in arguments:
            read = examples() if callable(examples) else examples
            styles = dict.fromkeys(style for example in read for style in example.answers)
            arguments |= {"styles": tuple(styles)} if styles else {}
        return cls(**arguments)

    def model_kwargs(self) -> dict[str, Any]:
        """Returns no sizes: those of the model are the encoder's."""
        return {}

    @property
    def model_inputs(self) -> tuple[str, ...]:
        """Names of the model's inputs."""
        return MODEL_INPUTS

    def source(
        self,
        question: tf.Tensor,
        passage: tf.Tensor,
        *,
        window_length: int | tf.Tensor | None = None,
        overlap: int | tf.Tensor | None = None,
        question_length: int | tf.Tensor | None = None,
    ) -> Tensors:
        """Returns the windows of questions and passages.

        Args:
            question: string `[B]`.
            passage: string `[B]`.
            window_length, overlap, question_length: int or int32 scalar in place of those of the
                preprocessor. Default: None.

        Returns:
            A dict, with W windows of P subwords: the model's inputs `encoder_ids`, `segment_ids`
            int32 `[W, P]` and `answer_mask` bool `[W, P]`; of each subword of the passage `starts`,
            `ends` (code points), `words` (number of its word), `word_starts` and `word_ends`
            (code points of the whole word) int32 `[W, P]`, -1 elsewhere; `row` int32 `[W]`, the
            example; `first` int32 `[W]`, the first subword of the passage in the window; `lengths`
            int32 `[W]`, the number of subwords; `truncated` bool `[B]`.

        Raises:
            tf.errors.InvalidArgumentError: The batch sizes differ, or windows have no room.
        """
        with tf.device(DEVICE):
            passage = strings("passage", passage)
            question = same_batch("questions and passages", strings("question", question), passage)
            count = tf.shape(question)[0]
            read = self.subwords.tokenize(tf.concat([question, passage], axis=0))  # [2 B, subwords]
            asked = TextPieces(*(field[:count] for field in read))  # [B, subwords]
            given = TextPieces(*(field[count:] for field in read))  # [B, subwords]
            limit = self.question_length if question_length is None else question_length
            result = self._windows(
                asked.first(limit),
                given.first(self.longest_passage),
                passage,
                self.window_length if window_length is None else window_length,
                self.overlap if overlap is None else overlap,
            )
            question_lengths, passage_lengths = (
                tf.cast(text.ids.row_lengths(), tf.int32) for text in (asked, given)
            )  # [B] each
            is_cut = (question_lengths > limit) | (passage_lengths > self.longest_passage)
            return result | {"truncated": is_cut}

    def _windows(
        self,
        asked: TextPieces,
        given: TextPieces,
        passage: tf.Tensor,
        length: int | tf.Tensor,
        overlap: int | tf.Tensor,
    ) -> Tensors:
        subwords = self.subwords
        # A window is [CLS] question [SEP], its prefix, and part of the passage [SEP].
        prefixes = tf.cast(asked.ids.row_lengths(), tf.int32) + 1 + subwords.num_separators  # [B]
        lengths = tf.cast(given.ids.row_lengths(), tf.int32)  # [B]
        room = length - prefixes - 1  # [B], subwords of the passage in a window
        step = room - overlap  # [B], subwords between the starts of two windows
        step = checked(
            tf.maximum(step, 1),
            tf.reduce_all(step > 0),
            "A window must have room for the question and more subwords of the passage than "
            "windows share. Received: window_length=", length, ", overlap=", overlap,
            ", subwords of the longest question=", tf.reduce_max(prefixes),
        )  # fmt: skip
        counts = 1 + (tf.maximum(lengths - room, 0) + step - 1) // step  # [B], windows
        row = tf.repeat(tf.range(tf.size(counts)), counts)  # [W]
        number = tf.range(tf.size(row)) - tf.gather(tf.cumsum(counts) - counts, row)  # [W]
        first = number * tf.gather(step, row)  # [W], the first subword of the passage
        prefix = tf.gather(prefixes, row)  # [W]
        held = tf.minimum(tf.gather(lengths, row) - first, tf.gather(room, row))  # [W]
        limit = length if isinstance(length, int) else self.subwords.length
        position = tf.range(longest(prefix + held + 1, limit))  # [P]
        inner = position - prefix[:, None]  # [W, P], position in the part of the passage
        in_passage = (inner >= 0) & (inner < held[:, None])
        in_question = (position > 0) & (inner < -subwords.num_separators)
        # In the values of all passages: a row per window of its whole passage would be quadratic.
        begin = tf.cast(tf.gather(given.ids.row_starts(), row), tf.int32) + first  # [W]
        index = tf.where(in_passage, begin[:, None] + inner, 0)  # [W, P]

        def of_passage(field: tf.RaggedTensor) -> tf.Tensor:
            values = tf.pad(field.values, [[0, 1]])  # one even without any subword
            return tf.where(in_passage, tf.gather(values, index), -1)  # [W, P]

        padded = tf.gather(tf.pad(asked.ids.to_tensor(), [[0, 0], [1, 1]]), row)  # [W, 1 + m + 1]
        asked_ids = tf.gather(
            padded, tf.where(in_question, position[None] + 0 * prefix[:, None], 0), batch_dims=1
        )  # [W, P]
        real = inner <= held[:, None]
        ids = tf.where(real, subwords.sep_id, subwords.pad_id)
        ids = tf.where(in_question, asked_ids, ids)
        ids = tf.where(position == 0, subwords.cls_id, ids)
        ids = tf.where(in_passage, of_passage(given.ids), ids)  # [W, P]
        if subwords.pieces.keeps_spaces:
            given = _without_spaces(given, passage)
        characters = {"starts": given.starts, "ends": given.ends, "words": given.words}
        characters |= _whole_words(given, passage)
        return {
            "encoder_ids": ids,
            "segment_ids": tf.cast((inner >= 0) & real & subwords.segments, tf.int32),
            "answer_mask": in_passage | (position == 0),
            **{name: of_passage(field) for name, field in characters.items()},
            "row": row,
            "first": first,
            "lengths": prefix + held + 1,
        }

    def batch(self, records: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        """Returns one batch for `model.fit`: one window of each example.

        Args:
            records: dict. `question` string `[B]`, `passages` string `[B, K']`, `span` int32
                `[B, 3]`: passage, start and end of the target answer in characters, -1 without an
                answer, and optionally `answer` string `[B]`, "" without one, and `answerable` int
                `[B]`: 1, 0 or -1 (unknown). The model reads the first window that has the whole
                answer.

        Returns:
            `(x, y, sample_weight)`: the model's inputs, `answer_mask` as int32 0 or 1; `begin` and
            `end` int32 `[B]`, positions in the window, -1 for an example that is left out; weights
            of mean 1 over the batch.
        """
        passages, span = records["passages"], tf.cast(records["span"], tf.int32)
        filled = tf.pad(passages, [[0, 0], [0, 1]], constant_values="")
        passage = tf.gather(filled, tf.maximum(span[:, 0], 0), batch_dims=1)  # [B]
        source = self.source(records["question"], passage)
        row, in_passage = source["row"], source["starts"] >= 0  # [W], [W, P]
        begin, end = (tf.gather(span[:, column], row)[:, None] for column in (1, 2))  # [W, 1]
        within = (source["starts"] < end) & (source["ends"] > begin) & (begin >= 0) & in_passage
        first = tf.argmax(within, axis=1, output_type=tf.int32)  # [W]
        size = tf.shape(within)[1]
        last = size - 1 - tf.argmax(tf.reverse(within, [1]), axis=1, output_type=tf.int32)  # [W]
        # Whole, if it has all subwords of the answer that the passage has. Spaces at its ends, and
        # characters that the tokenizer removes, belong to no subword.
        index = source["first"][:, None] + tf.cumsum(tf.cast(in_passage, tf.int32), axis=1) - 1
        count = tf.shape(span)[0]
        low = tf.reduce_min(tf.where(within, index, tf.int32.max), axis=1)  # [W]
        high = tf.reduce_max(tf.where(within, index, -1), axis=1)  # [W]
        lowest = tf.math.unsorted_segment_min(low, row, count)  # [B]
        highest = tf.math.unsorted_segment_max(high, row, count)  # [B]
        whole = (low == tf.gather(lowest, row)) & (high == tf.gather(highest, row)) & (high >= 0)
        # A passage that is cut may have lost the end of the answer.
        ended = tf.gather(source["ends"], last, batch_dims=1) >= end[:, 0]  # [W]
        whole &= ended | (high < self.longest_passage - 1)
        # The first window with the whole answer; the first one of an example without an answer.
        windows = tf.range(tf.size(row))
        best = tf.math.unsorted_segment_min(tf.where(whole, windows, tf.size(row)), row, count)
        known = best < tf.size(row)  # [B]
        window = tf.where(known, best, tf.searchsorted(row, tf.range(count)))  # [B]
        x = self.inputs_of(source, window)
        lacking = span[:, 1] < 0  # [B]
        if "answer" in records:  # a text that no span has is not the lack of an answer
            lacking &= records["answer"] == ""
        if "answerable" in records:  # nor is an answer that is not told
            lacking &= tf.cast(records["answerable"], tf.int32) == 0
        empty = tf.where(lacking, 0 if self.unanswerable else -1, -1)
        y = {
            name: tf.where(known, tf.gather(values, window), empty)  # [B]
            for name, values in (("begin", first), ("end", last))
        }
        weight = mean_of_counted(y["begin"] >= 0)
        return x, y, {"begin": weight, "end": weight}

    def inputs_of(self, source: Tensors, window: tf.Tensor) -> Tensors:
        """Returns the model's inputs of some windows `[B]` of `source`, `[B, P]` each."""
        x = {name: tf.gather(source[name], window) for name in MODEL_INPUTS}
        # Keras adds up the inputs over replicas, which it cannot do with booleans.
        return x | {"answer_mask": tf.cast(x["answer_mask"], tf.int32)}


@functools.cache
def _unspaced_table() -> CodePointTable:
    """Returns the table of the scripts without spaces between words."""
    return CodePointTable(member(UNSPACED))


def _without_spaces(given: TextPieces, texts: tf.Tensor) -> TextPieces:
    """Leaves out the white space at both ends of subwords that have other characters."""
    row = given.words.value_rowids()  # [T]
    points = tf.strings.unicode_decode(texts + " ", "UTF-8")  # [R, characters], at least one
    before = tf.gather(tf.cast(points.row_starts(), tf.int32), row)  # [T]
    starts, ends = before + given.starts.values, before + given.ends.values  # [T] each
    # The places of other characters in all texts, with an end on both sides.
    others = tf.cast(tf.where(~white_space_table().lookup(points.values))[:, 0], tf.int32)
    padded = tf.pad(others, [[1, 1]], constant_values=tf.size(points.values))
    first = tf.gather(padded, 1 + tf.searchsorted(others, starts))
    last = tf.gather(padded, tf.searchsorted(others, ends))
    is_blank = first >= ends
    starts, ends = tf.where(is_blank, starts, first), tf.where(is_blank, ends, last + 1)
    return given._replace(
        starts=given.starts.with_values(starts - before), ends=given.ends.with_values(ends - before)
    )


def _whole_words(given: TextPieces, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
    """Returns for each subword the first character of its word and the one after its last.

    In scripts without spaces between words (`tfmrc.text.words.unspaced`) a word ends where a
    subword does, but not before a combining mark or within a character.
    """
    words, row = given.words.values, given.words.value_rowids()  # [T] each
    starts, ends = given.starts.values, given.ends.values  # [T] each
    points = tf.strings.unicode_decode(texts + " ", "UTF-8")  # [R, characters], at least one
    before = tf.gather(tf.cast(points.row_starts(), tf.int32), row)  # [T]
    first = tf.gather(points.values, before + starts)[1:]
    last = tf.gather(points.values, before + tf.maximum(ends - 1, 0))[:-1]  # of the subword before
    unspaced = _unspaced_table().lookup
    is_edge = (unspaced(first) | unspaced(last)) & ~marks_table().lookup(first)  # [T - 1]
    begins = (words[1:] != words[:-1]) | (row[1:] != row[:-1])
    begins |= is_edge & (starts[1:] >= ends[:-1])
    word = tf.cumsum(tf.cast(tf.pad(begins, [[1, 0]])[: tf.size(words)], tf.int32))  # [T]
    return {
        "word_starts": given.words.with_values(tf.gather(tf.math.segment_min(starts, word), word)),
        "word_ends": given.words.with_values(tf.gather(tf.math.segment_max(ends, word), word)),
    }

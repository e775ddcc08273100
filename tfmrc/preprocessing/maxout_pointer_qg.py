"""The preprocessor of question generation: a passage and an answer to the model's inputs."""

from typing import Any

import keras
import tensorflow as tf

from tfmrc.preprocessing.base import DEVICE, Preprocessor, Tensors
from tfmrc.preprocessing.encoder_inputs import subwords_of_tokens
from tfmrc.preprocessing.source import copied_passage
from tfmrc.preprocessing.targets import decoder_targets
from tfmrc.text.checks import checked
from tfmrc.text.layout import FlatTokens, cut_rows, same_batch, spread, strings
from tfmrc.text.occurrence import first_occurrence, occurs_at
from tfmrc.text.rows import row_of_values
from tfmrc.text.subwords.tokenizer import SubwordTokenizer
from tfmrc.text.vocabulary import Vocabulary
from tfmrc.text.words.sentences import sentence_numbers
from tfmrc.text.words.tokenizer import Tokens

MODEL_INPUTS = ("passage_ids", "answer_tags", "extended_ids")
ENCODER_INPUTS = ("encoder_ids", "segment_ids", "passage_pieces")
CONTEXTS = ("paragraph", "sentence")
UNKNOWN = -1


@keras.saving.register_keras_serializable(package="tfmrc")
class MaxoutPointerQGPreprocessor(Preprocessor):
    """Converts passages and answers to inputs of question generation, and ids to strings.

    The context that the model reads is the whole passage, or the sentences that hold the answer. If
    the context has more than `passage_length` words, its first ones are read, or those around the
    answer if that comes later.

    Extended ids: a word among the first G = `generation_vocabulary_size` rows has its input id,
    any other word G + its first position in the context.

    A pretrained encoder reads answer and context as one sequence, `[CLS] answer [SEP] context
    [SEP]`, the form of text pairs in its own training: it needs no new marks, which a frozen
    encoder would not know, and fits families without segments. The answer tags tell which of
    several occurrences is meant. With `reading="separate"`, or without answers, the encoder reads
    the context only.

    Args:
        vocabulary: the input ids.
        context: "paragraph" or "sentence".
        passage_length: words of a passage that are read.
        question_length: words of a question that are kept; `EOS` follows them.
        generation_vocabulary_size: at most so many generable rows, special ones included.
        with_answers: whether there are answers. Without, nothing is tagged, and the context is
            the paragraph.
        styles: whose answers `tfmrc.data.make_dataset` takes.
        encoder: a pretrained encoder (`tfmrc.encoders.from_preset`) or its subwords; None for
            none.
        reading: what the encoder reads: "joint", answer and passage as one sequence, or
            "separate", the passage alone.

    Raises:
        ValueError: If a size is not positive, or the context is unknown.

    Example:
        >>> from tfmrc.preprocessing import MaxoutPointerQGPreprocessor
        >>> from tfmrc.text import Vocabulary
        >>> vocabulary = Vocabulary(["who", "met", "the", "king", "?"])
        >>> preprocessor = MaxoutPointerQGPreprocessor(vocabulary, context="sentence")
        >>> source = preprocessor.source(["It rained. Ada met the king of Ada."], ["Ada"])
        >>> source["passage_ids"].numpy()
        array([[1, 5, 6, 7, 1, 1, 1]], dtype=int32)
        >>> source["extended_ids"].numpy()
        array([[ 9,  5,  6,  7, 13,  9, 15]], dtype=int32)
        >>> source["answer_tags"].numpy()
        array([[1, 0, 0, 0, 0, 0, 0]], dtype=int32)
        >>> target = preprocessor.target(["Who met Ada?"], source)
        >>> target["target_ids"].numpy()
        array([[4, 5, 9, 8, 3]], dtype=int32)
        >>> preprocessor.detokenize(target["target_ids"], source)[0].numpy()
        array([b'who met Ada?'], dtype=object)

    Reference: Zhao et al. 2018, sections 2.2 and 3.
    """

    passage_length: int
    question_length: int

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        context: str = "paragraph",
        passage_length: int = 400,
        question_length: int = 50,
        generation_vocabulary_size: int = 45_000,
        with_answers: bool = True,
        styles: tuple[str, ...] = ("span",),
        encoder: Any = None,
        reading: str = "joint",
    ):
        if context not in CONTEXTS:
            raise ValueError(f"`context` is one of {CONTEXTS}. Received: context={context!r}")
        super().__init__(
            vocabulary,
            styles=styles,
            generation_vocabulary_size=generation_vocabulary_size,
            passage_length=passage_length,
            question_length=question_length,
            encoder=encoder,
            reading=reading,
        )
        self.context = context
        self.with_answers = with_answers

    def model_kwargs(self) -> dict[str, Any]:
        """The sizes that a `tfmrc.models.MaxoutPointerQG` must have."""
        sizes = super().model_kwargs()
        sizes.pop("reading", None)  # both give the same inputs
        return sizes

    @property
    def model_inputs(self) -> tuple[str, ...]:
        """Names of the model's inputs, except the question's."""
        return MODEL_INPUTS if self.subwords is None else MODEL_INPUTS + ENCODER_INPUTS

    def source(
        self, passage: tf.Tensor, answer: tf.Tensor, answer_start: tf.Tensor | None = None
    ) -> Tensors:
        """Returns the model's inputs, and what maps source positions back to strings.

        Args:
            passage: string `[B]`.
            answer: string `[B]`.
            answer_start: int32 `[B]`, the code point of the passage that the answer begins with;
                -1, or None for all: its first occurrence, of whole words if there is one.

        Returns:
            A dict. The model's inputs, int32 `[B, M]`: `passage_ids`, `answer_tags`,
            `extended_ids`; with an encoder also `encoder_ids` and `segment_ids` `[B, W, P]` and
            `passage_pieces` `[B, M, 2]`, see `tfmrc.text.SubwordTokenizer.joint`. Beside them,
            `[B, M]`: `words` (surfaces), `compared`, `starts` and `ends` (code points of the
            passage); `answer_start` int32 `[B]`; and `truncated` bool `[B]`: words of the context
            were cut.

        Raises:
            tf.errors.InvalidArgumentError: an answer is empty, or does not occur in its passage,
                or not where `answer_start` says; or the batch sizes differ.
        """
        with tf.device(DEVICE):
            passage = strings("passage", passage)
            answer = strings("answer", answer)
            tokens = self.tokenizer.tokenize(passage)  # [B, words]
            start = tf.fill(tf.shape(passage), UNKNOWN)  # [B]
            if self.with_answers:
                start = _answer_start(passage, answer, answer_start, tokens)
            end = start + tf.strings.length(answer, unit="UTF8_CHAR")  # [B]
            kept, truncated = self._read(passage, tokens, start, end)
            result = copied_passage(
                kept, self.vocabulary, self.generation_vocabulary_size, self.passage_length
            )
            tags = tf.cast(_overlap(kept.starts, kept.ends, kept.row, start, end), tf.int32)
            shape = tuple(tf.unstack(tf.shape(result["passage_ids"])))
            result["answer_tags"] = spread(tags, kept.row, kept.position, shape)  # [B, M]
            if self.subwords is not None:
                result |= self._encoder_inputs(self.subwords, kept, answer)
            return result | {"answer_start": start, "truncated": truncated}

    def _encoder_inputs(
        self, subwords: SubwordTokenizer, kept: FlatTokens, answer: tf.Tensor
    ) -> Tensors:
        passage = subwords_of_tokens(subwords, kept, self.passage_length)
        if self.reading == "separate" or not self.with_answers:
            read = subwords.separate(passage)
            read["segment_ids"] = tf.zeros_like(read["encoder_ids"])
            read["passage_pieces"] = read.pop("pieces")
        else:
            tokens = self.cut_words(answer, self.passage_length)
            given = subwords_of_tokens(subwords, tokens, self.passage_length)
            read = subwords.joint(given, passage)
        return {name: read[name] for name in ENCODER_INPUTS}

    def _read(
        self, passage: tf.Tensor, tokens: Tokens, start: tf.Tensor, end: tf.Tensor
    ) -> tuple[FlatTokens, tf.Tensor]:
        """The tokens that the model reads, and whether some of the context were cut."""
        begin = tf.zeros_like(start)  # [B], the first word of the context
        behind = tf.cast(tokens.starts.row_lengths(), tf.int32)  # [B], the word after it
        if self.with_answers:
            row, position = _rows_and_positions(tokens)  # [N] each
            inside = _overlap(tokens.starts.values, tokens.ends.values, row, start, end)  # [N]
            if self.context == "sentence":
                numbers = sentence_numbers(passage, tokens)  # [N]
                first, last = _range(numbers, inside, row, start)
                selected = (numbers >= tf.gather(first, row)) & (numbers <= tf.gather(last, row))
                begin, last_position = _range(position, selected, row, start)
                behind = last_position + 1
            first, last = _range(position, inside, row, start)  # [B] each, words of the answer
            room = tf.maximum(behind - begin - self.passage_length, 0)  # [B]
            # The answer begins in the middle, or earlier if it would not end within the words.
            ending = tf.minimum(last + 1 - self.passage_length, first)
            middle = tf.maximum(first - self.passage_length // 2, ending)
            middle = tf.clip_by_value(middle - begin, 0, room)
            length = behind - begin
            begin += tf.where(last - begin >= self.passage_length, middle, 0)
        else:
            length = behind
        limits = tf.minimum(behind - begin, self.passage_length)
        return cut_rows(tokens, limits, begin), length > self.passage_length

    def target(self, question: tf.Tensor, source: Tensors) -> Tensors:
        """Decoder inputs and targets.

        Args:
            question: string `[B]`.
            source: what `source` gave for the same examples.

        Returns:
            `question_ids` int32 `[B, T]`: `BOS`, then the input ids of the words; `target_ids`
            int32 `[B, T]`: the extended ids of the words (`UNK` for a word that can be neither
            generated nor copied), then `EOS`; `PAD` after that in both.
        """
        with tf.device(DEVICE):
            tokens = self.cut_words(strings("question", question), self.question_length)
            built = decoder_targets(self, tokens, self.question_length, source)
            return {"question_ids": built["answer_ids"], "target_ids": built["target_ids"]}

    def batch(self, records: Tensors) -> tuple[Tensors, Tensors, Tensors]:
        """One batch for `model.fit`.

        Args:
            records: `question`, `answer` string `[B]`, `passages` string `[B, K]`: the passage of
                the span is read, or the first one; `span` int32 `[B, 3]`: passage, start and end of
                the answer, -1 where they are unknown; `rotation` as for
                `MasquePreprocessor.batch`.

        Returns:
            `(x, y, sample_weight)`: the model's inputs; `decoder` and `coverage`, both the
            target ids `[B, T]`; and for both weights float32 `[B]` that make the mean over
            examples, each the mean over its words, the mean over all words of the batch.
        """
        passages, start = tf.convert_to_tensor(records["passages"]), None
        number = tf.zeros(tf.shape(passages)[:1], tf.int32)
        if "span" in records:
            spans = tf.cast(records["span"], tf.int32)
            number, start = tf.maximum(spans[:, 0], 0), spans[:, 1]
        passage = tf.gather(passages, number, batch_dims=1)
        source = self.source(passage, records["answer"], start)
        x = {name: source[name] for name in self.model_inputs}
        x |= self.target(records["question"], source)
        self.randomize_oov_buckets(x, records, ("passage_ids", "question_ids"))
        counts = tf.reduce_sum(tf.cast(x["target_ids"] != 0, tf.float32), axis=1)  # [B]
        weight = counts / tf.reduce_mean(counts)
        parts = ("decoder", "coverage")
        return x, {p: x["target_ids"] for p in parts}, {p: weight for p in parts}


def _answer_start(passage, answer, given, tokens: Tokens) -> tf.Tensor:
    """Returns the first characters of the answers, checked against the passages."""
    passage = same_batch("passages and answers", passage, answer)
    start = first_occurrence(passage, answer, tokens)
    if given is not None:
        given = tf.convert_to_tensor(given, tf.int32)
        there = occurs_at(passage, answer, given)
        start = tf.where(given == UNKNOWN, start, tf.where(there, given, UNKNOWN))
    blank = tf.strings.regex_full_match(answer, r"\pZ*|\s*")
    wrong = (start < 0) | blank
    return checked(
        start,
        ~tf.reduce_any(wrong),
        "An answer must have words and occur in its passage at answer_start. Received: ",
        tf.strings.unicode_transcode(tf.boolean_mask(answer, wrong), "UTF-8", "UTF-8"),
    )


def _rows_and_positions(tokens: Tokens) -> tuple[tf.Tensor, tf.Tensor]:
    row = row_of_values(tokens.starts)
    first = tf.cast(tf.gather(tokens.starts.row_starts(), row), tf.int32)
    return row, tf.range(tf.size(row)) - first


def _overlap(starts, ends, row, start, end):
    """Which tokens share a character with their row's stretch from `start` to `end`."""
    return (starts < tf.gather(end, row)) & (ends > tf.gather(start, row))


def _range(values, mask, row, like):
    """Smallest and largest value of each row's chosen tokens; 0 where there is none."""
    count = tf.size(like)
    low = tf.math.unsorted_segment_min(tf.where(mask, values, tf.int32.max), row, count)
    high = tf.math.unsorted_segment_max(tf.where(mask, values, -1), row, count)
    return tf.where(high < 0, 0, low), tf.maximum(high, 0)

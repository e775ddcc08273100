"""Layout of question and passages in an example's source."""

from typing import NamedTuple

import tensorflow as tf

from tfmrc.preprocessing.word_features import spread_features
from tfmrc.text.extended_ids import source_extended_ids
from tfmrc.text.layout import FlatTokens, cut_rows, longest, spread
from tfmrc.text.vocabulary import Vocabulary
from tfmrc.text.words.tokenizer import Tokenizer


class SourceLayout(NamedTuple):
    """The words of a batch and their positions in `[question | passage 1 | … | passage K]`.

    A preprocessor computes a value for each of the N words and converts it to the shape of the
    source with `spread`; `question_part` and `passage_part` split the result.

    Attributes:
        tokens: `FlatTokens`. The words of all strings, truncated.
        example: int32 `[N]`, the word's row in the batch.
        position: int32 `[N]`, the word's position in its example's source, from 0 to S - 1.
        num_examples, question_size, passage_size: scalar int32 B, J and L.
        present: bool `[B, K]`; an empty string is a missing passage.
        truncated: bool `[B]`, True if words were removed.
    """

    tokens: FlatTokens
    example: tf.Tensor
    position: tf.Tensor
    num_examples: tf.Tensor
    question_size: tf.Tensor
    passage_size: tf.Tensor
    present: tf.Tensor
    truncated: tf.Tensor

    def spread(self, values: tf.Tensor) -> tf.Tensor:
        """Returns `[B, S]` with the value of each word at its position, 0 or "" elsewhere.

        Args:
            values: int32 or string `[N]`.
        """
        return spread(values, self.example, self.position, self._shape)

    @property
    def _shape(self) -> tuple:
        size = self.question_size + self.present.shape[1] * self.passage_size
        return self.num_examples, size

    def spread_features(self, features: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the features of the question's words and of the passages', 0 where no word is.

        Args:
            features: float32 `[N, F]` with static F.

        Returns:
            `[B, J, F]` and `[B, K, L, F]`.
        """
        values = spread_features(features, self.example, self.position, self._shape)
        width = features.shape[-1]
        passages = [self.num_examples, self.present.shape[1], self.passage_size, width]
        size = self.question_size
        return values[:, :size], tf.reshape(values[:, size:], passages)

    def question_part(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the question's part `[B, J]` of `[B, S]`."""
        return values[:, : self.question_size]

    def passage_part(self, values: tf.Tensor) -> tf.Tensor:
        """Returns the passages' part `[B, K, L]` of `[B, S]`."""
        shape = [self.num_examples, self.present.shape[1], self.passage_size]
        return tf.reshape(values[:, self.question_size :], shape)


def lay_out(
    tokenizer: Tokenizer,
    question: tf.Tensor,
    passages: tf.Tensor,
    question_length: int,
    passage_length: int,
    num_begin: int = 1,
) -> SourceLayout:
    """Tokenizes questions and passages in one call and computes the position of every word.

    Args:
        tokenizer: `Tokenizer`.
        question: string `[B]`.
        passages: string `[B, K]` with static K; "" is a missing passage.
        question_length: int. Largest number of words of a question.
        passage_length: int. Largest number of words of a passage.
        num_begin: int. Number of positions at the start of each passage reserved for `BOS`.
            Default: 1.

    Returns:
        A `SourceLayout`; J and L are the largest lengths in the batch, at least 1.

    Example:
        >>> import tensorflow as tf
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.preprocessing.source import lay_out
        >>> source = lay_out(
        ...     Tokenizer(), tf.constant(["Who met?"]), tf.constant([["The king", "Ada"]]), 9, 9
        ... )
        >>> print(source.spread(source.tokens.surface)[0].numpy())
        [b'Who' b'met' b'?' b'' b'The' b'king' b'' b'Ada' b'']
        >>> source.passage_part(source.spread(source.tokens.starts)).numpy().tolist()
        [[[0, 0, 4], [0, 0, 0]]]
    """
    num_passages = passages.shape[1]
    num_examples = tf.shape(question)[0]
    slots = 1 + num_passages
    strings = tf.concat([question[:, None], passages], axis=1)  # [B, 1 + K]
    limits = tf.tile([question_length] + [passage_length] * num_passages, [num_examples])
    tokens = cut_rows(tokenizer.tokenize(tf.reshape(strings, [-1])), limits)

    present = passages != ""  # [B, K]
    lengths = tf.reshape(tokens.lengths, [num_examples, slots])  # [B, 1 + K]
    question_size = longest(lengths[:, 0], question_length)
    passage_size = longest(
        lengths[:, 1:] + num_begin * tf.cast(present, tf.int32), passage_length + num_begin
    )
    slot = tokens.row % slots  # [N], 0 for the question
    first = tf.where(slot == 0, 0, question_size + (slot - 1) * passage_size + num_begin)
    return SourceLayout(
        tokens=tokens,
        example=tokens.row // slots,
        position=tokens.position + first,
        num_examples=num_examples,
        question_size=question_size,
        passage_size=passage_size,
        present=present,
        truncated=tf.reduce_any(tf.reshape(tokens.cut, [num_examples, slots]), axis=1),
    )


def copied_passage(
    tokens: FlatTokens, vocabulary: Vocabulary, generation_vocabulary_size: int, length: int
) -> dict[str, tf.Tensor]:
    """Returns what a model reads and copies from, for one passage per example.

    Args:
        tokens: `FlatTokens`. The words of B passages that are kept, N words.
        vocabulary: `Vocabulary`. Maps words to input ids.
        generation_vocabulary_size: int. G.
        length: int. Largest number of words of a passage.

    Returns:
        `[B, n]`, n being the words of the longest passage, at least 1: `passage_ids` and
        `extended_ids` int32; `words` (surfaces) and `compared` string; `starts` and `ends` int32,
        code points of the passage.
    """
    input_ids = vocabulary.lookup(tokens.compared)  # [N]
    columns = {
        "passage_ids": input_ids,
        "extended_ids": source_extended_ids(
            input_ids, tokens.compared, tokens.row, tokens.position, generation_vocabulary_size
        ),
        "words": tokens.surface,
        "compared": tokens.compared,
        "starts": tokens.starts,
        "ends": tokens.ends,
    }
    shape = (tf.size(tokens.lengths), longest(tokens.lengths, length))
    return {name: spread(x, tokens.row, tokens.position, shape) for name, x in columns.items()}

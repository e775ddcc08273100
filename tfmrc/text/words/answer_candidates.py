"""Answer candidates for question generation, by graph operations."""

from typing import NamedTuple

import tensorflow as tf

from tfmrc.text.code_points import neighbours
from tfmrc.text.rows import row_of_values
from tfmrc.text.typing import TensorLike
from tfmrc.text.words.sentences import sentence_numbers
from tfmrc.text.words.tokenizer import Tokenizer

_NUMBER = r"\pN.*|.*\pN"
_NAME = r"\p{Lu}[\pL\pN].*"


class AnswerCandidates(NamedTuple):
    """Answer candidates of N passages, as flat tensors.

    Attributes:
        answers: string `[P]`.
        starts: int32 `[P]`, in code points.
        row: int32 `[P]`, the answer's passage.
        number: int32 `[P]`, the answer's index within its passage.
    """

    answers: tf.Tensor
    starts: tf.Tensor
    row: tf.Tensor
    number: tf.Tensor


def answer_candidates(tokenizer: Tokenizer, passages: TensorLike, limit: int) -> AnswerCandidates:
    """Finds numbers and names: runs of numbers and capitalised words within a sentence.

    A capitalised word at the beginning of a sentence counts only if another one follows. There is
    no tagger in the graph, so phrases in lower case are not found, and some candidates are poor
    answers. Discard the generated questions of low probability.

    Args:
        tokenizer: `Tokenizer`.
        passages: string `[N]`.
        limit: int. Largest number of answers per passage; the first ones are kept.

    Returns:
        `AnswerCandidates`, ordered by passage and number.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.words.answer_candidates import answer_candidates
        >>> passages = ["In 1912 the king met Ada Lee. Snow fell on 5 March."]
        >>> answer_candidates(Tokenizer(), passages, limit=9).answers.numpy().tolist()
        [b'1912', b'Ada Lee', b'5 March']
    """
    passages = tf.strings.unicode_transcode(passages, "UTF-8", "UTF-8", errors="replace")
    tokens = tokenizer.tokenize(passages)
    surface = tokens.surface.values  # [T], of all passages
    row = row_of_values(tokens.surface)
    sentence = sentence_numbers(passages, tokens)
    begins = sentence != neighbours(sentence, -1, -1)
    is_name = tf.strings.regex_full_match(surface, _NAME)
    is_number = tf.strings.regex_full_match(surface, _NUMBER)
    name_follows = neighbours(is_name & ~begins, 1)
    selected = is_number | (is_name & (~begins | name_follows))
    first = selected & (begins | ~neighbours(selected, -1))  # [T], where a run begins
    run = tf.cumsum(tf.cast(first, tf.int32)) - 1  # [T], of P runs
    positions = tf.where(selected)[:, 0]
    run, count = tf.gather(run, positions), tf.reduce_sum(tf.cast(first, tf.int32))
    starts = tf.math.unsorted_segment_min(tf.gather(tokens.starts.values, positions), run, count)
    ends = tf.math.unsorted_segment_max(tf.gather(tokens.ends.values, positions), run, count)
    row = tf.boolean_mask(row, first)  # [P]
    before = tf.searchsorted(row, row, side="left")
    number = tf.range(count) - tf.cast(before, tf.int32)
    selected = tf.where(number < limit)[:, 0]
    starts, ends, row, number = (tf.gather(x, selected) for x in (starts, ends, row, number))
    answers = tf.strings.substr(tf.gather(passages, row), starts, ends - starts, unit="UTF8_CHAR")
    return AnswerCandidates(answers, starts, row, number)

"""Answers that a question may be asked about, found by their looks; graph operations."""

from typing import Any, NamedTuple

import tensorflow as tf

from tfmrc.text.rows import row_of_values
from tfmrc.text.sentences import sentence_numbers
from tfmrc.text.tokenizer import Tokenizer

_NUMBER = r"\pN.*|.*\pN"
_NAME = r"\p{Lu}[\pL\pN].*"


class AnswerCandidates(NamedTuple):
    """Answers of N passages, flat.

    Attributes:
        answers: string `[P]`.
        starts: int32 `[P]` code points.
        row: int32 `[P]`, the passage of each.
        place: int32 `[P]`, its number among the passage's answers.
    """

    answers: tf.Tensor
    starts: tf.Tensor
    row: tf.Tensor
    place: tf.Tensor


def answer_candidates(tokenizer: Tokenizer, passages: Any, limit: int) -> AnswerCandidates:
    """The numbers and names of passages: runs of numbers and capitalised words of one sentence.

    A capitalised word that begins a sentence counts only if another one follows it. There is no
    tagger in the graph: phrases in lower case are not found, and some of what is found is no good
    answer; ask about it, and leave out questions of low probability.

    Args:
        tokenizer: the tokeniser.
        passages: string `[N]`.
        limit: at most so many answers of a passage, the first ones.

    Returns:
        The answers, by passage and place.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.answer_candidates import answer_candidates
        >>> passages = ["In 1912 the king met Ada Lee. Snow fell on 5 March."]
        >>> answer_candidates(Tokenizer(), passages, limit=9).answers.numpy().tolist()
        [b'1912', b'Ada Lee', b'5 March']
    """
    passages = tf.strings.unicode_transcode(passages, "UTF-8", "UTF-8", errors="replace")
    tokens = tokenizer.tokenize(passages)
    surface = tokens.surface.values
    row = tf.cast(row_of_values(tokens.surface), tf.int32)
    sentence = sentence_numbers(passages, tokens)
    begins = sentence != tf.pad(sentence, [[1, 0]], constant_values=-1)[:-1]
    name = tf.strings.regex_full_match(surface, _NAME)
    number = tf.strings.regex_full_match(surface, _NUMBER)
    name_follows = tf.pad(name & ~begins, [[0, 1]])[1:]
    selected = number | (name & (~begins | name_follows))
    first = selected & (begins | ~tf.pad(selected, [[1, 0]])[:-1])
    run = tf.cumsum(tf.cast(first, tf.int32)) - 1
    places = tf.where(selected)[:, 0]
    run, count = tf.gather(run, places), tf.reduce_sum(tf.cast(first, tf.int32))
    starts = tf.math.unsorted_segment_min(tf.gather(tokens.starts.values, places), run, count)
    ends = tf.math.unsorted_segment_max(tf.gather(tokens.ends.values, places), run, count)
    row = tf.boolean_mask(row, first)
    before = tf.searchsorted(row, row, side="left")
    place = tf.range(count) - tf.cast(before, tf.int32)
    kept = tf.where(place < limit)[:, 0]
    starts, ends, row, place = (tf.gather(x, kept) for x in (starts, ends, row, place))
    answers = tf.strings.substr(tf.gather(passages, row), starts, ends - starts, unit="UTF8_CHAR")
    return AnswerCandidates(answers, starts, row, place)

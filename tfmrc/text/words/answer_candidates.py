"""Answer candidates for question generation, by graph operations."""

import functools
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from tfmrc.text.code_points import neighbours
from tfmrc.text.rows import row_of_values
from tfmrc.text.typing import TensorLike
from tfmrc.text.words.sentences import sentence_numbers
from tfmrc.text.words.tokenizer import Tokenizer

WEIGHTS = Path(__file__).parents[1] / "tables" / "answer_candidates.json"
MAX_WORDS = 8
# The shape of a word is the first that matches; a capitalised word may begin a sentence.
SHAPES = (
    r"(1\pN|20)\pN\pN", r".*\pN.*", r"[^\pL]+", r"\p{Lu}.+", r"\p{Lu}\p{Lu}+", r"\p{Lu}.*",
    r".{3,}ing", r".{3,}ed", r".{3,}ly",
)  # fmt: skip
AT_BEGINNING = 3  # the shape that is looked for at a sentence's beginning alone
PLACES = 5  # first and last word of a candidate, word before, word after, any word of it
_HASHES = 2**62


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


class Weights(NamedTuple):
    """What the scores of candidates are sums of.

    Attributes:
        words: string `[V]`, lower-cased.
        of_words: float32 `[1 + V, 5]`, of a word in its places; 0 is any other word.
        of_shapes: float32 `[10, 5]`, of the shapes; the last is any other.
        of_lengths: float32 `[8]`, of the number of words.
    """

    words: np.ndarray
    of_words: np.ndarray
    of_shapes: np.ndarray
    of_lengths: np.ndarray


@functools.cache
def shipped_weights() -> Weights:
    """Returns the weights that `recipes.ready_models.candidates` learns from SQuAD."""
    read = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    rows = np.array([[0] * PLACES, *read["words"].values()])
    numbers = (np.array(x, "float32") / 100 for x in (rows, read["shapes"], read["lengths"]))
    return Weights(np.array([*read["words"]], object), *numbers)


def answer_candidates(tokenizer: Tokenizer, passages: TensorLike, limit: int) -> AnswerCandidates:
    """Finds what people would ask about: names, numbers and phrases within a sentence.

    The score of a run of at most eight words is the sum of weights of its words, of the words
    beside it and of its length. The weights were learnt from SQuAD's answers: they know English
    words, and names and numbers of other languages by their form. The best candidates that score
    above 0 and do not overlap are taken.

    Args:
        tokenizer: `Tokenizer`.
        passages: string `[N]`.
        limit: int. Largest number of answers per passage.

    Returns:
        `AnswerCandidates`, ordered by passage and place.

    Example:
        >>> from tfmrc.text import Tokenizer
        >>> from tfmrc.text.words.answer_candidates import answer_candidates
        >>> passages = ["In 1912 the king met Ada Lee. Heavy snow fell in the northern valleys."]
        >>> answer_candidates(Tokenizer(), passages, limit=4).answers.numpy().tolist()
        [b'1912', b'Ada Lee', b'Heavy snow fell', b'northern valleys']
    """
    passages = tf.strings.unicode_transcode(passages, "UTF-8", "UTF-8", errors="replace")
    tokens = tokenizer.tokenize(passages)
    weights = shipped_weights()
    sentence = sentence_numbers(passages, tokens)  # [T], counted over all passages
    word, shape = word_features(weights.words, tokens.surface.values, sentence)
    scores = span_scores(
        tf.gather(weights.of_words, word) + tf.gather(weights.of_shapes, shape),
        sentence,
        weights.of_lengths,
    )
    best = _best_apart(scores, tokens.surface.row_splits, limit)  # [P]
    first, last = best // MAX_WORDS, best // MAX_WORDS + best % MAX_WORDS
    row = tf.gather(row_of_values(tokens.surface), first)
    starts, ends = tf.gather(tokens.starts.values, first), tf.gather(tokens.ends.values, last)
    number = tf.range(tf.size(row)) - tf.cast(tf.searchsorted(row, row), tf.int32)
    answers = tf.strings.substr(tf.gather(passages, row), starts, ends - starts, unit="UTF8_CHAR")
    return AnswerCandidates(answers, starts, row, number)


def word_features(
    words: np.ndarray, surface: tf.Tensor, sentence: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the row of each token's word, 1 for the first of `words`, and its shape, int32 `[T]`.

    Args:
        words: string `[V]`.
        surface: string `[T]`.
        sentence: int32 `[T]`.
    """

    def hashed(texts: TensorLike) -> tf.Tensor:
        return tf.strings.to_hash_bucket_fast(texts, _HASHES)

    # Sorted hashes are a table that an export holds as a constant.
    known = hashed(tf.constant(words))  # [V]
    order = tf.argsort(known)
    keys, wanted = tf.gather(known, order), hashed(tf.strings.lower(surface, "utf-8"))
    place = tf.minimum(tf.searchsorted(keys, wanted), len(words) - 1)  # [T]
    word = tf.where(tf.gather(keys, place) == wanted, tf.gather(order, place) + 1, 0)
    begins = sentence != neighbours(sentence, -1, -1)
    shape = tf.fill(tf.shape(surface), len(SHAPES))
    for number in reversed(range(len(SHAPES))):
        matches = tf.strings.regex_full_match(surface, SHAPES[number])
        if number == AT_BEGINNING:
            matches &= begins
        shape = tf.where(matches, number, shape)
    return word, shape


def span_scores(weights: tf.Tensor, sentence: tf.Tensor, of_lengths: TensorLike) -> tf.Tensor:
    """Returns the score of the run of `l + 1` words from each token on.

    Args:
        weights: float32 `[T, 5]`, of each token in its places.
        sentence: int32 `[T]`. A run that leaves its sentence scores -1e9.
        of_lengths: float32 `[8]`.

    Returns:
        float32 `[T, 8]`.
    """
    first, last, before, after, inside = tf.unstack(weights, axis=-1)
    first += tf.where(neighbours(sentence, -1, -1) == sentence, neighbours(before, -1), 0.0)
    last += tf.where(neighbours(sentence, 1, -1) == sentence, neighbours(after, 1), 0.0)
    scores, total, end = [], first, last
    for length in range(MAX_WORDS):  # shifted copies: [T] is long, the number of words is not
        total += inside  # of the words up to the last one
        scores.append(tf.where(sentence == neighbours(sentence, length, -1), total + end, -1e9))
        inside, end = neighbours(inside, 1), neighbours(end, 1)
    return tf.stack(scores, axis=-1) + of_lengths


def _best_apart(scores: tf.Tensor, splits: tf.Tensor, limit: int) -> tf.Tensor:
    """Returns the best candidates of each passage without a common token, as indices of `[T, 8]`.

    Args:
        scores: float32 `[T, 8]`.
        splits: int64 `[N + 1]`, the passages' tokens.
        limit: int. Largest number per passage.

    Returns:
        int64 `[P]`, in the order of the tokens.
    """

    def of_passage(tokens: tf.Tensor) -> tf.Tensor:
        own = scores[tokens[0] : tokens[1]]  # [M, 8], of M tokens
        first = tf.range(tf.shape(own)[0])[:, None] + tf.zeros_like(own, tf.int32)  # [M, 8]
        last = first + tf.range(1, MAX_WORDS + 1)
        # A candidate is a box of height 1, so that those with a common token overlap.
        sides = [first, tf.zeros_like(first), last, tf.ones_like(last)]
        boxes = tf.reshape(tf.cast(tf.stack(sides, axis=-1), tf.float32), [-1, 4])  # [8 M, 4]
        best = tf.image.non_max_suppression(
            boxes, tf.reshape(own, [-1]), limit, iou_threshold=0.0, score_threshold=0.0
        )
        return tokens[0] * MAX_WORDS + tf.sort(tf.cast(best, tf.int64))

    found = tf.map_fn(
        of_passage,
        tf.stack([splits[:-1], splits[1:]], axis=1),
        fn_output_signature=tf.RaggedTensorSpec([None], tf.int64, ragged_rank=0),
    )
    return found.values

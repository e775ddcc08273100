"""Learns what people ask about: the weights of `tfmrc.text.words.answer_candidates`.

    python -m recipes.ready_models.candidates --work FOLDER

FOLDER has `prepared`, which `recipes.ready_models.main` writes. The weights maximise the
probability of the answers among all candidates of their paragraphs; how often an answer of the
held-out paragraphs is among the best candidates is printed.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from recipes.ready_models.prepare import WIKIPEDIA
from tfmrc.data import read_examples
from tfmrc.text import Tokenizer
from tfmrc.text.words import answer_candidates as candidates
from tfmrc.text.words.sentences import sentence_numbers
from tfmrc.utils.batches import batches_of

WORDS, BATCH, EPOCHS, LEARNING_RATE = 2000, 32, 5, 0.03
BELOW = 10  # percent of the answers whose score is negative, so that they are no candidates
LIMITS = (3, 5, 8)

Answers = dict[str, set[tuple[int, str]]]  # by paragraph, with their offsets


class Paragraphs(NamedTuple):
    """A batch of paragraphs with T words.

    Attributes:
        word, shape, sentence: int32 `[T]`.
        row: int32 `[T]`, the paragraph of each word.
        answered: float32 `[T, 8]`, 1 for each answer.
    """

    word: tf.Tensor
    shape: tf.Tensor
    sentence: tf.Tensor
    row: tf.Tensor
    answered: np.ndarray


def read(prepared: Path) -> tuple[Answers, Answers]:
    """Returns the answers of the paragraphs to train on, and of the held-out ones."""
    held_out = {*(prepared / "ids" / "validation.txt").read_text(encoding="utf-8").split("\n")}
    sides: tuple[Answers, Answers] = defaultdict(set), defaultdict(set)
    for example in read_examples(prepared / "train.jsonl"):
        if example.spans and example.id.partition("/")[0] in WIKIPEDIA:
            (answer, *_), start = example.answers["span"], example.spans[0].start
            sides[example.id in held_out][example.passages[0]].add((start, answer))
    return sides


def batches(answers: Answers, words: np.ndarray) -> Iterator[Paragraphs]:
    """Yields batches of paragraphs."""
    for texts in batches_of(answers, BATCH):
        tokens = Tokenizer().tokenize(texts)
        sentence = sentence_numbers(texts, tokens)
        word, shape = candidates.word_features(words, tokens.surface.values, sentence)
        answered = np.zeros((len(word), candidates.MAX_WORDS), "float32")
        for text, starts, ends, first in zip(
            texts, tokens.starts, tokens.ends, tokens.starts.row_starts(), strict=True
        ):
            for start, answer in answers[text]:
                begin = np.searchsorted(starts, start, side="right") - 1
                length = np.searchsorted(ends, start + len(answer)) - begin
                place = first + begin
                if length < candidates.MAX_WORDS and sentence[place] == sentence[place + length]:
                    answered[place, length] = 1
        yield Paragraphs(word, shape, sentence, tokens.surface.value_rowids(), answered)


def train(answers: Answers, words: np.ndarray) -> list[tf.Variable]:
    """Returns the weights of words, shapes and lengths; most answers score above 0."""
    sizes = (1 + len(words), candidates.PLACES), (len(candidates.SHAPES) + 1, candidates.PLACES)
    variables = [tf.Variable(tf.zeros(size)) for size in (*sizes, (candidates.MAX_WORDS,))]
    seen = list(batches(answers, words))
    steps = len(seen) * EPOCHS
    schedule = tf.keras.optimizers.schedules.CosineDecay(LEARNING_RATE, steps)
    optimizer = tf.keras.optimizers.Adam(schedule)

    of_words, of_shapes, of_lengths = variables

    @tf.function(reduce_retracing=True)
    def scores_of(batch: Paragraphs) -> tf.Tensor:
        weights = tf.gather(of_words, batch.word) + tf.gather(of_shapes, batch.shape)
        return candidates.span_scores(weights, batch.sentence, of_lengths)

    @tf.function(reduce_retracing=True)
    def step(batch: Paragraphs) -> tf.Tensor:
        with tf.GradientTape() as tape:
            scores = scores_of(batch)
            # Over all candidates of a paragraph; scores stay far below 80, so that exp is finite.
            total = tf.math.segment_sum(tf.reduce_sum(tf.exp(scores), axis=1), batch.row)
            loss = tf.gather(tf.math.log(total), batch.row)[:, None] - scores  # [T, 8]
            loss = tf.reduce_sum(loss * batch.answered) / tf.reduce_sum(batch.answered)
            rated = loss + 1e-5 * tf.reduce_sum(of_words**2)
        optimizer.apply_gradients(zip(tape.gradient(rated, variables), variables, strict=True))
        return loss

    random = np.random.default_rng(0)
    for _ in range(EPOCHS):
        losses = [step(seen[n]) for n in random.permutation(len(seen))]
        print(f"loss {np.mean(losses):.3f}", flush=True)
    scores = [scores_of(batch).numpy()[batch.answered == 1] for batch in seen]
    of_lengths.assign(of_lengths - np.percentile(np.concatenate(scores), BELOW))
    return variables


def common_words(texts: Sequence[str]) -> np.ndarray:
    """Returns the most frequent words, lower-cased."""
    counts: Counter[bytes] = Counter()
    for batch in batches_of(texts, BATCH):
        surface = Tokenizer().tokenize(batch).surface.values
        counts.update(tf.strings.lower(surface, "utf-8").numpy())
    return np.array([word.decode() for word, _ in counts.most_common(WORDS)], object)


def main() -> None:
    """Learns, writes and measures the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("runs/ready_models"))
    trained, held_out = read(parser.parse_args().work / "prepared")
    words = common_words([*trained])
    of_words, of_shapes, of_lengths = (v.numpy() for v in train(trained, words))
    other = of_words[0]  # any other word; the file counts from it
    of_words, of_shapes, of_lengths = (
        np.rint(100 * values).astype(int).tolist()
        for values in (of_words[1:] - other, of_shapes + other, of_lengths)
    )
    known = dict(zip(words, of_words, strict=True))
    written = {"shapes": of_shapes, "lengths": of_lengths, "words": known}
    candidates.WEIGHTS.write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
    candidates.shipped_weights.cache_clear()
    for limit in LIMITS:
        found = candidates.answer_candidates(Tokenizer(), [*held_out], limit)
        texts = [answer.decode() for answer in found.answers.numpy()]
        rows, starts = found.row.numpy(), found.starts.numpy()
        proposed = {*zip(rows, starts, texts, strict=True)}
        wanted = [(n, *answer) for n, text in enumerate(held_out) for answer in held_out[text]]
        share = np.mean([answer in proposed for answer in wanted])
        print(f"{limit} candidates: {100 * share:.1f} % of {len(wanted):,} answers")


if __name__ == "__main__":
    main()

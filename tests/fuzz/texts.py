"""Odd texts into every preprocessor: a word's offsets cut it from the caller's own text."""

import random
from collections import Counter
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.mutations import ODD_TEXTS
from tfmrc.preprocessing import (
    DAANetPreprocessor,
    MasquePreprocessor,
    MaxoutPointerQGPreprocessor,
    SANPreprocessor,
)
from tfmrc.text import Vocabulary

BATCH = 250
WORDS = (
    "the",
    "mill",
    "Anna",
    "1802",
    "it's",
    "U.S.",
    "e-mail@mill.org",
    "http://mill.org/a?b",
    "$3.5",
)
RANGES = (
    (0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0xA0, 0x24F), (0x300, 0x36F), (0x5D0, 0x6FF),
    (0x900, 0x97F), (0x2000, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xE000, 0xE0FF),
    (0xFE00, 0xFE0F), (0x1F300, 0x1F6FF), (0x20000, 0x200FF), (0xE0000, 0xE007F),
    (0x10FFF0, 0x10FFFF),
)  # fmt: skip


def odd_text(rng: random.Random) -> bytes:
    """Returns a text of 0 to some hundred characters; one in ten is not UTF-8."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice([text for text in ODD_TEXTS if text != "\ud800"]).encode()[:2_000]
    if kind == 1:
        part = odd_text(rng)[:8]
        return part * rng.randrange(1, 100)
    pieces = []
    for _ in range(rng.choice((1, 3, 20, 80))):
        if rng.random() < 0.4:
            pieces.append(rng.choice(WORDS))
        else:
            first, last = rng.choice(RANGES)
            pieces.append(chr(rng.randint(first, last)))
        pieces.append(rng.choice(("", "", " ", " ", "\n", "\u00a0", "\u200b")))
    text = "".join(pieces).encode()
    if rng.random() < 0.1:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + bytes(rng.randrange(256) for _ in range(3)) + text[at:]
    return text


def preprocessors() -> dict[str, Any]:
    """Returns a graph function of each preprocessor: questions and passages to its inputs."""
    vocabulary = Vocabulary([word.lower() for word in WORDS], num_oov_buckets=16)
    sizes = {"passage_length": 40, "question_length": 12}
    masque = MasquePreprocessor(vocabulary, num_passages=1, **sizes)
    san = SANPreprocessor(vocabulary, **sizes)
    questions = MaxoutPointerQGPreprocessor(vocabulary, with_answers=False, **sizes)
    daanet = DAANetPreprocessor(vocabulary, **sizes)
    functions = {
        "Masque": lambda question, passage: masque.source(
            question, passage[:, None], tf.fill(tf.shape(question), "qa")
        ),
        "SAN": san.source,
        "MaxoutPointerQG": lambda question, passage: questions.source(passage, question),
        "DAANet": lambda question, passage: daanet.source(passage),
    }
    text = tf.TensorSpec([None], tf.string)
    return {
        name: tf.function(function, input_signature=[text, text], autograph=False)
        for name, function in functions.items()
    }


def attack(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Gives `count` odd questions and as many odd passages to each preprocessor.

    Returns:
        How many words each preprocessor found, and a description of each wrong outcome.
    """
    words: Counter[str] = Counter()
    wrong: list[str] = []
    functions = preprocessors()
    for begin in range(0, count, BATCH):
        rng = random.Random(f"{seed}-{begin}")
        size = min(BATCH, count - begin)
        questions, passages = ([odd_text(rng) for _ in range(size)] for _ in range(2))
        for name, function in functions.items():
            result = {
                key: value.numpy()
                for key, value in function(tf.constant(questions), tf.constant(passages)).items()
            }
            row = rng.randrange(size)
            alone = function(
                tf.constant(questions[row : row + 1]), tf.constant(passages[row : row + 1])
            )
            problems = [
                *_offsets(name, result, questions, passages, words),
                *_alone(result, {key: value.numpy() for key, value in alone.items()}, row),
            ]
            wrong += [f"seed {seed}, texts from {begin}, {name}: {problem}" for problem in problems]
    return words, wrong


def _offsets(
    name: str, result: dict[str, Any], questions: list[bytes], passages: list[bytes],
    words: Counter[str],
) -> list[str]:  # fmt: skip
    """Checks that a word is the text between its offsets."""
    problems = []
    starts, ends = result["starts"], result["ends"]
    first = result["question_ids"].shape[1] if name == "Masque" else 0
    for row, column in np.argwhere(ends > starts):
        source = questions[row] if column < first else passages[row]
        text = source.decode("utf-8", "replace")
        cut = text[starts[row, column] : ends[row, column]]
        words[name] += 1
        if not cut or ends[row, column] > len(text):
            problems.append(f"offsets outside of {source!r:.200}")
        elif "words" in result:
            word = result["words"][row, column].decode("utf-8", "replace")
            if word != cut and "\ufffd" not in text:
                problems.append(f"the word {word!r} at {cut!r} in {source!r:.200}")
    return problems


def _alone(batch: dict[str, Any], alone: dict[str, Any], row: int) -> list[str]:
    """Checks that an example gives the same by itself as in a batch."""
    problems = []
    for key in ("question_ids", "passage_ids", "passage_characters"):
        if key not in batch:
            continue
        whole, single = batch[key][row], alone[key][0]
        inside = tuple(slice(size) for size in single.shape)
        if not np.array_equal(whole[inside], single) or whole.sum() != single.sum():
            problems.append(f"{key} differs alone and in a batch")
    return problems

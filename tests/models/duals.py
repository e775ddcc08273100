"""Small examples of both tasks, and the batches that the preprocessor would make of them.

Words are numbered as in `tests.models.examples`: below 9 generable, to 16 known, below 0 unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.layers.weights import below, values
from tests.models.examples import NUM_BUCKETS, NUM_WORDS, G, input_id
from tests.reference import daanet as reference
from tests.reference.basic import Array
from tfmrc.models import DAANet
from tfmrc.models.daanet import GIVEN, TARGET
from tfmrc.ops.ids import BOS, EOS, PAD, UNK

NUM_CHARACTERS, LENGTH = 7, 3
SIZES: dict[str, Any] = {
    "vocabulary_size": NUM_WORDS + NUM_BUCKETS,
    "num_characters": NUM_CHARACTERS,
    "word_dim": 5,
    "character_dim": 4,
    "hidden_dim": 6,
    "num_lstm_layers": 2,
    "num_heads": 2,
    "inner_dim": 7,
    "generation_vocabulary_size": G,
    "num_oov_buckets": NUM_BUCKETS,
    "dropout": 0.0,
}
TEXTS = ("passage", "question", "answer")


@dataclass(frozen=True)
class Triplet:
    """A passage, a question and an answer."""

    passage: Sequence[int]
    question: Sequence[int]
    answer: Sequence[int]


# Words generable alone; in the passage too, known and unknown, once and several times; in neither.
FOUR = (
    Triplet([5, 12, 7, -1, 12], [6, 5, 12], [-1, 15, 8]),
    Triplet([-2, 10], [10, 4], [-2]),
    Triplet([9, 4, 9, 4], [4], [9, -3]),
    Triplet([16, -4, 5], [16, 8, 4], [16, -4]),
)


def spelled(word: int) -> list[int]:
    """Characters of a word: one to three, the same ones for the same word."""
    random = np.random.default_rng(word % 1000)
    characters = random.integers(1, NUM_CHARACTERS, LENGTH)
    return [*characters[: 1 + abs(word) % LENGTH], 0, 0][:LENGTH]


def batch(triplets: Sequence[Triplet], longer: int = 0) -> dict[str, Array]:
    """The model's inputs, as short as can be, or with `longer` places of padding on every axis."""
    x: dict[str, Array] = {}
    for text in TEXTS:
        rows = [list(getattr(t, text)) for t in triplets]
        first = 0 if text == "passage" else 1  # BOS
        size = len(rows), max(map(len, rows)) + first + longer
        ids, characters = np.zeros(size, "int32"), np.zeros((*size, LENGTH), "int32")
        ids[:, :first] = BOS
        for b, row in enumerate(rows):
            places = slice(first, first + len(row))
            ids[b, places] = [input_id(w) for w in row]
            characters[b, places] = [spelled(w) for w in row]
        x |= {f"{text}_ids": ids, f"{text}_characters": characters}
    x["extended_ids"] = np.zeros_like(x["passage_ids"])
    for text in TEXTS[1:]:
        x[f"{text}_target_ids"] = np.zeros_like(x[f"{text}_ids"])
    for b, t in enumerate(triplets):
        place = {word: i for i, word in reversed(list(enumerate(t.passage)))}
        x["extended_ids"][b, : len(t.passage)] = [
            w if 0 < w < G else G + place[w] for w in t.passage
        ]
        for text in TEXTS[1:]:
            words = getattr(t, text)
            ids = [w if 0 < w < G else G + place[w] if w in place else UNK for w in words]
            x[f"{text}_target_ids"][b, : len(words) + 1] = [*ids, EOS]
    return x


def generable() -> Array:
    """How the generable words are spelled."""
    return np.array([[0] * LENGTH] * 4 + [spelled(w) for w in range(4, G)], "int32")


def source(x: dict[str, Array], task: str) -> dict[str, Array]:
    """What `encode` of a direction takes."""
    given = {"answer": "question", "ask": "answer"}[task]
    names = ("passage_ids", "passage_characters", "extended_ids")
    names += (f"{given}_ids", f"{given}_characters")
    return {**{name: x[name] for name in names}, "generable_characters": generable()}


def targets(x: dict[str, Array], task: str) -> Array:
    return x[f"{task if task == 'answer' else 'question'}_target_ids"]


def small(**changes: Any) -> DAANet:
    return DAANet(**{**SIZES, **changes})


X = batch(FOUR)


def embedded(v, text, b, length, vectors=None, features=None):
    """The words of one text of one example, in float64; `vectors` in place of their rows."""
    rows = np.concatenate([v["word_embedding/special"], v["word_embedding/words"]])
    rows[PAD] = 0.0
    c = below(v, "character_embedding")
    e, h = below(v, "projection" if vectors is None else "passage_projection"), below(v, "highway")
    vectors = rows[X[f"{text}_ids"][b]] if vectors is None else vectors
    added = np.zeros((length, len(e["bias"])))
    if features is not None:
        added = features @ v["feature_projection/kernel"]
    return np.array(
        [
            reference.embedding(
                vectors[i],
                reference.character_word(
                    X[f"{text}_characters"][b, i], c["table"], c["kernel"], c["bias"]
                ),
                e["kernel"], e["bias"] + added[i],
                -h["gate_0/kernel"], -h["gate_0/bias"],
                h["transform_0/kernel"], h["transform_0/bias"],
            )
            for i in range(length)
        ]
    )  # fmt: skip


def named(v, layer):
    """A layer's weights, the task's own or the shared ones."""
    return below(v, layer.name)


def expected(model, task, b, vectors=None, features=None):
    """Log-probabilities of the targets of one example, and the coverage, in float64.

    `vectors` are those of the passage's words, their rows unless given, and `features` theirs.
    """
    v, config = values(model, strip=False), model.get_config()

    def encoded(text):
        length = len(getattr(FOUR[b], text)) + (text != "passage")
        of_passage = (vectors, features) if text == "passage" else ()
        x = embedded(v, text, b, length, *of_passage)
        weights = named(v, model.text_encoder[text][task])
        return reference.encoder(x, weights, 2, text != "passage", config["in_series"])

    passage = encoded("passage")
    if config["context_attention"]:
        given = encoded(GIVEN[task])
        first = named(v, model.first_fold[task])
        s = reference.similarity(
            passage, given, np.ones(len(given), bool), first["query/kernel"], first["key/kernel"]
        )
        kept = [passage, s @ given * passage] if config["keep_passage"] else []
        passage = np.concatenate([s @ given, *kept], axis=-1)
    written = encoded(TARGET[task])
    second = named(v, model.second_fold[task])
    attention = reference.similarity(
        written, passage, np.ones(len(passage), bool), second["query/kernel"], second["key/kernel"]
    )
    folded = attention @ passage
    inner, out = named(v, model.inner[task]), named(v, model.output_projection[task])
    found = []
    for t, target in enumerate(targets(X, task)[b, : len(written)]):
        p = reference.vocabulary(
            folded[t], inner["kernel"], inner["bias"], out["kernel"], out["bias"]
        )
        if config["copy"]:
            w = named(v, model.switch[task])
            copied = reference.context(attention[t], X["extended_ids"][b, : len(passage)])
            share = reference.switch(folded[t], written[t], w["switch/kernel"], w["switch/bias"])
            p = reference.mixture(share, p, copied)
        elif target >= G:
            target = UNK
        found.append(np.log(p[int(target)]))
    return np.array(found), reference.coverage(attention)

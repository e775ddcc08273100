"""Small examples for Masque, and the batches that the preprocessor would make of them.

Words are whole numbers: from 4 on they are rows of the embedding, below 0 they are words that no
row stands for. So what is generable, known or unknown is seen at a glance: with the numbers below
4 to 8 can be generated anywhere, 9 to 16 only where the source has them, -1 and below only copied.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.reference.basic import Array
from tfmrc.models import Masque
from tfmrc.ops.ids import BOS, EOS, PAD, UNK

G, NUM_WORDS, NUM_BUCKETS, NUM_PASSAGES = 9, 17, 2, 3
SIZES: dict[str, Any] = {
    "vocabulary_size": NUM_WORDS + NUM_BUCKETS,
    "num_styles": 2,
    "num_passages": NUM_PASSAGES,
    "word_dim": 6,
    "hidden_dim": 8,
    "num_heads": 2,
    "intermediate_dim": 5,
    "num_shared_blocks": 1,
    "num_question_blocks": 1,
    "num_passage_blocks": 1,
    "num_decoder_blocks": 2,
    "generation_vocabulary_size": G,
    "num_oov_buckets": NUM_BUCKETS,
    "dropout": 0.0,
}


@dataclass(frozen=True)
class Question:
    """Question, passages and answer as numbered words."""

    question: Sequence[int]
    passages: Sequence[Sequence[int]]
    answer: Sequence[int] = ()
    style: int = 0
    answerable: bool = True
    relevance: Sequence[bool] = ()


# The answer of the first: generable; in question and passages; in a passage twice and generable;
# in a passage alone; unknown and in a passage; generable and nowhere in the source; known but
# neither generable nor in the source (UNK).
FOUR = (
    Question(
        [5, 12, 7], [[12, 6, -1, 6], [13, 12]], [5, 12, 6, 13, -1, 8, 15], 0, True, (True, False)
    ),
    Question([-2, 10], [[-2, -3, 10], [], [11, 4]], [-2, 10, 11, -3], 1, True, (True, False, True)),
    Question([9, 14], [], [9, 4], 0, True, ()),
    Question([], [[16, 5], [5, 16, 5, 11], [7]], [16, 5, -4], 1, False, (False, False, False)),
)


def input_id(word: int, buckets: int = NUM_BUCKETS) -> int:
    if word > 0:
        return word
    return NUM_WORDS + (-word) % buckets if buckets else UNK


def batch(
    questions: Sequence[Question],
    *,
    longer: int = 0,
    buckets: int = NUM_BUCKETS,
    num_passages: int = NUM_PASSAGES,
) -> dict[str, Array]:
    """The model's inputs, as short as can be, or with `longer` places of padding on every axis."""
    j = max([1, *(len(q.question) for q in questions)]) + longer
    l = max([1, *(1 + len(p) for q in questions for p in q.passages)]) + longer  # noqa: E741
    t = max(1 + len(q.answer) for q in questions) + longer
    b = len(questions)
    x = {
        "question_ids": np.full((b, j), PAD, "int32"),
        "passage_ids": np.full((b, num_passages, l), PAD, "int32"),
        "extended_ids": np.full((b, j + num_passages * l), PAD, "int32"),
        "style_ids": np.array([q.style for q in questions], "int32"),
        "answer_ids": np.full((b, t), PAD, "int32"),
        "target_ids": np.full((b, t), PAD, "int32"),
    }
    for row, q in enumerate(questions):
        places: dict[int, int] = {}
        x["question_ids"][row, : len(q.question)] = [input_id(w, buckets) for w in q.question]
        located = list(enumerate(q.question))
        for k, passage in enumerate(q.passages):
            ids = [BOS, *(input_id(w, buckets) for w in passage)]
            x["passage_ids"][row, k, : len(ids)] = ids
            located += [(j + k * l + 1 + n, word) for n, word in enumerate(passage)]
        for place, word in located:
            extended = word if 0 < word < G else G + places.setdefault(word, place)
            x["extended_ids"][row, place] = extended
        targets = [
            word if 0 < word < G else G + places[word] if word in places else UNK
            for word in q.answer
        ]
        x["target_ids"][row, : len(targets) + 1] = [*targets, EOS]
        x["answer_ids"][row, : len(targets) + 1] = [BOS, *(input_id(w, buckets) for w in q.answer)]
    return x


def labels(
    questions: Sequence[Question], x: dict[str, Array]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """What `fit` takes as `y` and `sample_weight` beside a batch."""
    b, k = x["passage_ids"].shape[:2]
    relevance = np.zeros((b, k), "float32")
    for row, q in enumerate(questions):
        relevance[row, : len(q.relevance)] = q.relevance
    answerable = np.array([q.answerable for q in questions], "float32")
    there = (x["passage_ids"][:, :, 0] != PAD).astype("float32")
    return (
        {"decoder": x["target_ids"], "ranker": relevance, "classifier": answerable},
        {
            "decoder": answerable * b / max(answerable.sum(), 1),
            "ranker": there * b * k / max(there.sum(), 1),
            "classifier": np.ones(b, "float32"),
        },
    )


def source_only(x: dict[str, Array]) -> dict[str, Array]:
    """What `encode` takes."""
    return {name: a for name, a in x.items() if name not in ("answer_ids", "target_ids")}


def small(**changes: Any) -> Masque:
    return Masque(**{**SIZES, **changes})

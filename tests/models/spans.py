"""A small SAN and its batches."""

import numpy as np

SMALL = {
    "vocabulary_size": 12,
    "word_dim": 6,
    "units": 4,
    "align_dim": 5,
    "num_exact_match": 2,
    "num_steps": 3,
    "dropout": 0.0,
}


def batch(lengths=((3, 5), (2, 5), (3, 5)), tags=False, num_match=2, seed=0):
    """Questions and passages of these lengths, padded."""
    random = np.random.default_rng(seed)
    m, n = (max(sizes) for sizes in zip(*lengths, strict=True))
    x = {
        "question_ids": np.zeros((len(lengths), m), "int32"),
        "passage_ids": np.zeros((len(lengths), n), "int32"),
        "exact_match": np.zeros((len(lengths), n, num_match), "float32"),
    }
    if tags:
        x |= {name: np.zeros((len(lengths), n), "int32") for name in ("pos_ids", "ner_ids")}
    for row, (question, passage) in enumerate(lengths):
        x["question_ids"][row, :question] = random.integers(4, 12, question)
        x["passage_ids"][row, :passage] = random.integers(4, 12, passage)
        x["exact_match"][row, :passage] = random.integers(0, 2, (passage, num_match))
        for name in ("pos_ids", "ner_ids"):
            if tags:
                x[name][row, :passage] = random.integers(0, 3, passage)
    return x

"""Small examples for question generation, and the batches that the preprocessor would make of them.

Words are numbered as in `tests.models.examples`: below 9 generable, to 16 known, below 0 unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.layers.weights import below, values
from tests.models.examples import NUM_BUCKETS, NUM_WORDS, G, input_id
from tests.reference import question_generation as reference
from tests.reference.basic import Array
from tfmrc.models import MaxoutPointerQG
from tfmrc.ops.ids import BOS, EOS, PAD, UNK

SIZES: dict[str, Any] = {
    "vocabulary_size": NUM_WORDS + NUM_BUCKETS,
    "word_dim": 6,
    "tag_dim": 3,
    "hidden_dim": 5,
    "num_layers": 2,
    "generation_vocabulary_size": G,
    "num_oov_buckets": NUM_BUCKETS,
    "dropout": 0.0,
}


@dataclass(frozen=True)
class GeneratedQuestion:
    """A passage, the answer's words in it (from, behind) and the question."""

    passage: Sequence[int]
    answer: tuple[int, int]
    question: Sequence[int]


# Words of the questions: generable alone; in both; in the source alone, known and unknown, once
# and several times; in neither.
FOUR = (
    GeneratedQuestion([5, 12, 7, -1, 12, 5, 12], (2, 3), [6, 5, 12, -1, 15, 8]),
    GeneratedQuestion([-2, 10], (0, 1), [10, 4]),
    GeneratedQuestion([9, 4, 9, 4], (1, 4), [4, 9, -3]),
    GeneratedQuestion([16, -4, 5], (1, 2), [16]),
)


def batch(asked: Sequence[GeneratedQuestion], longer: int = 0) -> dict[str, Array]:
    """The model's inputs, as short as can be, or with `longer` places of padding on every axis."""
    b = len(asked)
    m = max(len(a.passage) for a in asked) + longer
    t = max(len(a.question) for a in asked) + 1 + longer
    x = {
        **{n: np.zeros((b, m), "int32") for n in ("passage_ids", "answer_tags", "extended_ids")},
        **{n: np.full((b, t), PAD, "int32") for n in ("question_ids", "target_ids")},
    }
    for row, a in enumerate(asked):
        x["passage_ids"][row, : len(a.passage)] = [input_id(w) for w in a.passage]
        x["answer_tags"][row, a.answer[0] : a.answer[1]] = 1
        first = {word: place for place, word in reversed(list(enumerate(a.passage)))}
        x["extended_ids"][row, : len(a.passage)] = [
            w if 0 < w < G else G + first[w] for w in a.passage
        ]
        targets = [w if 0 < w < G else G + first[w] if w in first else UNK for w in a.question]
        x["target_ids"][row, : len(targets) + 1] = [*targets, EOS]
        x["question_ids"][row, : len(targets) + 1] = [BOS, *(input_id(w) for w in a.question)]
    return x


def source_only(x: dict[str, Array]) -> dict[str, Array]:
    """What `encode` takes."""
    return {n: a for n, a in x.items() if n not in ("question_ids", "target_ids")}


def small(**changes: Any) -> MaxoutPointerQG:
    return MaxoutPointerQG(**{**SIZES, **changes})


X = batch(FOUR)


def expected(model, b, words=None):
    """Log-probabilities of the targets of one example, in float64.

    `words` are the vectors of the passage's words, their rows unless given.
    """
    v, config = values(model, strip=False), model.get_config()
    a = FOUR[b]
    ids = X["passage_ids"][b, : len(a.passage)]
    rows = np.concatenate([v["word_embedding/special"], v["word_embedding/words"]])
    rows[PAD] = 0.0
    u = rows[ids] if words is None else words[: len(ids)]
    if config["answer_tagging"]:
        tags = v["answer_tagging/tags"][X["answer_tags"][b, : len(ids)]]
        u = np.concatenate([u, tags], axis=-1)
    state = []
    for i in (1, 2):
        last, outputs = {"h": [], "c": []}, []
        for direction, order in (("forward", 1), ("backward", -1)):
            cell = below(v, f"encoder_{i}/{direction}")
            (kernel,) = (a for n, a in cell.items() if n.endswith("/kernel"))
            (recurrent,) = (a for n, a in cell.items() if n.endswith("recurrent_kernel"))
            (bias,) = (a for n, a in cell.items() if n.endswith("bias"))
            both = np.concatenate([kernel, recurrent])
            h = c = np.zeros(SIZES["hidden_dim"])
            found = []
            for word in u[::order]:
                h, c = reference.lstm(word, h, c, both, bias)
                found.append(h)
            outputs.append(found[::order])
            last["h"].append(h)
            last["c"].append(c)
        u = np.concatenate([np.array(x) for x in outputs], axis=-1)
        for name, key in (("hidden", "h"), ("cell", "c")):
            bridge = below(v, f"bridge_{name}_{i}")
            state.append(np.concatenate(last[key]) @ bridge["kernel"] + bridge["bias"])
    real = np.ones(len(u), bool)
    if config["self_attention"]:
        g = below(v, "gated_self_attention")
        kernels = (g[f"{n}/kernel"].T for n in ("matching", "fusion", "gate"))
        u = reference.gated(u, real, *kernels)
    d = below(v, "decoder")
    lowest = np.concatenate([d["word_kernel"], d["kernel_1"]])
    layers = [(lowest, d["bias_1"]), (d["kernel_2"], d["bias_2"])]
    attention = ()
    if config["attention"]:
        attention = (u, real, d["attention/key/kernel"], d["attention/output/kernel"].T)
    decoded = reference.decode(rows[X["question_ids"][b]], state, layers, *attention)
    result = []
    for t, target in enumerate(X["target_ids"][b, : len(a.question) + 1]):
        logits = decoded.attended[t] @ v["generator/kernel"] + v["generator/bias"]
        scores = np.zeros(len(u))
        if config["copy"]:
            scores = reference.raw_scores(decoded.plain[t], u, attention[2])
        elif target >= len(logits):
            target = UNK
        source = X["extended_ids"][b, : len(ids)]
        p = reference.distribution(logits, scores, source, config["copy"])
        result.append(np.log(p[int(target)]))
    return np.array(result)

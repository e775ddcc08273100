"""The whole of Masque for one example, from ids to distributions, out of the printed equations.

`weights` is a nested dictionary (see `tests.models.weights`); `table` is the embedding table.
Numbers of rows: `num_generable` common words, `num_words` words with a row of their own, the rows
beyond shared by unknown words.
"""

from typing import Any, NamedTuple

import numpy as np

from tests.reference import basic, heads, pointer_generator
from tests.reference.basic import Array
from tests.reference.dual_attention import all_passages
from tests.reference.transformer import decoder_block, encoder_block

PAD, BOS = 0, 2


class Sizes(NamedTuple):
    num_generable: int
    num_words: int
    num_heads: int
    epsilon: float


class Read(NamedTuple):
    """What the reader makes of one example."""

    question: Array  # M_q [J, d]
    passages: Array  # M_p [K, L, d]
    ranker: Array  # logits [K]
    classifier: float  # logit


def _embed(ids: Array, weights: dict[str, Any], table: Array, part: str, sizes: Sizes) -> Array:
    words = np.array([table[word] if word != PAD else 0.0 * table[word] for word in ids])
    x = basic.highway(words, weights[f"{part}_highway"])
    x = basic.linear(x, **weights[f"{part}_projection"])
    return basic.positions(x, epsilon=sizes.epsilon, **weights[f"{part}_positions"])


def read(
    question_ids: Array, passage_ids: Array, weights: dict[str, Any], table: Array, sizes: Sizes
) -> Read:
    """masque-01 to masque-12 of `question_ids` [J] and `passage_ids` [K, L]."""
    question_mask, passage_mask = question_ids != PAD, passage_ids != PAD

    def encode(x: Array, mask: Array, stack: str) -> Array:
        for block in weights[stack]:
            x = encoder_block(x, mask, block, sizes.num_heads, sizes.epsilon)
        return x

    question = encode(
        _embed(question_ids, weights, table, "reader", sizes), question_mask, "shared"
    )
    passages = np.stack(
        [
            encode(_embed(ids, weights, table, "reader", sizes), mask, "shared")
            for ids, mask in zip(passage_ids, passage_mask, strict=True)
        ]
    )
    of_passages, of_question = all_passages(
        passages, passage_mask, question, question_mask, weights["similarity"]
    )
    question = encode(
        basic.linear(of_question, **weights["question_projection"]), question_mask, "question"
    )
    passages = np.stack(
        [
            encode(basic.linear(part, **weights["passage_projection"]), mask, "passage")
            for part, mask in zip(of_passages, passage_mask, strict=True)
        ]
    )
    present = passage_mask[:, 0]
    logits = heads.relevance_logits(passages, weights["ranker"])
    return Read(
        question,
        passages,
        np.where(present, logits, -np.inf),
        heads.possibility_logit(passages, present, weights["classifier"]),
    )


def write(
    made: Read,
    question_ids: Array,
    passage_ids: Array,
    extended_ids: Array,
    style: int,
    answer_ids: Array,
    weights: dict[str, Any],
    table: Array,
    sizes: Sizes,
    combined: bool = True,
) -> list[pointer_generator.Step]:
    """masque-13 to masque-21: one distribution over all extended ids for each of `answer_ids`.

    `answer_ids` [T] are the words before each step; the style's token takes the first place.
    """
    rows_of_words = np.concatenate([table, weights["styles"]])
    inputs = np.array([len(table) + style, *answer_ids[1:]])
    x = _embed(inputs, weights, rows_of_words, "decoder", sizes)
    question_mask, passage_mask = question_ids != PAD, passage_ids.reshape(-1) != PAD
    flat = made.passages.reshape(-1, made.passages.shape[-1])
    for block in weights["decoder"]:
        x = decoder_block(
            x,
            made.question,
            question_mask,
            flat,
            passage_mask,
            block,
            sizes.num_heads,
            sizes.epsilon,
        )
    num_question = len(question_ids)
    # What can be copied: every place that holds a word; a passage's BOS is none.
    copyable = extended_ids != PAD
    # PAD and BOS are no words of an answer.
    generable = tuple(w for w in range(sizes.num_generable) if w not in (PAD, BOS))
    rows = pointer_generator.extended_vocabulary(
        sizes.num_generable,
        np.concatenate([question_ids, passage_ids.reshape(-1)]),
        extended_ids,
        table,
        sizes.num_words,
        generable,
    )
    beta = basic.sigmoid(made.ranker) if combined else None
    return [
        pointer_generator.step(
            state,
            made.question,
            copyable[:num_question],
            made.passages,
            copyable[num_question:],
            extended_ids[:num_question],
            extended_ids[num_question:],
            rows,
            beta,
            weights["pointer_generator"],
        )
        for state in x
    ]

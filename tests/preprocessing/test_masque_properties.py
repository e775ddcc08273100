"""Features of random records against their definition in plain Python."""

from functools import cache

import numpy as np
import tensorflow as tf
from hypothesis import given, settings, strategies as st

from tests.text import helpers
from tests.text.helpers import WORDS, preprocessor, text_of

G, PASSAGES, QUESTION_LENGTH, PASSAGE_LENGTH, ANSWER_LENGTH = 7, 3, 4, 3, 3


@cache
def computed():
    """Source, target and text of a batch, as a graph: sooner than one operation at a time."""
    built = preprocessor(
        num_passages=PASSAGES,
        question_length=QUESTION_LENGTH,
        passage_length=PASSAGE_LENGTH,
        answer_length=ANSWER_LENGTH,
    )

    @tf.function(
        input_signature=[tf.TensorSpec(size, tf.string) for size in ([None], [None, None], [None])],
        autograph=False,
    )
    def compute(question, passages, answer):
        source = built.source(question, passages, tf.fill(tf.shape(question), "qa"))
        target = built.target(answer, source)
        return source, target, built.detokenize(target["target_ids"], source)[0]

    return compute


tokens = cache(helpers.tokens)
WORD = st.sampled_from([*WORDS, "K2", "k2", "x9", "don't", "Queen", "😀", ".", " "])
TEXT = st.lists(WORD, max_size=6).map(" ".join)
RECORD = st.tuples(TEXT, st.lists(TEXT, min_size=2, max_size=2), TEXT)


def input_id(word):
    return 4 + WORDS.index(word) if word in WORDS else 1


def plain(question, passages, answer, wide):
    """Source ids, extended ids, words and target of one record in a batch of the given sizes."""
    passages = passages + [""] * (PASSAGES - len(passages))
    rows = [[(word, 0) for word in tokens(question)[:QUESTION_LENGTH]]]
    rows += [
        [(None, 2 if passage else 0)] * bool(passage)
        + [(word, 0) for word in tokens(passage)[:PASSAGE_LENGTH]]
        for passage in passages
    ]
    positions = [
        (row + [(None, 0)] * size)[:size]
        for row, size in zip(rows, [wide[0]] + [wide[1]] * PASSAGES, strict=True)
    ]
    flat = [place for row in positions for place in row]
    ids = [special if word is None else input_id(word.compared) for word, special in flat]
    first: dict[str, int] = {}
    extended = []
    for position, (word, _) in enumerate(flat):
        if word is None:
            extended.append(0)
        elif input_id(word.compared) in range(4, G):
            extended.append(input_id(word.compared))
        else:
            extended.append(G + first.setdefault(word.compared, position))
    target = []
    for word in tokens(answer)[:ANSWER_LENGTH]:
        known = input_id(word.compared)
        copied = G + first[word.compared] if word.compared in first else 1
        target.append(known if known in range(4, G) else copied)
    words = ["" if word is None else word.surface for word, _ in flat]
    cut = any(len(tokens(p)) > PASSAGE_LENGTH for p in passages)
    return ids, extended, words, target + [3], cut or len(tokens(question)) > QUESTION_LENGTH


@settings(max_examples=60, deadline=None)
@given(st.lists(RECORD, min_size=1, max_size=3))
def test_like_the_plain_definition(records):
    question, passages, answer = (list(column) for column in zip(*records, strict=True))
    source, target, back = computed()(question, passages, answer)
    wide = source["question_ids"].shape[1], source["passage_ids"].shape[2]
    assert back.shape == (len(records),)
    for row, record in enumerate(records):
        ids, extended, words, targets, cut = plain(*record, wide)
        result = [source["question_ids"][row], np.ravel(source["passage_ids"][row])]
        assert np.concatenate(result).tolist() == ids
        assert source["extended_ids"][row].numpy().tolist() == extended
        assert text_of(source["words"])[row] == words
        padding = [0] * (target["target_ids"].shape[1] - len(targets))
        assert target["target_ids"][row].numpy().tolist() == targets + padding
        assert bool(source["truncated"][row]) == cut
        # The widths are those of the longest record, no more.
    assert wide[0] == max(1, *(min(QUESTION_LENGTH, len(tokens(q))) for q in question))

"""Passages, questions and answers to numbers and back; spelling; batches."""

import numpy as np
import tensorflow as tf

from tfmrc.data import Example, make_dataset
from tfmrc.ops.ids import BOS, EOS, UNK
from tfmrc.preprocessing import DAANetPreprocessor
from tfmrc.preprocessing.daanet import MODEL_INPUTS
from tfmrc.text import Vocabulary
from tfmrc.text.words.character_ids import character_ids

WORDS = "who met the king ? in . it rained".split()
PASSAGES = ["It rained. Ada met the Émir in 1912.", ""]
QUESTIONS = ["Who met the king?", "Who?"]
ANSWERS = ["Ada", "Bo"]


def built(**options):
    vocabulary = Vocabulary(WORDS, num_oov_buckets=3)
    return DAANetPreprocessor(vocabulary, **{"generation_vocabulary_size": 10, **options})


def test_characters_by_code_point():
    result = character_ids(["ab", "é", "", "abcdef", "Ω"], 4, 256).numpy()
    assert result[0].tolist() == [98, 99, 0, 0] and result[1].tolist() == [234, 0, 0, 0]
    assert result[2].tolist() == [0] * 4 and result[3].tolist() == [98, 99, 100, 101]
    assert 0 < result[4, 0] < 256  # round and round


def test_source_is_the_passage():
    preprocessor = built(word_length=5)
    source = preprocessor.source(PASSAGES)
    words = [word.decode() for word in source["words"][0].numpy()]
    assert words == "It rained . Ada met the Émir in 1912 .".split()
    ids, extended = source["passage_ids"][0].numpy(), source["extended_ids"][0].numpy()
    vocabulary = preprocessor.vocabulary
    for position, word in enumerate(words):
        known = word.lower() in vocabulary.words
        row = vocabulary.words.index(word.lower()) if known else None
        assert ids[position] == row if known else ids[position] >= vocabulary.size
        first = [w.lower() for w in words].index(word.lower())
        assert extended[position] == (row if known and row < 10 else 10 + first)
    assert source["passage_characters"].shape == (2, 10, 5)
    spelled = source["passage_characters"][0, 6].numpy()
    np.testing.assert_array_equal(spelled, [1 + ord(c) for c in "émir"] + [0])
    assert (
        not source["passage_characters"][1].numpy().any()
        and not source["passage_ids"][1].numpy().any()
    )
    table = source["generable_characters"].numpy()
    assert table.shape == (10, 5) and not table[:4].any()
    np.testing.assert_array_equal(table[4:], character_ids(WORDS[:6], 5, 256))


def test_given_and_written_begin_alike():
    preprocessor = built()
    source = preprocessor.source(PASSAGES)
    given = preprocessor.given(ANSWERS, "answer")
    written = preprocessor.written(ANSWERS, "answer", source)
    for name in given:
        np.testing.assert_array_equal(given[name], written[name])
    assert (given["answer_ids"].numpy()[:, 0] == BOS).all()
    assert not given["answer_characters"].numpy()[:, 0].any()
    np.testing.assert_array_equal(written["answer_target_ids"], [[13, EOS], [UNK, EOS]])
    text, _ = preprocessor.detokenize(written["answer_target_ids"], source)
    assert text[0].numpy() == b"Ada"
    long = built(question_length=2).written(QUESTIONS, "question", source)
    np.testing.assert_array_equal(long["question_target_ids"], [[4, 5, EOS], [4, 8, EOS]])
    assert bool(built(passage_length=3).source(PASSAGES)["truncated"][0])


def test_batches_weigh_words_and_leave_out_what_has_no_answer():
    examples = [
        Example("1", QUESTIONS[0], (PASSAGES[0], "It was late."), {"span": ("Ada",)}),
        Example("2", QUESTIONS[1], ("No.",), {}, answerable=False),
    ]
    [(x, y, weight)] = list(make_dataset(examples, built(), 2))
    assert set(MODEL_INPUTS[:3]) < set(x) and len(x) == 9
    row = 0 if x["question_ids"].shape[1] and y["answer"][0, 0] != EOS else 1
    assert {name: int(value[row]) for name, value in weight.items()} == {
        "answer": 2, "answer_coverage": 2, "ask": 6, "ask_coverage": 6
    }  # fmt: skip
    assert all(float(value[1 - row]) == 0.0 for value in weight.values())
    np.testing.assert_array_equal(y["ask"], x["question_target_ids"])
    assert int(tf.reduce_sum(tf.cast(x["passage_ids"][row] != 0, tf.int32))) == 14

from types import SimpleNamespace

import pytest
import tensorflow as tf

from tests.text.helpers import text_of
from tfmrc.text import Vocabulary

SPECIAL = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")


def example(question, passages=(), **answers):
    return SimpleNamespace(
        question=question,
        passages=tuple(passages),
        answers={style: (answer,) for style, answer in answers.items()},
    )


def test_rows():
    vocabulary = Vocabulary(["the", "naïve", "日"])
    assert vocabulary.words == (*SPECIAL, "the", "naïve", "日")
    assert vocabulary.size == len(vocabulary) == 7
    result = vocabulary.lookup([["日", "the"], ["The", "naïve"]])
    assert result.dtype == tf.int32
    assert result.numpy().tolist() == [[6, 4], [1, 5]]
    assert text_of(vocabulary.words_of([[6, 2], [0, 99]])) == [["日", "[BOS]"], ["[PAD]", "[UNK]"]]


def test_unknown_words_share_the_last_rows():
    vocabulary = Vocabulary(["the"], num_oov_buckets=3)
    assert (vocabulary.size, len(vocabulary)) == (5, 8)
    words = [f"word{number}" for number in range(50)]
    ids = vocabulary.lookup(words).numpy()
    assert set(ids.tolist()) == {5, 6, 7}
    assert vocabulary.lookup(words[::-1]).numpy().tolist() == ids.tolist()[::-1]
    assert vocabulary.lookup(["the"]).numpy().tolist() == [4]


def test_save_and_load(tmp_path):
    vocabulary = Vocabulary(["the", "naïve", " \u0301"], num_oov_buckets=2)
    path = vocabulary.save(tmp_path / "vocabulary.txt")
    assert path.read_bytes() == "[PAD]\n[UNK]\n[BOS]\n[EOS]\nthe\nnaïve\n \u0301\n".encode()
    for position in (path, tmp_path, str(tmp_path)):
        again = Vocabulary.load(position, num_oov_buckets=2)
        assert again.words == vocabulary.words
        assert len(again) == 9


def test_from_examples_orders_by_frequency_then_alphabet():
    examples = [
        example("Who met the King?", ["The king met the queen.", ""], qa="the queen"),
        example("Who?", ["A KING"], nlg="A king met."),
    ]
    # king 4, the 4, met 3, . 2, ? 2, a 2, queen 2, who 2
    vocabulary = Vocabulary.from_examples(examples)
    assert vocabulary.words[4:] == ("king", "the", "met", ".", "?", "a", "queen", "who")
    assert Vocabulary.from_examples(examples, size=6).words[4:] == ("king", "the")
    assert Vocabulary.from_examples(examples, min_count=3).words[4:] == ("king", "the", "met")
    with_buckets = Vocabulary.from_examples(iter(examples), size=5, num_oov_buckets=10)
    assert (with_buckets.size, len(with_buckets)) == (5, 15)
    assert Vocabulary.from_examples(lambda: examples).words == vocabulary.words


class Vectors:
    compared = {"the": 7, "ada": 3, "eve": 9, "lin": 3, " \u0301": 9}


def test_every_word_of_the_vectors_has_a_row():
    vocabulary = Vocabulary(["the", "cat"], num_oov_buckets=2).with_vectors(Vectors())
    assert vocabulary.words == (*SPECIAL, "the", "cat")
    # Row 7 has no word but "the", which has a row of its own.
    assert vocabulary.shared_words == {"ada": 6, "eve": 7, "lin": 6, " \u0301": 7}
    assert (vocabulary.size, len(vocabulary)) == (8, 10)
    ids = vocabulary.lookup([["the", "cat"], ["lin", "eve"], ["ada", " \u0301"]])
    assert ids.numpy().tolist() == [[4, 5], [6, 7], [6, 7]]
    assert set(vocabulary.lookup([f"x{n}" for n in range(20)]).numpy().tolist()) == {8, 9}
    assert text_of(vocabulary.words_of([5, 6, 8])) == ["cat", "[UNK]", "[UNK]"]


def test_examples_and_vectors_give_a_vocabulary():
    examples = [example("the the ada", ["the cat"])]
    vocabulary = Vocabulary.from_examples(examples, size=5, num_oov_buckets=1, vectors=Vectors())
    assert vocabulary.words[4:] == ("the",)
    assert vocabulary.lookup(["the", "ada", "lin", "cat"]).numpy().tolist() == [4, 5, 5, 7]
    assert (vocabulary.size, len(vocabulary)) == (7, 8)


def test_shared_rows_are_saved(tmp_path):
    vocabulary = Vocabulary(["the", "naïve"]).with_vectors(Vectors())
    path = vocabulary.save(tmp_path / "vocabulary.txt")
    assert path.read_bytes() == "[PAD]\n[UNK]\n[BOS]\n[EOS]\nthe\nnaïve\n".encode()
    assert (tmp_path / "vocabulary.ids.tsv").read_text(encoding="utf-8").splitlines()[4:] == [
        "the\t4", "naïve\t5", "ada\t6", "eve\t7", "lin\t6", " \u0301\t7",
    ]  # fmt: skip
    again = Vocabulary.load(tmp_path, num_oov_buckets=3)
    assert again.shared_words == vocabulary.shared_words
    assert again.lookup(["lin", "naïve"]).numpy().tolist() == [6, 5]
    assert (again.size, len(again)) == (8, 11)
    # Saving a vocabulary without shared rows to the same path removes the second file.
    Vocabulary(["the", "naïve"]).save(path)
    assert [file.name for file in tmp_path.iterdir()] == ["vocabulary.txt"]


def test_shared_rows_are_exported(tmp_path):
    vocabulary = Vocabulary(["the"], num_oov_buckets=1).with_vectors(Vectors())
    module = tf.Module()
    module.vocabulary = vocabulary
    module.lookup = tf.function(
        vocabulary.lookup, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
    )
    tf.saved_model.save(module, str(tmp_path / "export"))
    assets = sorted(path.name for path in (tmp_path / "export" / "assets").iterdir())
    assert assets == ["vocabulary.ids.tsv", "vocabulary.txt"]
    del vocabulary, module
    again = tf.saved_model.load(str(tmp_path / "export"))
    words = tf.constant(["the", "ada", "lin", "eve", "bob"])
    assert again.lookup(words).numpy().tolist() == [4, 5, 5, 6, 7]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the\nking\n", r"must begin with the lines \[PAD\] \[UNK\].*Received: first lines="),
        ("[PAD]\n[UNK]\n[BOS]\n[EOS]\nthe\nthe\n", r"distinct.*\[5\]='the'.*also .*\[4\]"),
        ("[PAD]\n[UNK]\n[BOS]\n[EOS]\nowl\n", r"must begin with the words of the vocabulary"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    path = tmp_path / "words.txt"
    Vocabulary(["the"], shared_words={"ada": 0}).save(path)
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        Vocabulary.load(path)

import gc
import tempfile
from types import SimpleNamespace

import pytest
import tensorflow as tf

from tests.text.helpers import text_of
from tfmrc.text import Vocabulary
from tfmrc.text.counting import WordCounter

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
    found = vocabulary.lookup([["日", "the"], ["The", "naïve"]])
    assert found.dtype == tf.int32
    assert found.numpy().tolist() == [[6, 4], [1, 5]]
    assert text_of(vocabulary.words_of([[6, 2], [0, 99]])) == [["日", "[BOS]"], ["[PAD]", "[UNK]"]]


def test_unknown_words_share_the_last_rows():
    vocabulary = Vocabulary(["the"], num_oov_buckets=3)
    assert (vocabulary.size, len(vocabulary)) == (5, 8)
    words = [f"word{number}" for number in range(50)]
    ids = vocabulary.lookup(words).numpy()
    assert set(ids.tolist()) == {5, 6, 7}
    assert vocabulary.lookup(words[::-1]).numpy().tolist() == ids.tolist()[::-1]
    assert vocabulary.lookup(["the"]).numpy().tolist() == [4]


def test_words_of_a_line_with_spaces_at_its_ends():
    # NFKC makes a space and an accent of the acute accent alone.
    vocabulary = Vocabulary([" \u0301", "b "])
    assert vocabulary.lookup([" \u0301", "b ", "b"]).numpy().tolist() == [4, 5, 1]


def test_save_and_load(tmp_path):
    vocabulary = Vocabulary(["the", "naïve", " \u0301"], num_oov_buckets=2)
    path = vocabulary.save(tmp_path / "vocabulary.txt")
    assert path.read_bytes() == "[PAD]\n[UNK]\n[BOS]\n[EOS]\nthe\nnaïve\n \u0301\n".encode()
    for place in (path, tmp_path, str(tmp_path)):
        again = Vocabulary.load(place, num_oov_buckets=2)
        assert again.words == vocabulary.words
        assert len(again) == 9


@pytest.mark.parametrize(
    "content, message",
    [
        ("the\nking\n", r"does not begin with the lines \[PAD\] \[UNK\].*Received: first lines="),
        ("", r"does not begin with the lines"),
        ("[PAD]\n[UNK]\n[BOS]\n[EOS]\nthe\n\nking\n", r"no empty word.*\[5\]=''"),
        ("[PAD]\n[UNK]\n[BOS]\n[EOS]\nthe\nking\nthe\n", r"once\..*\[6\]='the'.*\[4\] too"),
        ("[PAD]\n[UNK]\n[BOS]\n[EOS]\n[UNK]\n", r"\[4\]='\[UNK\]'.*\[1\] too"),
    ],
)
def test_broken_files(tmp_path, content, message):
    path = tmp_path / "words.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as error:
        Vocabulary.load(path)
    assert str(path) in str(error.value)


def test_broken_words():
    with pytest.raises(ValueError, match=r"once.*words\[5\]='a', which is words\[4\] too"):
        Vocabulary(["a", "a"])
    with pytest.raises(ValueError, match=r"no line break.*words\[4\]='a\\nb'"):
        Vocabulary(["a\nb"])
    with pytest.raises(ValueError, match=r"0 or more. Received: num_oov_buckets=-1"):
        Vocabulary(["a"], num_oov_buckets=-1)


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


def test_from_examples_refuses():
    with pytest.raises(ValueError, match=r"at least one word. Received: size=4"):
        Vocabulary.from_examples([example("a")], size=4)
    with pytest.raises(ValueError, match=r"min_count=2, 1 examples with 1 distinct words"):
        Vocabulary.from_examples([example("a")], min_count=2)
    with pytest.raises(ValueError, match=r"0 examples with 0 distinct words"):
        Vocabulary.from_examples([])


@pytest.mark.parametrize("batch_size", [1, 2, 1000])
def test_counts_do_not_depend_on_the_batch(batch_size):
    counter = WordCounter(batch_size)
    for text in ["a b", "b", "", "a b", "B c"] * 3:
        counter.add(text)
    assert dict(counter.counts) == {b"a": 6, b"b": 12, b"c": 3}
    assert counter.most_common(6) == ["b", "a"]


def test_the_file_behind_the_table_goes_with_the_vocabulary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    vocabulary = Vocabulary(["the"])
    assert [path.name for path in tmp_path.glob("*/*")] == ["vocabulary.txt"]
    del vocabulary
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_repr():
    assert repr(Vocabulary("abcdef")) == "<Vocabulary 10 words ([PAD] [UNK] [BOS] [EOS] a b c d …)>"

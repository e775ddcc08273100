"""Passage and answer to numbers: tags, context, windows, errors, the same graph everywhere."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.data import Example, Span, make_dataset
from tfmrc.preprocessing import MaxoutPointerQGPreprocessor
from tfmrc.text import Tokenizer, Vocabulary
from tfmrc.text.words.sentences import sentence_numbers

WORDS = "who met the king ? in . it rained".split()
PASSAGE = "It rained. Ada met the king in 1912. The king met Bo in 1912."


def built(**options):
    return MaxoutPointerQGPreprocessor(Vocabulary(WORDS, num_oov_buckets=3), **options)


def words(source, row=0):
    return [word.decode() for word in source["words"][row].numpy() if word]


def tagged(source, row=0):
    tags = source["answer_tags"][row].numpy()
    return [w for w, tag in zip(source["words"][row].numpy(), tags, strict=True) if tag]


@pytest.mark.equation("qg-01")
def test_words_that_share_a_character_with_the_answer_are_tagged():
    source = built().source([PASSAGE, "Owls flew"], ["the king", "wls"])
    assert tagged(source) == [b"the", b"king"]
    assert tagged(source, 1) == [b"Owls"]
    np.testing.assert_array_equal(source["answer_start"], [19, 1])
    assert source["passage_ids"].shape == source["answer_tags"].shape == (2, 17)


def test_the_first_occurrence_or_the_place_that_is_given():
    preprocessor = built(context="sentence")
    second = PASSAGE.rindex("1912")
    source = preprocessor.source([PASSAGE] * 3, ["1912"] * 3, [-1, second, PASSAGE.index("1912")])
    assert (
        words(source)[0] == "Ada" and words(source, 1)[0] == "The" and words(source, 2)[0] == "Ada"
    )
    np.testing.assert_array_equal(source["answer_start"], [31, second, 31])


def test_an_occurrence_of_whole_words_is_preferred():
    text = "The king was part of it. He loved art."
    source = built(context="sentence").source([text, text], ["art", "oved"])
    assert tagged(source) == [b"art"] and tagged(source, 1) == [b"loved"]
    np.testing.assert_array_equal(source["answer_start"], [text.rindex("art"), text.index("oved")])


@pytest.mark.parametrize(
    ("answer", "start"), [("Zoe", -1), ("", -1), (" ", -1), ("Ada", 0), ("Ada", 999), ("ada", -1)]
)
def test_an_answer_that_does_not_stand_there_is_an_error_and_no_guess(answer, start):
    with pytest.raises(tf.errors.InvalidArgumentError, match="occur in its passage"):
        built().source(["a b"] * 1 + [PASSAGE], ["a", answer], [-1, start])


def test_sentence_is_what_the_model_reads_and_offsets_are_the_passages():
    source = built(context="sentence").source([PASSAGE], ["the king"])
    assert words(source) == ["Ada", "met", "the", "king", "in", "1912", "."]
    for word, start, end in zip(
        words(source), source["starts"][0].numpy(), source["ends"][0].numpy(), strict=True
    ):
        assert PASSAGE[start:end] == word
    assert not source["truncated"].numpy().any()
    over_two = built(context="sentence").source([PASSAGE], ["rained. Ada"])
    assert words(over_two)[0] == "It" and words(over_two)[-2:] == ["1912", "."]


def test_extended_ids_are_places_in_what_is_read():
    source = built(context="sentence", generation_vocabulary_size=8).source([PASSAGE], ["the king"])
    # who met the king are 4 to 7; everything else is copied.
    np.testing.assert_array_equal(source["extended_ids"], [[8, 5, 6, 7, 12, 13, 14]])
    target = built(context="sentence", generation_vocabulary_size=8).target(
        ["Who met Ada in Rome?"], source
    )
    np.testing.assert_array_equal(target["target_ids"], [[4, 5, 8, 12, 1, 1, 3]])
    assert target["question_ids"][0, 0] == 2


@pytest.mark.parametrize(
    ("position", "first"), [(2, 0), (9, 0), (10, 5), (50, 45), (97, 90), (99, 90)]
)
def test_of_a_long_passage_the_words_around_the_answer_are_read(position, first):
    passage = " ".join(f"w{n}" for n in range(100))
    source = built(passage_length=10).source([passage, "w"], [f"w{position}", "w"])
    if position < 10:  # w9 is a part of w90: the first occurrence is the word itself
        assert tagged(source) == [f"w{position}".encode()]
    assert words(source) == [f"w{n}" for n in range(first, first + 10)]
    assert tagged(source) == [f"w{position}".encode()]
    np.testing.assert_array_equal(source["truncated"], [True, False])


@pytest.mark.parametrize(
    ("begin", "end", "first"), [(3, 11, 1), (50, 58, 48), (50, 60, 50), (50, 70, 50), (92, 100, 90)]
)
def test_a_long_answer_is_read_whole_as_far_as_it_fits(begin, end, first):
    spelled = [f"w{n}" for n in range(100)]
    answer = spelled[begin:end]
    source = built(passage_length=10).source([" ".join(spelled)], [" ".join(answer)])
    assert words(source) == spelled[first : first + 10]
    assert tagged(source) == [word.encode() for word in answer[:10]]


def test_without_answers_nothing_is_looked_for():
    source = built(with_answers=False).source([PASSAGE, ""], ["", "Zoe"])
    assert len(words(source)) == 17 and not words(source, 1)
    assert not source["answer_tags"].numpy().any()


SENTENCES = [
    (["It rained.", "Ada left.", "Bo, too."], " "),
    (
        ['"Why?" asked Dr. Owl of the U.S. bank.', "It slept…", "So?!", '"No."', "(Then it went.)"],
        " ",
    ),
    (["A line", "another one", "5.5 is 5,500. is it"], "\n"),
    (["猫は寝た。", "犬も寝た。"], ""),
]


@pytest.mark.parametrize(("parts", "space"), SENTENCES)
def test_sentences(parts, space):
    text = space.join(parts)
    tokens = Tokenizer().tokenize([text, "Next one. Here"])
    numbers = sentence_numbers([text, "Next one. Here"], tokens).numpy()
    count = int(tokens.starts.row_lengths()[0])
    starts = tokens.starts.values.numpy()[:count]
    right, at = [], 0
    for number, part in enumerate(parts):
        at = text.index(part, at)
        right += [number] * int(((starts >= at) & (starts < at + len(part))).sum())
    np.testing.assert_array_equal(numbers[:count], right)
    np.testing.assert_array_equal(numbers[count:] - len(parts), [0, 0, 0, 1])


def test_batches_of_examples_with_the_answers_own_place():
    second = PASSAGE.rindex("1912")
    spans = (Span(0, second, second + 4),)
    examples = [
        Example("1", "Who met?", (PASSAGE,), {"span": ("1912",)}, spans=spans),
        Example("2", "Who met the king in the rain?", ("Ada did.",), {"span": ("Ada",)}),
    ]
    preprocessor = built(context="sentence")
    ((x, y, weight),) = make_dataset(examples, preprocessor, 2)
    assert set(x) == {"passage_ids", "answer_tags", "extended_ids", "question_ids", "target_ids"}
    assert x["passage_ids"].shape == (2, 7) and x["answer_tags"][0, 5] == 1
    assert x["passage_ids"][0, 0] == 6  # The
    np.testing.assert_array_equal(y["decoder"], x["target_ids"])
    # The mean of the examples' means with these weights is the mean over all words: 4 and 9.
    np.testing.assert_allclose(weight["decoder"], [4 / 6.5, 9 / 6.5], rtol=1e-6)


def test_a_question_is_trained_on_the_passage_of_its_span():
    passages = ("It was late, an owl said.", "An owl flew.")
    spans = [(Span(1, 3, 6),), (Span(0, 16, 19),), ()]
    examples = [
        Example(str(n), "What?", passages, {"span": ("owl",)}, spans=span)
        for n, span in enumerate(spans)
    ]
    preprocessor = MaxoutPointerQGPreprocessor.from_examples(examples)
    x, _, _ = next(iter(preprocessor.dataset(examples, batch_size=3)))
    assert np.argmax(x["answer_tags"], axis=1).tolist() == [1, 5, 5]
    assert np.count_nonzero(x["passage_ids"], axis=1).tolist() == [4, 8, 8]

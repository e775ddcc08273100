"""Windows of subwords against a reference in plain Python."""

import numpy as np
import pytest
import tensorflow as tf

from tfmrc.text import Subwords, SubwordTokenizer
from tfmrc.text.subwords.word_pieces import WordPieces

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "##c", "##d", "owl", "!"]
CLS, SEP, PAD = 2, 3, 0


def tokenizer(**options) -> SubwordTokenizer:
    return SubwordTokenizer(WordPieces(WORDS), CLS, SEP, PAD, **options)


def reference_windows(prefix, counts, ids, length, overlap):
    """(sequences, words): the windows of one text and where each word is in them."""
    room = length - len(prefix) - 1
    step = room - min(overlap, room // 2)
    begins = [0]
    while begins[-1] + room < len(ids):
        begins.append(begins[-1] + step)
    sequences = [[*prefix, *ids[b : b + room], SEP] for b in begins]
    words, first = [], 0
    for count in counts:
        if not count:
            words.append((0, 0, 0))
            continue
        best = None
        for number, begin in enumerate(begins):
            end = min(begin + room, len(ids))
            if not begin <= first < end:
                continue
            context = min(first - begin, end - first - count)
            if best is None or context > best[0]:
                best = (context, number, begin, end)
        _, number, begin, end = best
        position = len(prefix) + first - begin
        words.append((number, position, min(count, end - first)))
        first += count
    return sequences, words


def check(read, pieces_name, references, width_of_row):
    ids = read["encoder_ids"].numpy()
    width = ids.shape[2]
    for row, (sequences, words) in enumerate(references):
        for number in range(ids.shape[1]):
            expected = sequences[number] if number < len(sequences) else []
            expected = expected + [PAD] * (width - len(expected))
            assert ids[row, number].tolist() == expected, (row, number)
        for word, (number, position, count) in enumerate(words):
            flat = number * width + position if count else 0
            assert read[pieces_name].numpy()[row, word].tolist() == [flat, count], (row, word)
    assert ids.shape[1] == max(len(sequences) for sequences, _ in references)
    assert width == max(len(s) for sequences, _ in references for s in sequences)


def random_texts(draw, rows, words, most):
    counts = draw.integers(0, most + 1, (rows, words))
    counts[draw.random((rows, words)) < 0.1] = 0
    lengths = counts.sum(axis=1)
    ids = [draw.integers(4, 10, n).tolist() for n in lengths]
    dense = np.zeros((rows, max([*lengths, 0])), np.int32)
    for row, values in enumerate(ids):
        dense[row, : len(values)] = values
    return Subwords(tf.constant(dense), tf.constant(counts, tf.int32)), counts, ids


# The last has words that are longer than two windows.
@pytest.mark.parametrize(
    "length, overlap, words, most",
    [(12, 3, 30, 3), (12, 0, 30, 2), (13, 99, 40, 4), (12, 3, 6, 60)],
)
def test_separate_against_plain_python(length, overlap, words, most) -> None:
    draw = np.random.default_rng(length + overlap)
    for _ in range(10):
        text, counts, ids = random_texts(draw, 4, words, most)
        read = tokenizer(length=length, overlap=overlap).separate(text)
        references = [
            reference_windows([CLS], row, own, length, overlap)
            for row, own in zip(counts, ids, strict=True)
        ]
        check(read, "pieces", references, length)


@pytest.mark.parametrize("separators, segments", [(1, True), (2, False)])
def test_joint_against_plain_python(separators, segments) -> None:
    draw = np.random.default_rng(separators)
    length, overlap = 20, 5
    own = tokenizer(length=length, overlap=overlap, num_separators=separators, segments=segments)
    limit = (length - 2 - separators) // 2
    for _ in range(10):
        question, question_counts, question_ids = random_texts(draw, 5, 6, 3)
        passage, counts, ids = random_texts(draw, 5, 20, 3)
        read = own.joint(question, passage)
        prefixes = [[CLS, *q[:limit], *[SEP] * separators] for q in question_ids]
        references = [
            reference_windows(prefix, row, values, length, overlap)
            for prefix, row, values in zip(prefixes, counts, ids, strict=True)
        ]
        check(read, "passage_pieces", references, length)
        segment_ids = read["segment_ids"].numpy()
        for row, (sequences, _) in enumerate(references):
            for number, sequence in enumerate(sequences):
                rest = len(sequence) - len(prefixes[row])
                expected = [0] * len(prefixes[row]) + [int(segments)] * rest
                assert segment_ids[row, number, : len(sequence)].tolist() == expected
                assert not segment_ids[row, number, len(sequence) :].any()
            ends = np.minimum(np.cumsum(question_counts[row]), limit)
            begins = np.concatenate([[0], ends[:-1]])
            for word, (begin, end) in enumerate(zip(begins, ends, strict=True)):
                expected = [1 + begin, end - begin] if end > begin else [0, 0]
                assert read["question_pieces"].numpy()[row, word].tolist() == expected


def test_words_to_subwords() -> None:
    cut = tokenizer().cut([["Abc", "owl!", ""], ["\u00ad", "b", "zz"]])
    assert cut.counts.numpy().tolist() == [[1, 2, 0], [0, 1, 1]]
    assert cut.ids.numpy().tolist() == [[1, 8, 9], [5, 1, 0]]
    cut = tokenizer().cut([["acd", "bcc"]])
    assert cut.counts.numpy().tolist() == [[3, 3]]
    assert cut.ids.numpy().tolist() == [[4, 6, 7, 5, 6, 6]]


def test_texts_without_words() -> None:
    own = tokenizer(length=8)
    empty = own.cut(tf.constant([[""], [""]]))
    assert own.separate(empty)["encoder_ids"].numpy().tolist() == [[[CLS, SEP]]] * 2
    read = own.joint(empty, empty)
    assert read["encoder_ids"].numpy().tolist() == [[[CLS, SEP, SEP]]] * 2
    assert not read["passage_pieces"].numpy().any()


def test_parts_are_texts_of_their_own() -> None:
    own = tokenizer()
    whole = own.cut([["a", "bc", "acd", "owl"], ["b", "", "", ""]])
    part = whole.part(tf.constant([0, 0, 1]), tf.constant([1, 3, 0]), 2)
    expected = own.cut([["bc", "acd"], ["owl", ""], ["b", ""]])
    assert part.counts.numpy().tolist() == expected.counts.numpy().tolist()
    assert part.ids.numpy().tolist() == expected.ids.numpy().tolist()


def test_no_texts_have_no_windows() -> None:
    subwords = tokenizer(length=8, overlap=2)
    none = subwords.cut(tf.zeros([0, 1], tf.string))
    read = {**subwords.separate(none), **subwords.joint(none, none)}
    assert {values.shape[0] for values in read.values()} == {0}
    row = tf.zeros([0], tf.int32)
    assert subwords.cut([["owl"]]).part(row, row, 1).counts.shape == (0, 1)

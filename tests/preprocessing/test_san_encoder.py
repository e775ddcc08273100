"""Encoder inputs of SAN's preprocessor, in training and for windows of long passages."""

import numpy as np
import pytest

from tfmrc import encoders, preprocessing, text

PIECES = ["who", "flew", "the", "owl", "##s", "a", "hill", ".", "?", "'"]


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=14, overlap=4)


def make(encoder, **options):
    vocabulary = text.Vocabulary(["the", "owl", "who"])
    return preprocessing.SANPreprocessor(vocabulary, encoder=encoder, passage_length=8, **options)


def ids(encoder, words):
    return [encoder.subwords.pieces.id_of(word) for word in words]


def test_joint_sequence(encoder):
    source = make(encoder).source(["Who flew?"], ["The owls flew."])
    sequence = "[CLS] who flew ? [SEP] the owl ##s flew . [SEP]".split()
    assert source["encoder_ids"].numpy().tolist() == [[ids(encoder, sequence)]]
    assert source["segment_ids"].numpy().tolist() == [[[0] * 5 + [1] * 6]]
    assert source["question_pieces"].numpy().tolist() == [[[1, 1], [2, 1], [3, 1]]]
    assert source["passage_pieces"].numpy().tolist() == [[[5, 1], [6, 2], [8, 1], [9, 1]]]


def test_separate_sequences(encoder):
    source = make(encoder, reading="separate").source(["Who flew?"], ["The owls flew."])
    passage = "[CLS] the owl ##s flew . [SEP]".split()
    assert source["passage_encoder_ids"].numpy().tolist() == [[ids(encoder, passage)]]
    question = "[CLS] who flew ? [SEP]".split()
    assert source["question_encoder_ids"].numpy().tolist() == [[ids(encoder, question)]]
    assert source["passage_pieces"].numpy().tolist() == [[[1, 1], [2, 2], [4, 1], [5, 1]]]


@pytest.mark.parametrize("reading", ["joint", "separate"])
def test_a_window_is_read_as_the_passage_that_it_holds(encoder, reading):
    preprocessor = make(encoder, reading=reading, stride=3)
    words = ["the", "owls", "flew", "a", "hill", ".", "who"] * 3
    questions = ["Who flew a hill?", "owl"]
    source = preprocessor.source(questions, [" ".join(words), "the owls"], limit=100)
    windows = {name: value.numpy() for name, value in preprocessor.windows(source).items()}
    assert windows["row"].tolist() == [0] * 6 + [1]
    for number, (row, first) in enumerate(zip(windows["row"], windows["first"], strict=True)):
        part = words[first : first + 8] if row == 0 else ["the", "owls"]
        alone = preprocessor.source([questions[row]], [" ".join(part)])
        name = "encoder_ids" if reading == "joint" else "passage_encoder_ids"
        expected, result = alone[name].numpy()[0], windows[name][number]
        count, width = expected.shape
        assert result[:count, :width].tolist() == expected.tolist()
        assert not result[count:].any() and not result[:, width:].any()
        pieces = alone["passage_pieces"].numpy()[0]
        moved = pieces[:, 0] // width * result.shape[1] + pieces[:, 0] % width
        other = windows["passage_pieces"][number, : len(pieces)]
        assert other.tolist() == np.stack([moved, pieces[:, 1]], 1).tolist()

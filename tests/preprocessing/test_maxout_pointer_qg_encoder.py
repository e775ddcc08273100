"""What the preprocessor of question generation adds for an encoder."""

import pytest

from tfmrc import encoders
from tfmrc.preprocessing import MaxoutPointerQGPreprocessor
from tfmrc.text import Vocabulary

PIECES = ["it", "rained", ".", "ada", "met", "the", "king", "##s", "in", "19", "##12", "bo"]
PASSAGE = "It rained. Ada met the kings in 1912. Bo met Ada."


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=30, overlap=6)


def made(encoder, **options):
    return MaxoutPointerQGPreprocessor(Vocabulary(["met", "the"]), encoder=encoder, **options)


def ids(encoder, text):
    return [encoder.subwords.pieces.id_of(piece) for piece in text.split()]


def words(encoder, source, row=0):
    """Each word of the passage and the subwords at its place in the sequence."""
    flat = source["encoder_ids"].numpy()[row].ravel()
    surfaces, pieces = source["words"].numpy()[row], source["passage_pieces"].numpy()[row]
    known = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *PIECES]
    return [
        (word.decode(), [known[n] for n in flat[first : first + count]])
        for word, (first, count) in zip(surfaces, pieces, strict=True)
        if word
    ]


def test_answer_and_passage_are_one_sequence(encoder):
    source = made(encoder).source([PASSAGE, "Bo"], ["the kings", "Bo"])
    sequence = (
        "[CLS] the king ##s [SEP] it rained . ada met the king ##s in 19 ##12 . bo met ada . [SEP]"
    )
    assert source["encoder_ids"].numpy()[0].tolist() == [ids(encoder, sequence)]
    assert source["segment_ids"].numpy()[0].tolist() == [[0] * 5 + [1] * 17]
    short = ids(encoder, "[CLS] bo [SEP] bo [SEP]")
    assert source["encoder_ids"].numpy()[1].tolist() == [short + [0] * 17]
    assert words(encoder, source)[3:8] == [
        ("Ada", ["ada"]),
        ("met", ["met"]),
        ("the", ["the"]),
        ("kings", ["king", "##s"]),
        ("in", ["in"]),
    ]
    assert words(encoder, source, 1) == [("Bo", ["bo"])]
    assert not source["passage_pieces"].numpy()[1, 1:].any()


def test_the_encoder_reads_what_the_model_reads(encoder):
    sentence = made(encoder, context="sentence").source([PASSAGE], ["1912"])
    sequence = "[CLS] 19 ##12 [SEP] ada met the king ##s in 19 ##12 . [SEP]"
    assert sentence["encoder_ids"].numpy().tolist() == [[ids(encoder, sequence)]]
    around = made(encoder, passage_length=4).source([PASSAGE], ["Bo"])
    assert words(encoder, around) == [
        ("1912", ["19", "##12"]),
        (".", ["."]),
        ("Bo", ["bo"]),
        ("met", ["met"]),
    ]


@pytest.mark.parametrize("options", [{"reading": "separate"}, {"with_answers": False}])
def test_the_passage_alone(encoder, options):
    source = made(encoder, passage_length=3, **options).source(["Ada met kings"], ["Ada"])
    sequence = "[CLS] ada met king ##s [SEP]"
    assert source["encoder_ids"].numpy().tolist() == [[ids(encoder, sequence)]]
    assert not source["segment_ids"].numpy().any()
    assert source["passage_pieces"].numpy().tolist() == [[[1, 1], [2, 1], [3, 2]]]

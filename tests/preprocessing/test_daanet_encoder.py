"""What the preprocessor of the dual model adds for an encoder."""

import pytest

from tfmrc import encoders
from tfmrc.preprocessing import DAANetPreprocessor
from tfmrc.text import Vocabulary

PIECES = ["it", "rained", ".", "ada", "met", "the", "king", "##s", "who", "?", "bo"]
PASSAGES = ["Ada met the kings.", "Bo"]
GIVEN = {"question": ["Who met the kings?", "Who?"], "answer": ["Ada", "Bo"]}
JOINT = ("encoder_ids", "segment_ids", "passage_pieces")


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=30, overlap=6)


def made(encoder, **options):
    return DAANetPreprocessor(Vocabulary(["met", "the"]), encoder=encoder, **options)


def ids(encoder, text):
    return [encoder.subwords.pieces.id_of(piece) for piece in text.split()]


@pytest.mark.parametrize(
    "name, begin",
    [("question", "[CLS] who met the king ##s ? [SEP]"), ("answer", "[CLS] ada [SEP]")],
)
def test_what_is_given_and_the_passage_are_one_sequence(encoder, name, begin):
    preprocessor = made(encoder)
    source = preprocessor.source(PASSAGES)
    given = preprocessor.given(GIVEN[name], name, source)
    first = len(begin.split())
    sequence = ids(encoder, f"{begin} ada met the king ##s . [SEP]")
    assert given[f"{name}_encoder_ids"].numpy()[0].tolist() == [sequence]
    assert given[f"{name}_segment_ids"].numpy()[0].tolist() == [[0] * first + [1] * 7]
    pieces = given[f"{name}_passage_pieces"].numpy()
    counts = [1, 1, 1, 2, 1]
    places = [first + sum(counts[:n]) for n in range(5)]
    assert pieces[0].tolist() == [list(pair) for pair in zip(places, counts, strict=True)]
    assert pieces[1, 1:].tolist() == [[0, 0]] * 4
    written = preprocessor.written(GIVEN[name], name, source)
    for part in JOINT:
        full = f"{name}_{part}"
        assert written[full].numpy().tolist() == given[full].numpy().tolist()
    assert "encoder_ids" not in source and "encoder_ids" not in preprocessor.passage_inputs


def test_the_passage_alone(encoder):
    preprocessor = made(encoder, reading="separate", passage_length=4)
    source = preprocessor.source(PASSAGES)
    assert source["encoder_ids"].numpy()[:, 0].tolist() == [
        ids(encoder, "[CLS] ada met the king ##s [SEP]"),
        ids(encoder, "[CLS] bo [SEP] [PAD] [PAD] [PAD] [PAD]"),
    ]
    assert source["passage_pieces"].numpy()[0].tolist() == [[1, 1], [2, 1], [3, 1], [4, 2]]
    given = preprocessor.given(GIVEN["answer"], "answer")
    assert set(given) == {"answer_ids", "answer_characters"}
    assert preprocessor.passage_inputs[-2:] == ("encoder_ids", "passage_pieces")

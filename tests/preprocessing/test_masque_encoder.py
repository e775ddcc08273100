"""What Masque's preprocessor adds for an encoder: windows of passages, subwords of words."""

import numpy as np
import pytest

from tfmrc import encoders, preprocessing, text

PIECES = ["who", "flew", "the", "owl", "##s", "a", "hill", ".", "?", "'"]


@pytest.fixture(scope="module")
def encoder():
    return encoders.from_vocabulary(PIECES, length=14, overlap=4)


def make(encoder, **options):
    vocabulary = text.Vocabulary(["the", "owl", "who"])
    sizes = {"num_passages": 3, "passage_length": 40, "question_length": 10, "answer_length": 5}
    return preprocessing.MasquePreprocessor(vocabulary, encoder=encoder, **{**sizes, **options})


def ids(encoder, words, size):
    found = [encoder.subwords.pieces.id_of(word) for word in words.split()]
    return found + [0] * (size - len(found))


def test_each_passage_is_a_sequence_with_the_question(encoder):
    source = make(encoder).source(["Who flew?"], [["The owls flew.", "", "a hill"]], ["qa"])
    asked = "[CLS] who flew ? [SEP]"
    assert source["encoder_ids"].numpy().tolist() == [
        [
            ids(encoder, f"{asked} the owl ##s flew . [SEP]", 11),
            [0] * 11,  # missing
            ids(encoder, f"{asked} a hill [SEP]", 11),
        ]
    ]
    assert source["segment_ids"].numpy().tolist() == [
        [[0] * 5 + [1] * 6, [0] * 11, [0] * 5 + [1] * 3 + [0] * 3]
    ]
    # BOS reads [CLS]; the third sequence begins at 22.
    assert source["passage_pieces"].numpy().tolist() == [
        [
            [[0, 1], [5, 1], [6, 2], [8, 1], [9, 1]],
            [[0, 0]] * 5,
            [[22, 1], [27, 1], [28, 1], [0, 0], [0, 0]],
        ]
    ]
    assert source["question_encoder_ids"].numpy().tolist() == [[ids(encoder, asked, 5)]]
    assert source["question_pieces"].numpy().tolist() == [[[1, 1], [2, 1], [3, 1]]]


def test_each_text_by_itself(encoder):
    source = make(encoder, reading="separate").source(
        ["Who flew?"], [["", "The owls", "a hill."]], ["qa"]
    )
    assert source["passage_encoder_ids"].numpy().tolist() == [
        [
            [0] * 5,
            ids(encoder, "[CLS] the owl ##s [SEP]", 5),
            ids(encoder, "[CLS] a hill . [SEP]", 5),
        ]
    ]
    assert source["passage_pieces"].numpy()[0, 1:].tolist() == [
        [[5, 1], [6, 1], [7, 2], [0, 0]],
        [[10, 1], [11, 1], [12, 1], [13, 1]],
    ]
    assert "encoder_ids" not in source and "segment_ids" not in source


@pytest.mark.parametrize("reading", ["joint", "separate"])
def test_long_passages_are_read_in_windows_of_their_own(encoder, reading):
    draw = np.random.default_rng(0)
    words = ["the", "owls", "flew", "a", "hill", ".", "who", "川"]

    def drawn(count):
        return " ".join(draw.choice(words, count))

    questions = ["Who flew a hill?", "owl"]
    passages = [[drawn(30), drawn(2), ""], [drawn(1), " ", drawn(17)]]
    source = make(encoder, reading=reading).source(questions, passages, ["qa", "qa"])
    name = "encoder_ids" if reading == "joint" else "passage_encoder_ids"
    found, pieces = source[name].numpy(), source["passage_pieces"].numpy()
    width = found.shape[2]
    windows = found.shape[1] // 3
    assert windows > 2
    subwords = encoder.subwords
    for row, texts in enumerate(passages):
        for number, passage in enumerate(texts):
            mine = found[row, number * windows : (number + 1) * windows]
            if not passage:
                assert not mine.any() and not pieces[row, number].any()
                continue
            split = passage.split()
            cut = subwords.cut([split or [""]])
            if reading == "joint":
                # `cut` sees the question's words as the preprocessor's tokenizer makes them.
                asked = subwords.cut([questions[row].replace("?", " ?").split()])
                read = subwords.joint(asked, cut)
                segments = source["segment_ids"].numpy()[row]
                segments = segments[number * windows : (number + 1) * windows]
                expected = read["segment_ids"].numpy()[0]
                assert segments[: len(expected), : expected.shape[1]].tolist() == expected.tolist()
            else:
                read = subwords.separate(cut)
            expected = read["encoder_ids"].numpy()[0]
            assert mine[: len(expected), : expected.shape[1]].tolist() == expected.tolist()
            assert not mine[len(expected) :].any() and not mine[:, expected.shape[1] :].any()
            # Every word is where its subwords are, in one of its passage's windows.
            flat = found[row].reshape(-1)
            counts = cut.counts.numpy()[0]
            ends = np.cumsum(counts)
            for place, (first, count) in enumerate(pieces[row, number][1 : len(split) + 1]):
                own = cut.ids.numpy()[0, ends[place] - counts[place] : ends[place]]
                assert flat[first : first + count].tolist() == own.tolist()
                assert first // (windows * width) == number
            assert pieces[row, number, 0].tolist() == [number * windows * width, 1]
            assert not pieces[row, number, 1 + len(split) :].any()

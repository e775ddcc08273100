"""Pieces of a SentencePiece model beside those of the package `sentencepiece`."""

import io
from pathlib import Path

import pytest
import sentencepiece

from tfmrc.text.subwords.unigram_pieces import UnigramPieces

read = UnigramPieces.from_sentencepiece

TEXT = Path(__file__).parents[3] / "LICENSE"
"""A text that stays as it is: a new one may hold ties, which the order of additions breaks."""


@pytest.fixture(scope="module")
def model() -> bytes:
    written = io.BytesIO()
    lines = TEXT.read_text(encoding="utf-8").splitlines()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=400,
        pad_id=0,
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        control_symbols=["[CLS]", "[SEP]"],
        minloglevel=2,
    )
    return written.getvalue()


def test_a_text_is_cut_as_its_words(model: bytes) -> None:
    whole = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = read(model)
    lines = [line for line in TEXT.read_text(encoding="utf-8").splitlines() if line.strip()][:80]
    assert len(lines) == 80
    words = [word for line in lines for word in line.split()]
    result = pieces.cut(words, [True] * len(words)).values.numpy().tolist()
    assert result == [index for line in lines for index in whole.encode(line)]


def test_a_mark_after_a_word_has_no_space(model: bytes) -> None:
    whole = sentencepiece.SentencePieceProcessor(model_proto=model)
    pieces = read(model)
    result = pieces.cut(["the", ","], [True, False]).values.numpy().tolist()
    assert result == whole.encode("the,")
    assert pieces.cut([","], [True]).values.numpy().tolist() == whole.encode(",")
    assert whole.encode(",") != result[-1:]


def test_capitals_and_accents_may_go(model: bytes) -> None:
    plain, lowered = read(model), read(model, True, True)
    assert lowered.cut(["MODÉL"], [True]).to_list() == plain.cut(["model"], [True]).to_list()


def test_ids_of_xlm_roberta(model: bytes) -> None:
    plain, fairseq = read(model), read(model, fairseq_ids=True)
    words, spaced = ["model", "the"], [True, False]
    ids = plain.cut(words, spaced).values.numpy() + 1
    assert fairseq.cut(words, spaced).values.numpy().tolist() == ids.tolist()
    assert [fairseq.id_of(piece) for piece in ("<s>", "<pad>", "</s>", "<unk>")] == [0, 1, 2, 3]
    assert fairseq.id_of("[SEP]") == plain.id_of("[SEP]") + 1
    assert len(fairseq) == len(plain) + 1

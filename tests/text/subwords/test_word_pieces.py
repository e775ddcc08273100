from pathlib import Path

import pytest
import tensorflow as tf
from tokenizers import BertWordPieceTokenizer

from tfmrc.encoders.presets import MINILM
from tfmrc.text.lines import read_lines
from tfmrc.text.subwords.word_pieces import WordPieces

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "serving.md"
ODD = (
    "Straße ΣΑΣ İstanbul ﬁn e\u0301 so\u00adft don't U.S. 1,000.50 [SEP] [UNK] ## ##ing Ｔ 中文 "
    "東京都 Zürich naïve CAFÉ ½ Ⅳ x² 🙂 👩\u200d🚀 it's -- ... § ‘quoted’ œuvre Þórr Ελλάδα привет "
    "שלום \u0627\u0644\u0639\u0631\u0628\u064a\u0629 हिन्दी 한국어 \ud55c ﷽ \ufffd a\x00b a\x07b"
).split(" ")


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    return WordPieces(read_lines(MINILM / "vocab.txt"))


@pytest.fixture(scope="module")
def reference() -> BertWordPieceTokenizer:
    return BertWordPieceTokenizer(str(MINILM / "vocab.txt"))


def test_words_of_a_real_text_and_odd_ones(
    pieces: WordPieces, reference: BertWordPieceTokenizer
) -> None:
    words = sorted(set(PAGE.read_text(encoding="utf-8").split()))
    assert len(words) > 400
    words += [*ODD, *("a" * n for n in (99, 100, 101, 500))]
    for word, ids in zip(words, pieces.cut(words).to_list(), strict=True):
        expected = reference.encode(word, add_special_tokens=False).ids
        if word not in ("[SEP]", "[UNK]"):  # special to the other library, marks to this one
            assert ids == expected, (word, [hex(ord(c)) for c in word])


def test_marks_that_look_special_are_cut(pieces: WordPieces) -> None:
    cut = pieces.cut(["[SEP]"]).to_list()[0]
    assert pieces.id_of("[SEP]") not in cut
    assert cut == [pieces.id_of("["), pieces.id_of("sep"), pieces.id_of("]")]


def test_capitals_and_accents_stay_where_the_vocabulary_has_them() -> None:
    words = ["[UNK]", "Café", "cafe", "Cafe"]
    cased = WordPieces(words, lowercase=False)
    assert cased.cut(["Café", "cafe", "CAFE"]).to_list() == [[1], [2], [0]]
    accents = WordPieces(words, lowercase=False, strip_accents=True)
    assert accents.cut(["Café"]).to_list() == [[3]]


def test_in_a_graph_without_words(pieces: WordPieces) -> None:
    cut = tf.function(lambda words: pieces.cut(words).to_tensor(), autograph=False)
    assert cut(tf.zeros([0], tf.string)).shape[0] == 0
    assert cut(tf.constant(["\u00ad", "owl"])).numpy().tolist() == [[0], [13547]]

"""Unigram subwords of whole texts beside the package `tokenizers`: ids, characters and words."""

import json

import numpy as np
import pytest
import tensorflow as tf
from tokenizers import Regex, Tokenizer, models, normalizers as n, pre_tokenizers as p

from tests.encoders.hugging_face import unigram_tokenizers
from tests.encoders.hugging_face.cases import CHARSMAP
from tests.text.helpers import differences
from tests.text.subwords.odd_strings import odd_strings, real_strings
from tfmrc.text import SubwordTokenizer
from tfmrc.text.subwords.normalizers import normalizers_of
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.unigram import Unigram
from tfmrc.text.subwords.unigram_pieces import UnigramPieces

ODD = [
    "Hello world", " the  game ", "the\n\ngame\t.", "ａ①ﬁ the½", "``the'' game", "the</s>game",
    "e\u0301 the", "\r\nthe", "", "  ", "▁the ▁ game", "the\u200bgame\u00adx", "a''''b```c",
    "aaaaaaaaaaaaaaaaaaaaaaaaa", "☃☃the☃", "the [UNK][MASK] game", "각한국어 Σσς İ", "½ﷺ®™",
]  # fmt: skip
PIECES = [("<s>", 0.0), ("<unk>", 0.0), ("▁", -3.0), ("▁a", -2.0), ("a", -2.5), ("b", -2.5)]


@pytest.fixture(scope="module")
def charsmap():
    return CHARSMAP.read_bytes()


def ours(expected):
    """The tokenizer under test, from what the reference would write to `tokenizer.json`."""
    written = json.loads(expected.to_str())
    model = written["model"]
    pieces = UnigramPieces(
        model["vocab"], model["unk_id"], written["normalizer"], written["pre_tokenizer"]
    )
    special = SpecialTokens(written["added_tokens"])
    return lambda texts: pieces.tokenize(texts, special)


def with_components(normalizer, words):
    result = Tokenizer(models.Unigram(PIECES, unk_id=1))
    result.normalizer, result.pre_tokenizer = normalizer, words
    result.add_special_tokens(["<s>"])
    return result


@pytest.mark.parametrize("kind", unigram_tokenizers.KINDS)
def test_components_of_released_models(kind, charsmap):
    texts = real_strings(30) + odd_strings(150, seed=3) + ODD
    expected = unigram_tokenizers.tokenizer(kind, texts, charsmap, size=700)
    wrong, refused = differences(ours(expected), expected, texts)
    assert not wrong and len(refused) < 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", unigram_tokenizers.KINDS)
def test_real_and_odd_texts(kind, charsmap):
    real, odd = real_strings(2000), odd_strings(2000)
    expected = unigram_tokenizers.tokenizer(kind, real + odd[:500], charsmap, size=3000)
    wrong, refused = differences(ours(expected), expected, real + odd + ODD)
    assert not wrong and not set(refused) & set(real)
    assert len(refused) < 100


@pytest.mark.parametrize(
    ("normalizer", "words"),
    [
        (None, p.Metaspace()),
        (n.Sequence([n.Strip(left=False, right=True)]), p.Metaspace(prepend_scheme="never")),
        (n.Sequence([n.NFC(), n.Lowercase()]), unigram_tokenizers.SPLIT),
        (n.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), p.Metaspace()),
        (n.Replace("aab", "b"), unigram_tokenizers.SPLIT),
    ],
)
def test_other_components(normalizer, words):
    expected = with_components(normalizer, words)
    texts = ["a b", " aab  aa aaa aaaab\n\nb\tA ", "é Áb", "<s> a<s>b ", "", "▁a a▁"]
    texts += ["e\u0301b e\u0323\u0302", "\u1100\u1161\u11a8", "x\u0302a", "\u212b\u0958"]
    texts += [each for each in odd_strings(40, seed=5) if "\u0300" > max(each, default="")]
    assert len(texts) > 8
    assert differences(ours(expected), expected, texts) == ([], [])


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "NFKC"},
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"Regex": "a+"}, "content": " "},
        {"type": "Replace", "pattern": {"String": "aba"}, "content": " "},
        {"type": "Replace", "pattern": {"String": "ab"}, "content": ""},
    ],
)
def test_other_normalizers_are_refused(normalizer):
    with pytest.raises(ValueError, match=f"A normalizer must be .*{normalizer['type']}"):
        normalizers_of({"type": "Sequence", "normalizers": [normalizer]})


def test_other_pre_tokenizers_are_refused():
    with pytest.raises(ValueError, match="A pre_tokenizer must be Metaspace"):
        UnigramPieces(PIECES, 1, None, {"type": "Whitespace"})


@pytest.mark.parametrize("text", ["a\u0327\u0301", "a\u0301\u0327"])
def test_marks_that_nfc_would_reorder_or_compose_over_another_are_refused(text):
    pieces = UnigramPieces(PIECES, 1, {"type": "NFC"})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Combining marks that NFC"):
        pieces.tokenize(["fine", text], SpecialTokens())


def test_the_best_pieces_are_those_of_all_splits():
    generator = np.random.default_rng(0)
    pieces = ["?", *"abc", "ab", "bc", "abc", "ca", "aab"]
    scores = generator.normal(size=len(pieces)) - 4
    model = Unigram(list(zip(pieces, scores, strict=True)), 0)

    def splits(word):
        yield from ([[word]] if word in pieces[1:] else [])
        for size in range(1, len(word)):
            if word[:size] in pieces[1:]:
                yield from ([word[:size], *rest] for rest in splits(word[size:]))

    words = ["".join(generator.choice([*"abc"], size)) for size in (1, 3, 5, 8, 10)]
    ids, starts, ends = model.split(tf.ragged.constant([[ord(c) for c in w] for w in words]))
    for row, word in enumerate(words):
        best = max(splits(word), key=lambda parts: sum(scores[pieces.index(x)] for x in parts))
        assert [pieces[index] for index in ids[row].numpy()] == best
        spans = zip(starts[row].numpy(), ends[row].numpy(), strict=True)
        assert [word[start:end] for start, end in spans] == best


def test_words_and_saved_pieces(tmp_path):
    pieces = UnigramPieces(PIECES, 1, {"type": "Lowercase"})
    tokenizer = SubwordTokenizer(pieces, cls_id=0, sep_id=0, pad_id=0, length=8)
    tokenizer.save_assets(tmp_path)
    again = SubwordTokenizer.from_assets(tmp_path).pieces
    for each in (pieces, again):
        assert each.cut(["A", "A", "xx"], [True, False, False]).to_list() == [[3], [4], [1]]
        assert each.components() == pieces.components()
        assert each.id_of("▁a") == 3 and len(each) == 6


def test_one_endless_word():
    tokenize = tf.function(UnigramPieces(PIECES, 1).tokenize, autograph=False)
    pieces = tokenize(["a" * 9_000 + "☃" * 9_000], SpecialTokens())
    assert pieces.ids.to_list() == [[3, *[4] * 8_999, 1]]
    assert pieces.ends.to_list()[0][-2:] == [9_000, 18_000]

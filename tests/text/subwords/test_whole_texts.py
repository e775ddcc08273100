"""Subwords of whole texts beside the package `tokenizers`: ids, characters and words."""

import json

import pytest
import tensorflow as tf
from tokenizers import AddedToken, ByteLevelBPETokenizer, Tokenizer, models as reference_models
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel
from tokenizers.processors import RobertaProcessing

from tests.text.helpers import differences
from tests.text.subwords.odd_strings import odd_strings, real_strings
from tfmrc.text.subwords.byte_pairs import BytePairs
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.word_pieces import WordPieces

BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
KEPT_MARKS = {"\u302e", "\u1baa"}  # of the odd strings: combining, and no accents
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def bert(texts, lowercase=True, strip_accents=True):
    """The tokenizer under test and the reference, with the pieces of some texts."""
    words = sorted({w for each in texts for w in each.lower().split() if w.isalnum()})[::3]
    pieces = [*BERT_SPECIAL, *"abcdefghijklmnopqrstuvwxyzé.,'", "##ing", "naive", "漢", *words]
    pieces += [f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789é"]
    pieces = list(dict.fromkeys(pieces))
    ids = {piece: index for index, piece in enumerate(pieces)}
    expected = Tokenizer(reference_models.WordPiece(ids, unk_token="[UNK]"))
    expected.normalizer = BertNormalizer(True, True, strip_accents, lowercase)
    expected.pre_tokenizer = BertPreTokenizer()
    expected.add_special_tokens(BERT_SPECIAL)
    special = SpecialTokens({"content": name, "id": ids[name]} for name in BERT_SPECIAL)
    tokenizer = WordPieces(pieces, lowercase, strip_accents)
    return split_of(tokenizer, special), expected


def byte_level(texts, lstrip):
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=600, special_tokens=ROBERTA_SPECIAL[:4])
    trained.add_special_tokens([AddedToken("<mask>", lstrip=lstrip)])
    expected = Tokenizer.from_str(trained.to_str())
    expected.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0), True, False)
    model = json.loads(trained.to_str())["model"]
    merges = [" ".join(merge) for merge in model["merges"]]
    special = SpecialTokens(
        {"content": name, "id": expected.token_to_id(name), "lstrip": lstrip and name == "<mask>"}
        for name in ROBERTA_SPECIAL
    )
    tokenizer = BytePairs(model["vocab"], merges)
    return tokenizer, special, expected


def split_of(tokenizer, special):
    return lambda texts: tokenizer.tokenize(texts, special)


@pytest.mark.slow
@pytest.mark.parametrize(("lowercase", "strip_accents"), [(True, True), (False, False)])
def test_word_pieces_of_real_and_odd_texts(lowercase, strip_accents):
    real, odd = real_strings(2000), odd_strings(2000)
    tokenizer, expected = bert(real, lowercase, strip_accents)
    wrong, refused = differences(tokenizer, expected, real + odd)
    assert not wrong
    assert not set(refused) & set(real)
    assert all(KEPT_MARKS & set(text) for text in refused)


@pytest.mark.slow
@pytest.mark.parametrize("lstrip", [True, False])
def test_byte_pairs_of_real_and_odd_texts(lstrip):
    real, odd = real_strings(2000), odd_strings(2000)
    *parts, expected = byte_level(real, lstrip)
    assert differences(split_of(*parts), expected, real + odd) == ([], [])


def test_bytes_that_the_vocabulary_lacks():
    vocabulary = {"<unk>": 0, "o": 1, "w": 2, "ow": 3, "Ġ": 4, "Ġow": 5}
    expected = Tokenizer(
        reference_models.BPE(vocabulary, [("o", "w"), ("Ġ", "ow")], unk_token="<unk>")
    )
    expected.pre_tokenizer = ByteLevel(add_prefix_space=False)
    expected.post_processor = RobertaProcessing(("<unk>", 0), ("<unk>", 0), True, False)
    tokenizer = BytePairs(vocabulary, ["o w", "Ġ ow"])
    split = split_of(tokenizer, SpecialTokens())
    assert differences(split, expected, ["xow ow", "é ow", "oxw x"]) == ([], [])


def test_word_pieces():
    texts = real_strings(40) + odd_strings(160, seed=3)
    wrong, refused = differences(*bert(texts), texts)
    assert not wrong and len(refused) < 3
    assert all(KEPT_MARKS & set(text) for text in refused)


def test_byte_pairs():
    texts = real_strings(40) + odd_strings(160, seed=3)
    *parts, expected = byte_level(texts, lstrip=True)
    assert differences(split_of(*parts), expected, texts) == ([], [])
    words = sorted({word for text in texts for word in text.split() if "<" not in word})
    for spaced in (False, True):
        cut = parts[0].cut(words, tf.fill([len(words)], spaced)).to_list()
        right = expected.encode_batch(
            [" " * spaced + word for word in words], add_special_tokens=False
        )
        assert cut == [each.ids for each in right]


def test_an_order_of_marks_that_depends_on_unicode_is_refused():
    tokenize, _ = bert(["a"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Two combining marks in a row"):
        tokenize(["fine", "a\u302e\u1baa"])
    for marked in ("e\u0301\u1baa", "é\u1baa", "\u1baa\u0301", "é\u200d\u1baa"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="one of which is kept"):
            tokenize([marked])
    assert tokenize(["a\u1baa", "\u0301"]).ids.nrows() == 2  # not in one text
    kept, _ = bert(["a"], strip_accents=False)
    assert kept(["a\u302e\u1baa"]).ids.to_list() == [[1]]


def test_empty_batches_and_texts():
    for tokenize in (bert(["a"])[0], split_of(*byte_level(["a b"], False)[:2])):
        assert tokenize(tf.constant([], tf.string)).ids.to_list() == []
        assert tokenize(["", "a", ""]).starts.to_list() == [[], [0], []]

"""Subwords of ModernBERT and mmBERT beside the package `tokenizers`: ids, characters and words."""

import json

import pytest

from tests.encoders.hugging_face import modern_bert_tokenizers
from tests.text.helpers import differences
from tests.text.subwords.odd_strings import odd_strings, real_strings
from tfmrc.encoders.hugging_face.families import FAMILIES
from tfmrc.encoders.hugging_face.tokenizer import load_tokenizer
from tfmrc.encoders.presets import build_subwords

ODD = [
    "two  spaces", "a" + " " * 25 + "b", " " * 24, " " * 50 + "x", "a \n  b\t\t c ", "a   [MASK]b",
    "[MASK][MASK]  [MASK]", "x[UNK] [CLS]  y", "|||IP_ADDRESS||| |||IP", "<|padding|>", "[unused1]",
    "[unused11][unused1", "e\u0301 \u212b", "it's  don't", "  [MASK]", "\n\n\nx\n", "▁▁▁a▁ b",
    "<0x41> <mask>  <mask>", "漢字かな 각한국어", "😀👍🏽 x", "", " ", "a\u00a0\u2003  b", "<pad>",
]  # fmt: skip


KINDS = ("ModernBert", "MmBert")


def split_of(expected, folder):
    """The tokenizer that is read from what the reference writes."""
    expected.save(str(folder / "tokenizer.json"))
    pad = "[PAD]" if expected.token_to_id("[PAD]") else "<pad>"
    (folder / "tokenizer_config.json").write_text(json.dumps({"pad_token": pad}))
    facts, pieces, special = load_tokenizer(folder, FAMILIES["modern_bert"], check=True)
    return build_subwords(facts, pieces, 512, {}, special).tokenize


def compare(kind, texts, vocabulary, folder, size):
    expected = modern_bert_tokenizers.tokenizer(kind, vocabulary, size)
    # Words of mmBERT are those of the text; `tokenizers` does not divide it.
    words = kind == "ModernBert"
    return differences(split_of(expected, folder), expected, texts, words=words)


@pytest.mark.parametrize("kind", KINDS)
def test_texts(kind, tmp_path):
    texts = real_strings(30) + odd_strings(120, seed=3) + ODD
    wrong, refused = compare(kind, texts, texts, tmp_path, 700)
    assert not wrong and len(refused) < 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_real_and_odd_texts(kind, tmp_path):
    real, odd = real_strings(2000), odd_strings(2000)
    wrong, refused = compare(kind, real + odd + ODD, real, tmp_path, 3000)
    assert not wrong and not set(refused) & set(real)
    assert len(refused) < 250

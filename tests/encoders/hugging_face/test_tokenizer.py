"""Tokenizers of Hugging Face's files: the special tokens that they name."""

import json

import pytest

from tfmrc.encoders.hugging_face.families import FAMILIES
from tfmrc.encoders.hugging_face.tokenizer import pieces_of, special_tokens_of
from tfmrc.encoders.presets import build_subwords

BERT = FAMILIES["bert"]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "owl"]


@pytest.fixture
def folder(tmp_path):
    """A folder of BERT's first releases, with a token beyond the vocabulary."""
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    (tmp_path / "added_tokens.json").write_text(json.dumps({"[E1]": 6}))
    return tmp_path


def special(folder):
    pieces = pieces_of(folder, BERT)
    return pieces, special_tokens_of(folder, BERT, pieces)


def test_added_tokens_are_found_in_texts(folder):
    pieces, tokens = special(folder)
    subwords = build_subwords(BERT, pieces, 8, {}, tokens)
    assert subwords.tokenize(["owl [E1][SEP]"]).ids.to_list() == [[5, 6, 3]]


def test_added_tokens_that_tokenizer_json_lacks_are_refused(folder):
    token = {"content": "[SEP]", "id": 3, "special": True}
    (folder / "tokenizer.json").write_text(json.dumps({"added_tokens": [token]}))
    with pytest.raises(ValueError, match=r"added_tokens.json. Received: no '\[E1\]' .* id 6"):
        special(folder)

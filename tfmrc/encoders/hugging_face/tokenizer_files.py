"""The files of a tokenizer in Hugging Face's form."""

import json
from typing import Any, NamedTuple

from tfmrc.encoders.hugging_face.families import Family
from tfmrc.encoders.hugging_face.tokenizer import (
    BPE,
    BYTE_LEVEL,
    CHARACTER_BPE,
    SPLIT,
    TOKENIZER,
    TOKENIZER_CONFIG,
    UNIGRAM,
    WORD_PIECE,
    default_special_tokens,
)
from tfmrc.text.subwords.byte_pairs import BytePairs
from tfmrc.text.subwords.character_pairs import REPLACE_SPACES, CharacterPairs
from tfmrc.text.subwords.tokenizer import SubwordTokenizer
from tfmrc.text.subwords.unigram_pieces import UnigramPieces
from tfmrc.text.subwords.word_pieces import WordPieces

Json = dict[str, Any]


class _Components(NamedTuple):
    """What the kind of subwords decides.

    Attributes:
        whole: The components in `tokenizer.json`.
        stated: Values of `tokenizer_config.json`.
        files: Other files, by name.
    """

    whole: Json
    stated: Json
    files: dict[str, str]


def tokenizer_files(subwords: SubwordTokenizer, facts: Family, cased_name: str) -> dict[str, str]:
    """Returns the files of a tokenizer in Hugging Face's form, by name.

    Args:
        subwords: `SubwordTokenizer` of WordPiece, byte pairs or Unigram.
        facts: `Family`. The encoder's family.
        cased_name: str. The tokenizer's class name there, such as `BertTokenizer`.
    """
    pieces = subwords.pieces
    special = subwords.special_tokens or default_special_tokens(facts, pieces)
    names = {token["id"]: token["content"] for token in special}
    cls, sep, pad = (names.get(i) for i in (subwords.cls_id, subwords.sep_id, subwords.pad_id))
    facts = facts._replace(cls=cls or facts.cls, sep=sep or facts.sep, pad=pad or facts.pad)
    if isinstance(pieces, WordPieces):
        parts = _word_pieces(pieces, subwords, facts)
    elif isinstance(pieces, CharacterPairs):
        parts = _character_pairs(pieces, subwords, facts)
    elif isinstance(pieces, BytePairs):
        parts = _byte_pairs(pieces, subwords, facts)
    else:
        parts = _unigram(pieces, subwords, facts)
    added = [
        {"id": t["id"], "content": t["content"], "lstrip": bool(t.get("lstrip")), "rstrip": False,
         "normalized": bool(t.get("normalized")), "single_word": False,
         "special": t.get("special", True)}
        for t in sorted(special, key=lambda token: token["id"])
    ]  # fmt: skip
    whole: Json = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added}
    stated: Json = {
        "tokenizer_class": cased_name, "model_max_length": subwords.length,
        "cls_token": facts.cls, "sep_token": facts.sep, "pad_token": facts.pad,
        # Stated, because not all classes there have segments by default.
        "model_input_names": [
            "input_ids", *["token_type_ids"] * facts.segments, "attention_mask"
        ],
    }  # fmt: skip
    dumped = {TOKENIZER: whole | parts.whole, TOKENIZER_CONFIG: stated | parts.stated}
    return parts.files | {
        name: json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        for name, value in dumped.items()
    }


def _word_pieces(pieces: WordPieces, subwords: SubwordTokenizer, facts: Family) -> _Components:
    rules = pieces.get_config()
    vocabulary = {word: index for index, word in enumerate(pieces.vocabulary)}
    whole = {
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True,
            "handle_chinese_chars": rules["split_ideographs"],
            "strip_accents": rules["strip_accents"], "lowercase": rules["lowercase"],
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _template(subwords, facts),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {**WORD_PIECE, "unk_token": rules["unknown"], "vocab": vocabulary},
    }  # fmt: skip
    stated = {
        "do_lower_case": rules["lowercase"], "strip_accents": rules["strip_accents"],
        "tokenize_chinese_chars": rules["split_ideographs"], "unk_token": rules["unknown"],
        "mask_token": "<mask>" if facts.model_type == "mpnet" else "[MASK]",
    }  # fmt: skip
    return _Components(whole, stated, {"vocab.txt": "".join(f"{word}\n" for word in vocabulary)})


def _byte_pairs(pieces: BytePairs, subwords: SubwordTokenizer, facts: Family) -> _Components:
    level = {**BYTE_LEVEL, "trim_offsets": True}
    of_roberta = {
        "type": "RobertaProcessing", "sep": [facts.sep, subwords.sep_id],
        "cls": [facts.cls, subwords.cls_id], "trim_offsets": True, "add_prefix_space": False,
    }  # fmt: skip
    whole = {
        "normalizer": pieces.get_config()["normalizer"],
        "pre_tokenizer": level,
        "post_processor": of_roberta if pieces.trim_offsets else _template(subwords, facts),
        "decoder": {**level, "add_prefix_space": True},
        "model": {
            **BPE, "unk_token": None, "vocab": pieces.vocabulary, "merges": list(pieces.merges),
        },
    }  # fmt: skip
    stated: Json = {"tokenizer_class": "PreTrainedTokenizerFast", "mask_token": "[MASK]"}
    if not pieces.trim_offsets:
        return _Components(whole, stated, {})
    stated = {
        "add_prefix_space": False, "bos_token": facts.cls, "eos_token": facts.sep,
        "unk_token": "<unk>", "mask_token": "<mask>", "trim_offsets": True,
    }  # fmt: skip
    files = {
        "vocab.json": json.dumps(pieces.vocabulary, ensure_ascii=False),
        "merges.txt": "#version: 0.2\n" + "".join(f"{merge}\n" for merge in pieces.merges),
    }
    return _Components(whole, stated, files)


def _character_pairs(
    pieces: CharacterPairs, subwords: SubwordTokenizer, facts: Family
) -> _Components:
    whole = {
        "normalizer": REPLACE_SPACES,
        "pre_tokenizer": SPLIT,
        "post_processor": _template(subwords, facts),
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            **CHARACTER_BPE, "fuse_unk": True, "unk_token": "<unk>", "vocab": pieces.vocabulary,
            "merges": list(pieces.merges),
        },
    }  # fmt: skip
    return _Components(whole, {"tokenizer_class": "PreTrainedTokenizerFast"}, {})


def _unigram(pieces: UnigramPieces, subwords: SubwordTokenizer, facts: Family) -> _Components:
    parts = pieces.components()
    vocabulary, unknown_id = parts["vocabulary"], parts["unknown_id"]
    whole = {
        "normalizer": parts["normalizer"],
        "pre_tokenizer": parts["pre_tokenizer"],
        "post_processor": _template(subwords, facts),
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "model": {**UNIGRAM, "unk_id": unknown_id, "vocab": vocabulary},
    }
    stated = {
        "bos_token": facts.cls, "eos_token": facts.sep, "unk_token": vocabulary[unknown_id][0],
        # The classes of transformers 5 for these families ignore the components of the file.
        "tokenizer_class": "PreTrainedTokenizerFast",
    }  # fmt: skip
    return _Components(whole, stated, {})


def _template(subwords: SubwordTokenizer, facts: Family) -> Json:
    """Returns the post-processor that builds sequences of one text and of a pair."""
    pair = [facts.cls, "A", *[facts.sep] * subwords.num_separators, "B", facts.sep]
    middle = len(pair) - 2

    def part(name: str, segment: int) -> Json:
        kind = "Sequence" if name in ("A", "B") else "SpecialToken"
        return {kind: {"id": name, "type_id": segment}}

    ids = {facts.cls: subwords.cls_id, facts.sep: subwords.sep_id}
    return {
        "type": "TemplateProcessing",
        "single": [part(name, 0) for name in (facts.cls, "A", facts.sep)],
        "pair": [
            part(name, int(facts.segments and index >= middle)) for index, name in enumerate(pair)
        ],
        "special_tokens": {
            name: {"id": name, "ids": [index], "tokens": [name]} for name, index in ids.items()
        },
    }

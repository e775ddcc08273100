"""Subwords of encoders in Hugging Face's files, to and from tfmrc's."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.encoders.families import Family
from tfmrc.files import read_json
from tfmrc.text.byte_pairs import BytePairs
from tfmrc.text.sentence_pieces import SentencePieces
from tfmrc.text.subwords import Pieces, SubwordTokenizer
from tfmrc.text.unigram_pieces import UnigramPieces
from tfmrc.text.word_pieces import WordPieces, read_lines

__all__ = [
    "TOKENIZER",
    "check_tokenizer",
    "pieces_of",
    "special_tokens_of",
    "tokenizer_files",
    "with_separators",
]

TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"
Json = dict[str, Any]
# Values of a component that differ from these are refused; None and "" mean the same there.
_BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
_BPE = {
    "type": "BPE", "dropout": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
    "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
}  # fmt: skip
_WORD_PIECE = {
    "type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
}  # fmt: skip
_UNIGRAM = {"type": "Unigram", "byte_fallback": False}
_ADDED = {"single_word": False, "rstrip": False, "special": True}


def pieces_of(folder: Path, facts: Family) -> Pieces:
    """Loads the subword pieces from a folder in the format of Hugging Face."""
    stated = read_optional_json(folder / TOKENIZER_CONFIG)
    tokenizer = read_optional_json(folder / TOKENIZER)
    whole: Json = tokenizer.get("model") or {}
    if facts.pieces == WordPieces.kind:
        if whole.get("type") == "WordPiece":
            vocabulary = sorted(whole["vocab"], key=whole["vocab"].get)
        elif (folder / "vocab.txt").is_file():
            vocabulary = read_lines(folder / "vocab.txt")
        else:
            raise ValueError(f"There is neither vocab.txt nor tokenizer.json in {folder}")
        rules: Json = tokenizer.get("normalizer") or {}
        return WordPieces(
            vocabulary,
            lowercase=bool(rules.get("lowercase", stated.get("do_lower_case", True))),
            strip_accents=rules.get("strip_accents", stated.get("strip_accents")),
            split_ideographs=bool(
                rules.get("handle_chinese_chars", stated.get("tokenize_chinese_chars", True))
            ),
            unknown=whole.get("unk_token", "[UNK]"),
        )
    if facts.pieces == BytePairs.kind:
        if whole.get("type") == "BPE":
            merges = (m if isinstance(m, str) else " ".join(m) for m in whole["merges"])
            return BytePairs(whole["vocab"], merges)
        if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
            return BytePairs.from_assets(folder)
        raise ValueError(
            f"There are neither vocab.json and merges.txt nor tokenizer.json in {folder}"
        )
    if whole.get("type") == "Unigram":
        parts = {name: tokenizer.get(name) for name in ("normalizer", "pre_tokenizer")}
        return UnigramPieces(whole["vocab"], whole["unk_id"], **parts)
    for name in ("spiece.model", "spm.model", "sentencepiece.bpe.model"):
        if (folder / name).is_file():
            albert = facts.model_type == "albert"
            return SentencePieces(
                (folder / name).read_bytes(),
                lowercase=albert and stated.get("do_lower_case", True),
                strip_accents=albert and not stated.get("keep_accents", False),
                fairseq_ids=facts.model_type == "xlm-roberta",
            )
    raise ValueError(f"There is neither tokenizer.json nor a SentencePiece model in {folder}")


def special_tokens_of(folder: Path, facts: Family, pieces: Any) -> list[Json]:
    """Returns the special tokens that a text may contain, for `SubwordTokenizer`.

    Without `tokenizer.json` they are those that all encoders of the family have.
    """
    added = read_optional_json(folder / TOKENIZER).get("added_tokens")
    if added is None:
        return default_special_tokens(facts, pieces)
    names = ("content", "id", "lstrip", "normalized")
    return [{name: each.get(name) for name in names} for each in added]


def default_special_tokens(facts: Family, pieces: Any) -> list[Json]:
    """Returns the special tokens that all encoders of a family have."""
    byte_pairs = facts.pieces == BytePairs.kind
    names = [facts.cls, facts.pad, facts.sep]
    names += ["<unk>", "<mask>"] if byte_pairs else ["[UNK]", "[MASK]"]
    result = []
    for name in dict.fromkeys(names):
        try:
            index = pieces.id_of(name)
        except KeyError:
            continue
        lstrip = name == "<mask>"
        result.append({"content": name, "id": index, "lstrip": lstrip})
    return result


def check_tokenizer(folder: Path, facts: Family) -> None:
    """Raises a ValueError unless `SubwordTokenizer.tokenize` follows the folder's tokenizer.

    Every component of `tokenizer.json` must be one whose ids and offsets are computed here.

    Args:
        folder: path. A folder in the format of Hugging Face.
        facts: `Family`. The encoder's family.
    """
    path = folder / TOKENIZER
    whole = read_optional_json(path)
    if facts.pieces == SentencePieces.kind and not whole:
        raise ValueError(
            "A reader of XLM-RoBERTa, ALBERT or DeBERTa needs tokenizer.json: a SentencePiece "
            "model alone does not say how texts are divided. "
            f"Received: {facts.model_type!r} in {folder}"
        )
    if not whole:
        return
    stated = read_optional_json(folder / TOKENIZER_CONFIG)
    if facts.pieces == WordPieces.kind:
        rules = whole.get("normalizer") or {}
        expected = {"type": "BertNormalizer", "clean_text": True}
        _check(path, "normalizer", rules, expected)
        lowercase = stated.get("do_lower_case", rules.get("lowercase"))
        _check(path, "normalizer", rules, {"lowercase": lowercase})
        _check(path, "pre_tokenizer", whole.get("pre_tokenizer"), {"type": "BertPreTokenizer"})
        _check(path, "model", whole.get("model"), _WORD_PIECE)
    elif facts.pieces == SentencePieces.kind:
        _check(path, "model", whole.get("model"), _UNIGRAM)
    else:
        if whole.get("normalizer") is not None:
            _check(path, "normalizer", whole["normalizer"], {"type": None})
        _check(path, "pre_tokenizer", whole.get("pre_tokenizer"), _BYTE_LEVEL)
        _check(path, "model", whole.get("model"), _BPE)
    for token in whole.get("added_tokens") or ():
        _check(path, "added_tokens", token, _ADDED)
        if whole.get("normalizer") is not None and facts.pieces != SentencePieces.kind:
            _check(path, "added_tokens", token, {"normalized": False})
    _check_pair(path, whole.get("post_processor") or {}, facts)


def with_separators(folder: Path, facts: Family) -> Family:
    """Returns the family with the number of separators in the template of the folder.

    Readers of XLM-RoBERTa that transformers 5 made have one, those of transformers 4 two.
    """
    template = (read_optional_json(folder / TOKENIZER).get("post_processor") or {}).get("pair")
    if facts.pieces != SentencePieces.kind or not isinstance(template, list):
        return facts
    names = [_part(part)[0] for part in template]
    if "A" not in names or "B" not in names:
        return facts
    return facts._replace(num_separators=names.index("B") - names.index("A") - 1)


def _check(path: Path, part: str, received: Any, expected: Mapping[str, Any]) -> None:
    received = received or {}
    for name, value in expected.items():
        other = received.get(name)
        if other != value and not (other in (None, "", False) and value in (None, "", False)):
            raise ValueError(
                f"{path}: the tokenizer must have {part}.{name}={value!r}; others are not "
                f"followed exactly here. Received: {part}={str(received)[:200]}"
            )


def _check_pair(path: Path, processor: Json, facts: Family) -> None:
    """Checks the special tokens around question and passage."""
    kind = processor.get("type")
    if kind == "TemplateProcessing":
        parts = [_part(part) for part in processor.get("pair") or ()]
        ids = [1] * (len(parts) - 3 - facts.num_separators) if facts.segments else []
        expected = [facts.cls, "A", *[facts.sep] * facts.num_separators, "B", facts.sep]
        segments = [part[1] for part in parts][2 + facts.num_separators :]
        right = [part[0] for part in parts] == expected
        right &= not facts.segments or segments == [1] * len(segments) or not ids
    elif kind in ("BertProcessing", "RobertaProcessing"):
        right = (processor["cls"][0], processor["sep"][0]) == (facts.cls, facts.sep)
        right &= facts.num_separators == (2 if kind == "RobertaProcessing" else 1)
        if kind == "RobertaProcessing":
            right &= processor["trim_offsets"] and not processor["add_prefix_space"]
    else:
        right = False
    if not right:
        raise ValueError(
            f"{path}: a pair must be {facts.cls} question {facts.sep * facts.num_separators} "
            f"passage {facts.sep}. Received: post_processor={str(processor)[:300]}"
        )


def _part(part: Json) -> tuple[str, int]:
    (value,) = part.values()
    return value["id"], value["type_id"]


def tokenizer_files(subwords: SubwordTokenizer, facts: Family, cased_name: str) -> dict[str, str]:
    """Returns the files of a tokenizer in Hugging Face's form, by name.

    Args:
        subwords: `SubwordTokenizer` of WordPiece, byte pairs or Unigram.
        facts: `Family`. The encoder's family.
        cased_name: str. The tokenizer's class name there, such as `BertTokenizer`.

    Raises:
        ValueError: The subwords are of another kind.
    """
    pieces = subwords.pieces
    special = subwords.special_tokens or default_special_tokens(facts, pieces)
    added = [
        {"id": t["id"], "content": t["content"], "lstrip": bool(t.get("lstrip")), "rstrip": False,
         "normalized": bool(t.get("normalized")), "single_word": False, "special": True}
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
    if isinstance(pieces, WordPieces):
        rules = pieces.get_config()
        vocabulary = {word: index for index, word in enumerate(pieces.vocabulary)}
        whole |= {
            "normalizer": {
                "type": "BertNormalizer", "clean_text": True,
                "handle_chinese_chars": rules["split_ideographs"],
                "strip_accents": rules["strip_accents"], "lowercase": rules["lowercase"],
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {
                "type": "BertProcessing", "sep": [facts.sep, subwords.sep_id],
                "cls": [facts.cls, subwords.cls_id],
            },
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
            "model": {**_WORD_PIECE, "unk_token": rules["unknown"], "vocab": vocabulary},
        }  # fmt: skip
        stated |= {
            "do_lower_case": rules["lowercase"], "strip_accents": rules["strip_accents"],
            "tokenize_chinese_chars": rules["split_ideographs"], "unk_token": rules["unknown"],
            "mask_token": "[MASK]",
        }  # fmt: skip
        others = {"vocab.txt": "".join(f"{word}\n" for word in vocabulary)}
    elif isinstance(pieces, UnigramPieces):
        parts = pieces.components()
        whole |= {
            "normalizer": parts["normalizer"], "pre_tokenizer": parts["pre_tokenizer"],
            "post_processor": _template(subwords, facts),
            "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            "model": {
                **_UNIGRAM, "unk_id": parts["unknown_id"], "vocab": parts["vocabulary"],
            },
        }  # fmt: skip
        unknown = parts["vocabulary"][parts["unknown_id"]][0]
        # The classes of transformers 5 for these families ignore the components of the file.
        stated |= {
            "bos_token": facts.cls, "eos_token": facts.sep, "unk_token": unknown,
            "tokenizer_class": "PreTrainedTokenizerFast",
        }  # fmt: skip
        others = {}
    elif isinstance(pieces, BytePairs):
        level = {**_BYTE_LEVEL, "trim_offsets": True}
        whole |= {
            "normalizer": None,
            "pre_tokenizer": level,
            "post_processor": {
                "type": "RobertaProcessing", "sep": [facts.sep, subwords.sep_id],
                "cls": [facts.cls, subwords.cls_id], "trim_offsets": True,
                "add_prefix_space": False,
            },
            "decoder": {**level, "add_prefix_space": True},
            "model": {
                **_BPE, "unk_token": None, "vocab": pieces.vocabulary,
                "merges": list(pieces.merges),
            },
        }  # fmt: skip
        stated |= {
            "add_prefix_space": False, "bos_token": facts.cls, "eos_token": facts.sep,
            "unk_token": "<unk>", "mask_token": "<mask>", "trim_offsets": True,
        }  # fmt: skip
        others = {
            "vocab.json": json.dumps(pieces.vocabulary, ensure_ascii=False),
            "merges.txt": "#version: 0.2\n" + "".join(f"{merge}\n" for merge in pieces.merges),
        }
    else:
        raise ValueError(
            "Tokenizers of WordPiece, byte pairs and Unigram can be written. "
            f"Received: {type(pieces).__name__}"
        )
    dumped = {TOKENIZER: whole, TOKENIZER_CONFIG: stated}
    return others | {
        name: json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        for name, value in dumped.items()
    }


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


def read_optional_json(path: Path) -> Json:
    """Returns the content of a JSON file; an empty dict if there is none.

    Raises:
        ValueError: The file is damaged or holds another value.
    """
    return read_json(path) if path.is_file() else {}

"""Subwords of encoders in Hugging Face's files: loading, and what is not followed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfmrc.encoders.hugging_face.families import Family
from tfmrc.text.lines import read_lines
from tfmrc.text.subwords.byte_pairs import BytePairs
from tfmrc.text.subwords.character_pairs import REPLACE_SPACES, CharacterPairs
from tfmrc.text.subwords.pieces import Pieces
from tfmrc.text.subwords.unigram_pieces import UnigramPieces
from tfmrc.text.subwords.word_pieces import WordPieces
from tfmrc.utils.files import read_json

TOKENIZER, TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"
ADDED_TOKENS = "added_tokens.json"
Json = dict[str, Any]
# Values of a component that differ from these are refused.
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
BPE = {
    "type": "BPE", "dropout": None, "continuing_subword_prefix": "", "end_of_word_suffix": "",
    "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
}  # fmt: skip
SPLIT = {
    "type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False,
}  # fmt: skip
CHARACTER_BPE = {name: value for name, value in BPE.items() if name != "fuse_unk"}
CHARACTER_BPE["byte_fallback"] = True
WORD_PIECE = {
    "type": "WordPiece", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
}  # fmt: skip
UNIGRAM = {"type": "Unigram", "byte_fallback": False}
_ADDED = {"single_word": False, "rstrip": False}


def load_tokenizer(
    folder: Path, facts: Family, check: bool = False
) -> tuple[Family, Pieces, list[Json]]:
    """Loads the subwords of a folder in the format of Hugging Face.

    Args:
        folder: path. The folder.
        facts: `Family`. The encoder's family.
        check: bool. Whether a tokenizer that is not followed exactly is refused. Default: False.

    Returns:
        The family with the special tokens of the folder, the pieces, and the special tokens that a
        text may contain.

    Raises:
        ValueError: If a component is not supported.
    """
    facts = _with_template(folder, facts)
    if check:
        check_tokenizer(folder, facts)
    pieces = pieces_of(folder, facts)
    return facts, pieces, special_tokens_of(folder, facts, pieces)


def pieces_of(folder: Path, facts: Family) -> Pieces:
    """Loads the subword pieces from a folder in the format of Hugging Face."""
    stated = read_optional_json(folder / TOKENIZER_CONFIG)
    tokenizer = read_optional_json(folder / TOKENIZER)
    model: Json = tokenizer.get("model") or {}
    if facts.pieces == WordPieces.kind:
        return _word_pieces(folder, stated, tokenizer.get("normalizer") or {}, model)
    if facts.pieces == BytePairs.kind:
        if model.get("type") != "BPE":
            return BytePairs.from_assets(folder)
        added = {token["content"]: token["id"] for token in tokenizer.get("added_tokens") or ()}
        merges = (m if isinstance(m, str) else " ".join(m) for m in model["merges"])
        if model.get("byte_fallback"):
            return CharacterPairs(added | model["vocab"], merges)
        return BytePairs(
            added | model["vocab"],
            merges,
            normalizer=tokenizer.get("normalizer"),
            # The pre-tokenizer has the same name for a value that it does not use.
            trim_offsets=(tokenizer.get("post_processor") or {}).get("trim_offsets", False),
        )
    if model.get("type") == "Unigram":
        parts = {name: tokenizer.get(name) for name in ("normalizer", "pre_tokenizer")}
        return UnigramPieces(model["vocab"], model["unk_id"], **parts)
    for name in ("spiece.model", "spm.model", "sentencepiece.bpe.model"):
        if (folder / name).is_file() and facts.model_type != "camembert":  # whose ids differ
            albert = facts.model_type == "albert"
            return UnigramPieces.from_sentencepiece(
                (folder / name).read_bytes(),
                lowercase=albert and stated.get("do_lower_case", True),
                strip_accents=albert and not stated.get("keep_accents", False),
                fairseq_ids=facts.model_type == "xlm-roberta",
            )
    raise FileNotFoundError(f"There is neither {TOKENIZER} nor a SentencePiece model in {folder}.")


def _word_pieces(folder: Path, stated: Json, rules: Json, model: Json) -> WordPieces:
    if model.get("type") == "WordPiece":
        vocabulary = sorted(model["vocab"], key=model["vocab"].get)
        last = model["vocab"][vocabulary[-1]]
        if last != len(vocabulary) - 1:
            raise ValueError(
                f"{folder / TOKENIZER}: the ids of pieces must have no gaps. "
                f"Received: {len(vocabulary)} pieces with ids up to {last}"
            )
    else:
        vocabulary = read_lines(folder / "vocab.txt")
    ideographs = rules.get("handle_chinese_chars", stated.get("tokenize_chinese_chars", True))
    return WordPieces(
        vocabulary,
        lowercase=bool(rules.get("lowercase", stated.get("do_lower_case", True))),
        strip_accents=rules.get("strip_accents", stated.get("strip_accents")),
        split_ideographs=bool(ideographs),
        unknown=model.get("unk_token", "[UNK]"),
    )


def special_tokens_of(folder: Path, facts: Family, pieces: Pieces) -> list[Json]:
    """Returns the special tokens that a text may contain, for `SubwordTokenizer`.

    Without `tokenizer.json` they are those that all encoders of the family have, and those in
    `added_tokens.json`.

    Raises:
        ValueError: If `added_tokens.json` has tokens that `tokenizer.json` lacks.
    """
    further = read_optional_json(folder / ADDED_TOKENS)
    added = read_optional_json(folder / TOKENIZER).get("added_tokens")
    if added is None:
        default = {token["content"]: token for token in default_special_tokens(facts, pieces)}
        added = [{"content": name, "id": index} for name, index in further.items()]
        return [*(default | {token["content"]: token for token in added}).values()]
    missing = sorted(further.items() - {(token["content"], token["id"]) for token in added})
    if missing:
        raise ValueError(
            f"{folder / TOKENIZER} must have the tokens of {ADDED_TOKENS}. "
            f"Received: no {missing[0][0]!r} with the id {missing[0][1]}"
        )
    names = ("content", "id", "lstrip", "normalized", "special")
    return [{name: token.get(name) for name in names} for token in added]


def default_special_tokens(facts: Family, pieces: Pieces) -> list[Json]:
    """Returns the special tokens that all encoders of a family have."""
    names = [facts.cls, facts.pad, facts.sep]
    is_roberta = facts.pieces == BytePairs.kind and facts.cls == "<s>"
    names += ["<unk>", "<mask>"] if is_roberta else ["[UNK]", "[MASK]"]
    names += ["<mask>"] * (facts.model_type == "mpnet")
    return [
        {"content": name, "id": pieces.id_of(name), "lstrip": name == "<mask>"}
        for name in dict.fromkeys(names)
        if name in pieces
    ]


def check_tokenizer(folder: Path, facts: Family) -> None:
    """Raises a ValueError unless `SubwordTokenizer.tokenize` follows the folder's tokenizer.

    Every component of `tokenizer.json` must be one whose ids and offsets are computed here.

    Args:
        folder: path. A folder in the format of Hugging Face.
        facts: `Family`. The encoder's family.
    """
    path = folder / TOKENIZER
    whole = read_optional_json(path)
    if facts.pieces == UnigramPieces.kind and not whole:
        raise ValueError(
            "A reader of XLM-RoBERTa, CamemBERT, ALBERT or DeBERTa needs tokenizer.json: a "
            "SentencePiece model alone does not say how texts are split. "
            f"Received: {facts.model_type!r} in {folder}"
        )
    if not whole:
        return
    stated = read_optional_json(folder / TOKENIZER_CONFIG)
    if facts.pieces == WordPieces.kind:
        rules = whole.get("normalizer") or {}
        lowercase = stated.get("do_lower_case", rules.get("lowercase"))
        expected = {"type": "BertNormalizer", "clean_text": True, "lowercase": lowercase}
        _check(path, "normalizer", rules, expected)
        _check(path, "pre_tokenizer", whole.get("pre_tokenizer"), {"type": "BertPreTokenizer"})
        _check(path, "model", whole.get("model"), WORD_PIECE)
    elif facts.pieces == UnigramPieces.kind:
        _check(path, "model", whole.get("model"), UNIGRAM)
    else:
        characters = bool((whole.get("model") or {}).get("byte_fallback"))
        if characters:
            _check(path, "normalizer", whole.get("normalizer"), REPLACE_SPACES)
        _check(
            path, "pre_tokenizer", whole.get("pre_tokenizer"), SPLIT if characters else BYTE_LEVEL
        )
        _check(path, "model", whole.get("model"), CHARACTER_BPE if characters else BPE)
    for token in whole.get("added_tokens") or ():
        _check(path, "added_tokens", token, _ADDED)
        if facts.pieces == WordPieces.kind:
            _check(path, "added_tokens", token, {"special": True})
        if whole.get("normalizer") is not None and facts.pieces == WordPieces.kind:
            _check(path, "added_tokens", token, {"normalized": False})
    _check_pair(path, whole.get("post_processor") or {}, facts)


def _with_template(folder: Path, facts: Family) -> Family:
    """Returns the family with the separators in the template of the folder.

    Readers of XLM-RoBERTa that transformers 5 made have one, those of transformers 4 two. Those of
    ModernBERT and mmBERT have different names.
    """
    template = (read_optional_json(folder / TOKENIZER).get("post_processor") or {}).get("pair")
    if facts.pieces == WordPieces.kind or not isinstance(template, list):
        return facts
    names = [_part(part)[0] for part in template]
    if "A" not in names or "B" not in names:
        return facts
    facts = facts._replace(num_separators=names.index("B") - names.index("A") - 1)
    if facts.model_type == "modernbert":
        pad = read_optional_json(folder / TOKENIZER_CONFIG).get("pad_token") or facts.pad
        pad = pad["content"] if isinstance(pad, dict) else pad
        facts = facts._replace(cls=names[0], sep=names[-1], pad=pad)
    return facts


def _check(path: Path, part: str, received: Json | None, expected: Mapping[str, Any]) -> None:
    received = received or {}
    for name, value in expected.items():
        if (received.get(name) or None) != (value or None):  # None, "" and False mean the same
            raise ValueError(
                f"{path}: the tokenizer must have {part}.{name}={value!r}; other "
                f"values are not supported. Received: {part}={str(received)[:200]}"
            )


def _check_pair(path: Path, processor: Json, facts: Family) -> None:
    """Checks the special tokens around question and passage."""
    kind = processor.get("type")
    if kind == "TemplateProcessing":
        parts = [_part(part) for part in processor.get("pair") or ()]
        expected = [facts.cls, "A", *[facts.sep] * facts.num_separators, "B", facts.sep]
        right = [name for name, _ in parts] == expected
        right &= not facts.segments or {segment for _, segment in parts[-2:]} == {1}
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


def read_optional_json(path: Path) -> Json:
    """Returns the content of a JSON file; an empty dict if there is none.

    Raises:
        ValueError: If the file is damaged or holds another value.
    """
    return read_json(path) if path.is_file() else {}

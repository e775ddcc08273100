"""Measures how the package `tokenizers` treats each code point, and writes `code_points.json`.

Hugging Face's tokenizers have Unicode tables of their own, of several Unicode versions, so their
rules cannot be derived from Python's `unicodedata`. Run it with the release to be followed:

    python tools/code_points.py tfmrc/text/tables/code_points.json
"""

import json
import struct
import sys
from collections.abc import Callable, Iterable

import tokenizers
from tokenizers import normalizers, pre_tokenizers

CODES = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
HANGUL = range(0xAC00, 0xD7A4)  # decomposed by arithmetic
YPOGEGRAMMENI = "\u0345"  # has the highest combining class
ACUTE = "\u0301"


def bert(**rules: bool) -> Callable[[str], str]:
    """Returns BERT's normalizer with the given rules only."""
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return normalizers.BertNormalizer(**dict.fromkeys(names, False) | rules).normalize_str


def ranges(codes: Iterable[int]) -> list[list[int]]:
    """Returns the first and last code of each run of consecutive codes."""
    result: list[list[int]] = []
    for code in codes:
        if result and result[-1][1] == code - 1:
            result[-1][1] = code
        else:
            result.append([code, code])
    return result


def changed(function: Callable[[str], str], codes: Iterable[int]) -> dict[str, str]:
    """Returns the codes that a function changes, with what it makes of them."""
    return {str(code): function(chr(code)) for code in codes if function(chr(code)) != chr(code)}


def replaces(key: str) -> Callable[[str], str]:
    """Returns a precompiled normalizer with one rule, from `key` to "!".

    Its rules hold for whole grapheme clusters of less than six bytes. The bytes are those of a
    double-array trie (Darts), with one block of 256 units per byte of the key.
    """
    encoded = key.encode()
    units = [0] * (256 * (len(encoded) + 2))
    position, block = 0, 256
    for number, byte in enumerate(encoded, 1):
        units[position] |= (position ^ block) << 10
        position = block ^ byte
        units[position] = byte | (number == len(encoded)) << 8
        block += 256
    units[position] |= (position ^ block) << 10
    trie = struct.pack(f"<{len(units)}I", *units)
    rules = struct.pack("<I", len(trie)) + trie + b"!\0"
    return normalizers.Precompiled(rules).normalize_str


def measure() -> dict[str, object]:
    """Returns all tables."""
    clean, ideographs = bert(clean_text=True), bert(handle_chinese_chars=True)
    lower = bert(lowercase=True)
    strip, decompose = bert(strip_accents=True), normalizers.NFD().normalize_str
    words = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True).pre_tokenize_str

    def is_punctuation(character: str) -> bool:
        return [word for word, _ in words(f"a{character}b")] == ["a", character, "b"]

    def is_one(before: str, character: str) -> bool:
        return len(pieces(before + character)) == 1

    def combines(character: str) -> bool:
        return decompose(YPOGEGRAMMENI + character)[0] != YPOGEGRAMMENI

    plain, short = replaces("a"), [code for code in CODES if 0 < code < 0x10000]
    marks = [code for code in CODES if strip(chr(code)) == ""]
    return {
        "tokenizers": tokenizers.__version__,
        "removed": ranges(code for code in CODES if clean(chr(code)) == ""),
        "spaces": ranges(code for code in CODES if clean(chr(code)) == " "),
        "ideographs": ranges(c for c in CODES if ideographs(chr(c)) == f" {chr(c)} "),
        "punctuation": ranges(code for code in CODES if is_punctuation(chr(code))),
        "marks": ranges(marks),
        "combining": ranges(sorted({c for c in CODES if combines(chr(c))} - {*marks})),
        "decompositions": changed(decompose, (code for code in CODES if code not in HANGUL)),
        "lowercase": changed(lower, CODES),
        "letters": ranges(code for code in CODES if is_one("a", chr(code))),
        "numbers": ranges(code for code in CODES if is_one("1", chr(code))),
        "accents": ranges(
            c for c in CODES if normalizers.StripAccents().normalize_str(chr(c)) == ""
        ),
        "nfc": changed(normalizers.NFC().normalize_str, CODES),
        "nfkd": changed(normalizers.NFKD().normalize_str, (c for c in CODES if c not in HANGUL)),
        "extenders": ranges(c for c in CODES if c and plain(f"a{chr(c)}") == "!"),
        "controls": ranges(c for c in short if replaces(chr(c))(chr(c) + ACUTE) != "!"),
        "prefixes": ranges(c for c in short if replaces(chr(c))(f"{chr(c)}a") == "!"),
    }


if __name__ == "__main__":
    tables = {name: json.dumps(table, separators=(",", ":")) for name, table in measure().items()}
    lines = [f"{json.dumps(name)}: {table}" for name, table in tables.items()]
    with open(sys.argv[1], "w", encoding="utf-8", newline="\n") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")

"""Strings to split, real and hard ones: scripts, marks, controls, special tokens."""

import itertools
import random

from tfmrc import data

ALPHABETS = (
    "abcdefgh XYZ ",
    "éÉñÑüßİıſΣσςǅ",
    "e\u0301a\u0300\u0327n\u0303",
    " \t\n\r\u00a0\u2003\u3000\u0085\u000b\u2028",
    "\u0000\u0001\u007f\u200b\u200d\ufeff\ufffd\u00ad",
    "漢字かなカナ한국어각",
    "'s't're've'll'd'm''",
    ".,;:!?()[]{}<>|-_–—…“”‘’",
    "0123456789½Ⅳ٣",
    "😀👍🏽👨\u200d👩\u200d👧🇩🇪",
    "العربية עִברִית हिन्दी ไทย",
    "     ",
)
PIECES = (
    "[SEP]", "[CLS]", "[MASK]", "<s>", "</s>", "<mask>", " <mask>", "\u2003\n<mask>", "<pad>",
    "[UNK]", "'s", "'re", "'ll", " 's", "don't", "\n\n", "  ", "a" * 101, "ab" * 60, "##ing",
    "naïve", "ＦＵＬＬ", "ﬁne", "\u1100\u1161\u11a8", "\u302e", "\u1baa",
)  # fmt: skip


def odd_strings(count, seed=1):
    """The strings, the same for the same seed."""
    generator = random.Random(seed)
    result = []
    for _ in range(count):
        parts = []
        for _ in range(generator.randint(0, 14)):
            kind = generator.random()
            if kind < 0.2:
                parts.append(generator.choice(PIECES))
            elif kind < 0.45:
                first, last = generator.choice(
                    [(0, 0x2FF), (0x300, 0x1FFF), (0x2000, 0xD7FF), (0xE000, 0x10FFFF)]
                )
                parts.append(chr(generator.randint(first, last)))
            else:
                letters = generator.choice(ALPHABETS)
                parts += [generator.choice(letters) for _ in range(generator.randint(1, 6))]
        result.append("".join(parts))
    return result


def real_strings(count):
    """Questions and paragraphs of the part of SQuAD that comes with tfmrc."""
    texts = {}
    for example in itertools.chain(data.load_small_squad("test"), data.load_small_squad("train")):
        texts |= dict.fromkeys([example.question, *example.passages])
    texts = list(texts)
    random.Random(0).shuffle(texts)
    return texts[:count]

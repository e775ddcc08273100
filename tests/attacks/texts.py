"""Odd texts: characters of many blocks, words, marks, and bytes that are not UTF-8."""

import random

from tests.attacks.mutations import ODD_TEXTS

WORDS = (
    "the", "mill", "Anna", "1802", "it's", "U.S.", "e-mail@mill.org", "http://mill.org/a?b", "$3.5",
)  # fmt: skip
RANGES = (
    (0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0xA0, 0x24F), (0x300, 0x36F), (0x5D0, 0x6FF),
    (0x900, 0x97F), (0x2000, 0x206F), (0x3040, 0x30FF), (0x4E00, 0x4FFF), (0xE000, 0xE0FF),
    (0xFE00, 0xFE0F), (0x1F300, 0x1F6FF), (0x20000, 0x200FF), (0xE0000, 0xE007F),
    (0x10FFF0, 0x10FFFF),
)  # fmt: skip


def odd_text(rng: random.Random) -> bytes:
    """Returns a text of 0 to some hundred characters; one in ten is not UTF-8."""
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice([text for text in ODD_TEXTS if text != "\ud800"]).encode()[:2_000]
    if kind == 1:
        part = odd_text(rng)[:8]
        return part * rng.randrange(1, 100)
    pieces = []
    for _ in range(rng.choice((1, 3, 20, 80))):
        if rng.random() < 0.4:
            pieces.append(rng.choice(WORDS))
        else:
            first, last = rng.choice(RANGES)
            pieces.append(chr(rng.randint(first, last)))
        pieces.append(rng.choice(("", "", " ", " ", "\n", "\u00a0", "\u200b")))
    text = "".join(pieces).encode()
    if rng.random() < 0.1:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + bytes(rng.randrange(256) for _ in range(3)) + text[at:]
    return text

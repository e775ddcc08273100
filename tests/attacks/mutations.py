"""Mutations of files: of their bytes, of their lines, and of JSON values within them."""

import copy
import gzip
import json
import random
from typing import Any

ODD_NUMBERS = (-1, 0, 2**31, 2**63, 10**400, 1e308, -1.5)
ODD_TEXTS = (
    "", " ", "\x00", "\ufeff", "\u200b", "\u202e", "é" * 3, "e\u0301", "😀", "\ud800", "x" * 70_000,
    "No Answer Present.", "null", "\r", "\n", '"', "[]",
)  # fmt: skip
ODD_BYTES = (
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r\n", b'"', b"{", b"]", b"\t",
)  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> tuple[bytes, str]:
    """Returns a file with one to three mutations, and their names."""
    names = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change = rng.choice(CHANGES)
        names.append(change.__name__)
        content = change(content, rng)
    return content, "+".join(names)


def flip(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 4))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(ODD_BYTES) * rng.choice((1, 1, 50)) + content[at:]


def remove(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.randrange(1, 40) :]


def double(content: bytes, rng: random.Random) -> bytes:
    return content + content


def reorder_lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def repeat_line(content: bytes, rng: random.Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    at = rng.randrange(len(lines))
    return b"".join(lines[: at + 1] + lines[at:])


def byte_order_mark(content: bytes, rng: random.Random) -> bytes:
    return b"\xef\xbb\xbf" + content


def windows_lines(content: bytes, rng: random.Random) -> bytes:
    return content.replace(b"\n", b"\r\n")


def other_encoding(content: bytes, rng: random.Random) -> bytes:
    return content.decode("utf-8", "replace").encode(rng.choice(("latin-1", "utf-16")), "replace")


def compress(content: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(content, mtime=0)
    return packed[: rng.choice((len(packed), len(packed) // 2))]


def nest(content: bytes, rng: random.Random) -> bytes:
    depth = rng.choice((50, 2_000, 100_000))
    at = rng.randrange(len(content) + 1)
    return content[:at] + b"[" * depth + content[at:]


def change_value(content: bytes, rng: random.Random) -> bytes:
    """Changes one value of a JSON document, or of one of its lines."""
    lines = content.splitlines(keepends=True)
    for position in [None, *rng.sample(range(len(lines)), len(lines))]:
        part = content if position is None else lines[position]
        try:
            value = json.loads(part)
        except (ValueError, RecursionError):
            continue
        changed = json.dumps(_changed(copy.deepcopy(value), rng), ensure_ascii=rng.random() < 0.5)
        changed_bytes = changed.encode("utf-8", "surrogatepass")
        if position is None:
            return changed_bytes
        lines[position] = changed_bytes + b"\n"
        return b"".join(lines)
    return flip(content, rng)


def _changed(value: Any, rng: random.Random) -> Any:
    places: list[tuple[Any, Any]] = []
    waiting = [value] if isinstance(value, dict | list) else []
    while waiting:
        node = waiting.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, child in list(items):
            places.append((node, key))
            if isinstance(child, dict | list):
                waiting.append(child)
    if not places:
        return rng.choice([None, [], {}, 1])
    node, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind == 0:
        del node[key]
    elif kind == 1:
        node[key] = rng.choice(ODD_NUMBERS)
    elif kind == 2:
        node[key] = rng.choice(ODD_TEXTS)
    elif kind == 3:
        node[key] = rng.choice([None, True, [], {}, [[]], {"": {}}, [None], ["", 1]])
    elif kind == 4 and isinstance(node[key], int) and not isinstance(node[key], bool):
        node[key] += rng.choice((-1, 1))
    elif isinstance(node, dict):
        node[rng.choice(ODD_TEXTS[:8]) or str(key) * 2] = node[key]
    else:
        node.append(copy.deepcopy(node[key]))
    return value


CHANGES = (
    flip, cut, insert, remove, double, reorder_lines, repeat_line, byte_order_mark, windows_lines,
    other_encoding, compress, nest, change_value, change_value, change_value, change_value,
)  # fmt: skip

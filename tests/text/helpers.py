"""What the tests of the text room share."""

from typing import NamedTuple

import tensorflow as tf

from tfmrc.text import Tokenizer


class Word(NamedTuple):
    surface: str
    compared: str
    start: int
    end: int


def tokens(text: str | bytes) -> list[Word]:
    """The tokens of one string."""
    found = Tokenizer().tokenize(tf.constant([text], tf.string))
    columns = (field[0].numpy().tolist() for field in found)
    return [
        Word(surface.decode(), compared.decode(), start, end)
        for surface, compared, start, end in zip(*columns, strict=True)
    ]


def surfaces(text: str | bytes) -> list[str]:
    """The surfaces of one string's tokens."""
    return [word.surface for word in tokens(text)]


def text_of(tensor) -> list:
    """A string tensor as nested lists of str."""

    def decode(value):
        return [decode(item) for item in value] if isinstance(value, list) else value.decode()

    return decode(tf.convert_to_tensor(tensor).numpy().tolist())

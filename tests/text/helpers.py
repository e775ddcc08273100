"""Helpers of the tests of `tfmrc.text`."""

from typing import NamedTuple

import tensorflow as tf

from tfmrc.preprocessing import MasquePreprocessor
from tfmrc.text import Tokenizer, Vocabulary


class Word(NamedTuple):
    surface: str
    compared: str
    start: int
    end: int


def tokens(text: str | bytes) -> list[Word]:
    """The tokens of one string."""
    result = Tokenizer().tokenize(tf.constant([text], tf.string))
    columns = (field[0].numpy().tolist() for field in result)
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


WORDS = ["the", "king", "met", "queen", "and"]


def preprocessor(**arguments):
    """Features of a small vocabulary: the 4, king 5, met 6 generable; queen 7, and 8 known."""
    settings = dict(styles=("qa", "nlg"), num_passages=2, generation_vocabulary_size=7)
    buckets = arguments.pop("num_oov_buckets", 0)
    return MasquePreprocessor(Vocabulary(WORDS, buckets), **(settings | arguments))


def differences(split, expected, texts, batch=100, words=True):
    """The texts whose pieces, characters or words differ, and those that are refused."""
    if len(texts) > batch:  # for one batch, tracing takes longer than running
        signature = [tf.TensorSpec([None], tf.string)]
        split = tf.function(split, input_signature=signature, autograph=False)
    wrong, refused = [], []

    def check(part):
        pieces = split(part)
        fields = [field.to_list() for field in pieces]
        for number, each in enumerate(part):
            reference = expected.encode(each, add_special_tokens=False)
            spans = [*zip(*reference.offsets, strict=True)] or [(), ()]
            result = [field[number] for field in fields]
            right = [reference.ids, *map(list, spans), reference.word_ids]
            if result[: 3 + words] != right[: 3 + words]:
                wrong.append(each)

    for first in range(0, len(texts), batch):
        part = texts[first : first + batch]
        try:
            check(part)
        except tf.errors.InvalidArgumentError:
            for each in part:
                try:
                    check([each])
                except tf.errors.InvalidArgumentError:
                    refused.append(each)
    return wrong, refused

"""Properties of the tokenizer that hold for all strings."""

import unicodedata

from hypothesis import given, settings, strategies as st

from tests.text.helpers import tokens
from tfmrc.text import Tokenizer

# Marks that the rules speak of come up often enough to meet one another.
MARKS = "aB1 .,'’-–—/:@&_+$%\"`(){}[]…\u0301\u200d\ufe0f🇫👍🏽漢ก٫\n\u00a0www.http://n'tI"
TEXTS = st.one_of(
    st.text(alphabet=st.characters(codec="utf-8")),
    st.text(alphabet=st.sampled_from(MARKS), max_size=30),
)


def check(text, result):
    end_before = 0
    for word in result:
        assert word.surface == text[word.start : word.end]
        assert word.surface and not any(character.isspace() for character in word.surface)
        assert word.start >= end_before
        assert text[end_before : word.start].strip() == ""
        end_before = word.end
    assert text[end_before:].strip() == ""


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_tokens_are_all_that_is_not_space(text):
    check(text, tokens(text))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=40))
def test_any_bytes(content):
    check(content.decode("utf-8", "replace"), tokens(content))


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, max_size=5))
def test_a_batch_equals_its_strings(texts):
    together = Tokenizer().tokenize([text.encode() for text in texts] or [b""])
    for row, text in enumerate(texts):
        for one, many in zip(Tokenizer().tokenize([text.encode()]), together, strict=True):
            assert one[0].numpy().tolist() == many[row].numpy().tolist()


def long_known(character):
    """Assigned since Unicode 3.2, so that every library of the day knows it."""
    return unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs")


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(codec="utf-8").filter(long_known), max_size=20))
def test_compared_form(text):
    for word in tokens(text):
        surface = word.surface.replace("\0", "\ufffd")
        assert word.compared == unicodedata.normalize("NFKC", surface).lower()

"""The built-in tokenizers: hand-made cases, and laws that hold for any text."""

import re
import unicodedata

import pytest
from hypothesis import given, strategies as st

from tfmrc.evaluation import get_tokenizer, score_answers

ENGLISH = get_tokenizer("english")
UNICODE = get_tokenizer("unicode")

CASES = {
    "It's John's, isn't it?": ["It", "'s", "John", "'s", ",", "is", "n't", "it", "?"],
    "I'm sure we'll say they've": ["I", "'m", "sure", "we", "'ll", "say", "they", "'ve"],
    "cannot gonna can't": ["can", "not", "gon", "na", "ca", "n't"],
    "$5.00, 10% of 2,000 at 10:30": ["$", "5.00", ",", "10", "%", "of", "2,000", "at", "10:30"],
    "3pm 5km 2.5kg 1st sp2 3d": ["3", "pm", "5", "km", "2.5", "kg", "1st", "sp2", "3d"],
    "The U.S. (e.g. Dr. Ode) etc.": ["The", "U.S.", "(", "e.g.", "Dr.", "Ode", ")", "etc."],
    "a well-known mother-in-law": ["a", "well", "-", "known", "mother", "-", "in", "-", "law"],
    "wait... what -- no!!": ["wait", "...", "what", "--", "no", "!", "!"],
    "see http://ley.example/a?b=1, ok": ["see", "http://ley.example/a?b=1", ",", "ok"],
    "ask ode@ley.example.": ["ask", "ode@ley.example", "."],
    "at six o’clock — “now”": ["at", "six", "o’clock", "—", "“", "now", "”"],
    "Größe 茶 और": ["Größe", "茶", "और"],
    "   ": [],
}


@pytest.mark.parametrize("text", CASES)
def test_english_cuts_as_listed(text):
    assert ENGLISH(text) == CASES[text]


@given(st.text())
def test_no_character_but_white_space_is_lost(text: str) -> None:
    assert "".join(ENGLISH(text)) == "".join(text.split())


@given(st.text(alphabet="abnst'’.,-$5%0 :/MrUS", max_size=40))
def test_text_that_is_cut_already_stays_as_it_is(text: str) -> None:
    words = ENGLISH(text)
    assert ENGLISH(" ".join(words)) == words


def test_whitespace_keeps_everything_else():
    assert get_tokenizer("whitespace")(" it's  5km. ") == ["it's", "5km."]


def test_spacy_keeps_white_space_as_the_official_script_does(monkeypatch):
    """Two spaces are a token of their own, empty once stripped, and ROUGE-L counts it.

    "old  mill" is then 3 words, "old mill" 2, with 2 in common: P = 2/3, R = 1.
    """
    import sys
    from types import SimpleNamespace

    def cut(text: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(text=token) for token in re.findall(r"\S+|(?<= ) +", text)]

    stand_in = SimpleNamespace(blank=lambda language: SimpleNamespace(tokenizer=cut))
    monkeypatch.setitem(sys.modules, "spacy", stand_in)
    monkeypatch.setattr("tfmrc.evaluation.metrics.tokenizers.package_version", lambda package: "3")
    get_tokenizer.cache_clear()
    scores = score_answers({"q": "old  mill"}, {"q": ["old mill"]}, "plain", tokenizer="spacy")
    assert scores["rouge_l"].value == pytest.approx(2.44 * (2 / 3) / (1 + 1.44 * 2 / 3))
    assert scores["bleu_1"].value == pytest.approx(1.0)
    assert scores["bleu_1"].tokenisation == "spaCy 3 blank English, lower-cased"
    get_tokenizer.cache_clear()


SHAPES = {
    "hyphens": lambda n: "a-" * n,
    "numbers": lambda n: "1," * n,
    "marks": lambda n: "\u0301" * n,
    "apostrophes": lambda n: "n't" * n,
    "a closed address": lambda n: "http://" + ".," * n,
    "at signs": lambda n: "@" * n,
    "names": lambda n: "a-" * n + "@",
    "mail": lambda n: "a@b.c" * n,
}


@pytest.mark.parametrize("name", ["english", "unicode"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_long_texts(name, shape):
    """In quadratic time they would not end."""
    get_tokenizer(name)(shape(100_000))


UNICODE_CASES = {
    "हिन्दी में क्या है?": ["हिन्दी", "में", "क्या", "है", "?"],
    "cafe\u0301 caf\u00e9": ["caf\u00e9", "caf\u00e9"],
    "می\u200cخواهم": ["می\u200cخواهم"],
    "東京タワー、ひる": ["東", "京", "タワー", "、", "ひ", "る"],
    "It isn't 5km, it's $5.00.": ["It", "is", "n't", "5", "km", ",", "it", "'s", "$", "5.00", "."],
    "தமிழ் ไทย עִבְרִית": ["தமிழ்", "ไทย", "עִבְרִית"],
}


@pytest.mark.parametrize("text", UNICODE_CASES)
def test_unicode_cuts_as_listed(text):
    assert UNICODE(text) == UNICODE_CASES[text]


@given(st.text())
def test_unicode_loses_nothing_and_is_the_same_for_equal_text(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert "".join(UNICODE(text)) == "".join(composed.split())
    assert UNICODE(unicodedata.normalize("NFD", text)) == UNICODE(composed)

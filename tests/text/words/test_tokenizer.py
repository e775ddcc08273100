import pytest

from tests.text.helpers import surfaces, tokens

# Text, and its tokens with | between them. docs/reference/text.md explains the rules.
RULES = {
    "words": ("The cat, the dog.", "The|cat|,|the|dog|."),
    "decimals": ("1,000.50 and .5 or 3.14.", "1,000.50|and|.5|or|3.14|."),
    "sign": ("-5 (-6) 3-4 x-5 −7", "-5|(|-6|)|3|-|4|x-5|−7"),
    "percent": ("50% of 2.5%", "50|%|of|2.5|%"),
    "currency": ("$5 €1.20 US$75 5$", "$|5|€|1.20|US|$|75|5|$"),
    "ratio and time": ("3:2 at 10:30, see: this", "3:2|at|10:30|,|see|:|this"),
    "slash": ("9/11 and/or", "9/11|and|/|or"),
    "negation": ("don't Can't WON'T ain’t", "do|n't|Ca|n't|WO|N'T|ai|n’t"),
    "clitics": (
        "John's I'm they're we've you'll he'd",
        "John|'s|I|'m|they|'re|we|'ve|you|'ll|he|'d",
    ),
    "clitics in a row": ("couldn't've I'd've", "could|n't|'ve|I|'d|'ve"),
    "clitic after digits": ("1990's", "1990|'s"),
    "apostrophe in a name": ("O'Brien d'Este o'clock", "O'Brien|d'Este|o'clock"),
    "genitive of a plural": ("the dogs' tails", "the|dogs|'|tails"),
    "single quotes": ("'a fine day'", "'|a|fine|day|'"),
    "double quotes": ('"yes," he said', '"|yes|,|"|he|said'),
    "penn quotes": ("`` yes ''", "``|yes|''"),
    "hyphen between letters": ("well-known mother-in-law", "well|-|known|mother|-|in|-|law"),
    "hyphen before letters": ("20-year-old", "20|-|year|-|old"),
    "hyphen before digits": ("COVID-19 F-16 1990-91", "COVID-19|F-16|1990|-|91"),
    "ellipsis": ("wait... what…no", "wait|...|what|…|no"),
    "initials": ("J. R. R. Tolkien (B. Obama)", "J.|R.|R.|Tolkien|(|B.|Obama|)"),
    "letters with periods": ("the U.S., e.g. at 5 p.m.", "the|U.S.|,|e.g.|at|5|p.m."),
    "roman number": ("World War I. Then", "World|War|I|.|Then"),
    "abbreviations": ("Mr. St. Inc. Jan. v. Co.", "Mr.|St.|Inc.|Jan.|v.|Co."),
    "not an abbreviation": ("a mass. wash. Amr. etc.", "a|mass|.|wash|.|Amr|.|etc|."),
    "missing space": ("the end.Next", "the|end|.|Next"),
    "ampersand": ("AT&T R & D", "AT&T|R|&|D"),
    "address": ("me@x.org and @name", "me@x.org|and|@name"),
    "web address": (
        "see http://a.org/b?c=d&e, or (www.x.com/y).",
        "see|http://a.org/b?c=d&e|,|or|(|www.x.com/y|)|.",
    ),
    "accents": ("naïve Ünïted e\u0301té", "naïve|Ünïted|e\u0301té"),
    "chinese": ("大元 2024年", "大|元|2024|年"),
    "japanese": ("日本の FA", "日|本|の|FA"),
    "thai": ("สวัสดี", "ส|วั|ส|ดี"),
    "hindi": ("नमस्ते दुनिया", "नमस्ते|दुनिया"),
    "emoji": ("ok👍🏽👍 ☺️", "ok|👍🏽|👍|☺️"),
    "family": ("👩‍👩‍👧x", "👩‍👩‍👧|x"),
    "flags": ("🇫🇷🇩🇪🇬 🇬🇧", "🇫🇷|🇩🇪|🇬|🇬🇧"),
    "spaces": ("\ta\u00a0b\u3000c\n", "a|b|c"),
    "empty": ("", ""),
}


@pytest.mark.parametrize("text, expected", RULES.values(), ids=RULES.keys())
def test_rules(text, expected):
    assert "|".join(surfaces(text)) == expected


def test_offsets_are_code_points():
    result = tokens("é👍🏽 don't")
    assert [(word.start, word.end) for word in result] == [(0, 1), (1, 3), (4, 6), (6, 9)]


def test_compared_form_is_nfkc_and_lower_case():
    result = tokens("ＦＵＬＬ ﬁne Ünïted U\u0308 ½ №５ ΌΣΟΣ İ")
    assert [word.compared for word in result] == [
        "full", "fine", "ünïted", "ü", "1⁄2", "no", "5", "όσος", "i̇"
    ]  # fmt: skip
    assert "".join(word.surface for word in result) == "ＦＵＬＬﬁneÜnïtedU\u0308½№５ΌΣΟΣİ"


def test_bytes_that_are_no_utf8_become_the_replacement_character():
    assert surfaces(b"ab\xe4\xbd") == ["ab", "\ufffd"]
    assert surfaces(b"\xff\xfe x") == ["\ufffd", "\ufffd", "x"]
    assert surfaces(b"a\xf0\x9f b") == ["a", "\ufffd", "b"]
    assert surfaces(b"\xed\xa0\x80") == ["\ufffd"] * 3


def test_control_characters_belong_to_the_word_before_them():
    assert surfaces("a\x00b \x01 Leo\x80s") == ["a\x00b", "\x01", "Leo\x80s"]

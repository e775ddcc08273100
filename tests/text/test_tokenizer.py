import numpy as np
import pytest
import tensorflow as tf

from tests.text.helpers import surfaces, text_of, tokens
from tfmrc.text import Tokenizer

# Text, and its tokens with | between them. docs/text.md explains the rules.
RULES = {
    "words": ("The cat, the dog.", "The|cat|,|the|dog|."),
    "question": ("Who is it?!", "Who|is|it|?|!"),
    "decimals": ("1,000.50 and .5 or 3.14.", "1,000.50|and|.5|or|3.14|."),
    "list of numbers": ("1, 2,3", "1|,|2,3"),
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
    "detached clitic": ("the king 's horse does n't", "the|king|'s|horse|does|n't"),
    "apostrophe in a name": ("O'Brien d'Este o'clock", "O'Brien|d'Este|o'clock"),
    "genitive of a plural": ("the dogs' tails", "the|dogs|'|tails"),
    "single quotes": ("'a fine day'", "'|a|fine|day|'"),
    "double quotes": ('"yes," he said', '"|yes|,|"|he|said'),
    "penn quotes": ("`` yes ''", "``|yes|''"),
    "hyphen between letters": ("well-known mother-in-law", "well|-|known|mother|-|in|-|law"),
    "hyphen before letters": ("20-year-old", "20|-|year|-|old"),
    "hyphen before digits": ("COVID-19 F-16 1990-91", "COVID-19|F-16|1990|-|91"),
    "dashes": ("yes -- no — so–so 1914–18 -", "yes|--|no|—|so|–|so|1914|–|18|-"),
    "ellipsis": ("wait... what…no", "wait|...|what|…|no"),
    "initials": ("J. R. R. Tolkien (B. Obama)", "J.|R.|R.|Tolkien|(|B.|Obama|)"),
    "letters with periods": ("the U.S., e.g. at 5 p.m.", "the|U.S.|,|e.g.|at|5|p.m."),
    "degree": ("a Ph.D. thesis", "a|Ph.D.|thesis"),
    "year of a reign": ("(r. 1435)", "(|r.|1435|)"),
    "roman number": ("World War I. Then", "World|War|I|.|Then"),
    "abbreviations": ("Mr. St. Inc. Jan. v. Co.", "Mr.|St.|Inc.|Jan.|v.|Co."),
    "not an abbreviation": ("a mass. wash. Amr. etc.", "a|mass|.|wash|.|Amr|.|etc|."),
    "missing space": ("the end.Next", "the|end|.|Next"),
    "ampersand": ("AT&T R & D", "AT&T|R|&|D"),
    "underscore": ("foo_bar _x_", "foo_bar|_|x|_"),
    "plus": ("C++ 2+2 A+", "C++|2|+|2|A+"),
    "address": ("me@x.org and @name", "me@x.org|and|@name"),
    "web address": (
        "see http://a.org/b?c=d&e, or (www.x.com/y).",
        "see|http://a.org/b?c=d&e|,|or|(|www.x.com/y|)|.",
    ),
    "brackets": ("[1] {a} <b>", "[|1|]|{|a|}|<|b|>"),
    "accents": ("naïve Ünïted e\u0301té", "naïve|Ünïted|e\u0301té"),
    "chinese": ("大元 2024年", "大|元|2024|年"),
    "japanese": ("日本の FA", "日|本|の|FA"),
    "thai": ("สวัสดี", "ส|วั|ส|ดี"),
    "korean": ("안녕 하세요", "안녕|하세요"),
    "russian": ("Привет, мир!", "Привет|,|мир|!"),
    "arabic": ("مرحبا ١٢٫٥", "مرحبا|١٢٫٥"),
    "hindi": ("नमस्ते दुनिया", "नमस्ते|दुनिया"),
    "emoji": ("ok👍🏽👍 ☺️", "ok|👍🏽|👍|☺️"),
    "family": ("👩‍👩‍👧x", "👩‍👩‍👧|x"),
    "flags": ("🇫🇷🇩🇪🇬 🇬🇧", "🇫🇷|🇩🇪|🇬|🇬🇧"),
    "spaces": ("\ta\u00a0b\u3000c\n", "a|b|c"),
    "no words": (" \n\t ", ""),
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


def test_strings_do_not_see_their_neighbours():
    strings = ["don", "'t", "1", ",000", "U.", "S.", "", "🇫", "🇷", "\u0301x", "www", ".x.org", "."]
    together = Tokenizer().tokenize(strings)
    for row, text in enumerate(strings):
        alone = Tokenizer().tokenize([text])
        for one, many in zip(alone, together, strict=True):
            assert one[0].numpy().tolist() == many[row].numpy().tolist()


def test_no_strings():
    result = Tokenizer().tokenize(tf.zeros([0], tf.string))
    assert result.surface.shape[0] == 0
    assert result.starts.to_list() == []


def test_a_hundred_thousand_words():
    text = "The king's 1,000 men... " * 16_667
    result = Tokenizer().tokenize([text, "x"])
    assert result.starts.row_lengths().numpy().tolist() == [6 * 16_667, 1]
    starts = result.starts[0].numpy()
    assert np.array_equal(starts[6:], starts[:-6] + 24)


def test_many_addresses_beside_a_long_one():
    strings = ["www.a " * 5_000, "http://" + "a" * 100_000]
    result = Tokenizer().tokenize(strings)
    assert result.starts.row_lengths().numpy().tolist() == [5_000, 1]


def test_in_a_dataset_and_a_function():
    dataset = tf.data.Dataset.from_tensors(["Don't!"]).map(
        lambda s: Tokenizer().tokenize(s).surface
    )
    assert text_of(next(iter(dataset))[0]) == ["Do", "n't", "!"]

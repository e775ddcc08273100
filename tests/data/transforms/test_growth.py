"""Words, sentences and windows of pathological texts; in quadratic time they would not end."""

import pytest

from tfmrc.data.transforms.sentences import sentences, words
from tfmrc.data.transforms.windows import windows

SIZE = 100_000
SHAPES = {
    "one word": "a",
    "contractions": "n't",
    "nearly contractions": "nn'",
    "marks": "!",
    "periods": ".",
    "a period and quotes": ".\"'",
    "quotes": '"',
    "quotes and spaces": ' "',
    "lines": "\n",
    "spaces": " ",
    "abbreviations": "Mr. ",
    "initials": "A. ",
    "numbers": "1,",
    "combining marks": "\u0301\u0323",
    "addresses": "http://www.",
    "ideographic periods": "。",
    "short sentences": "A b. ",
}


@pytest.mark.parametrize("before", ["", "A. "])
@pytest.mark.parametrize("shape", SHAPES)
def test_long_texts(shape, before):
    text = before + SHAPES[shape] * (SIZE // len(SHAPES[shape])) + "x"
    positions = words(text)
    assert all(a < b for a, b in positions)
    assert all(b <= c for (_, b), (c, _) in zip(positions, positions[1:], strict=False))
    assert "".join(text[a:b] for a, b in positions) == "".join(text.split())
    parts = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in parts) == "".join(text.split())


def test_quotes_after_a_period_that_end_nothing():
    # The number of ways to part a run of quotes doubles with each of them.
    assert sentences("He left." + "\"'" * 200_000 + "x") == [(0, 400_009)]


def test_windows_of_a_very_long_text():
    text = "One two three. " * 60_000
    result = windows(text, 8)
    assert len(result) == 30_000 and result[0] == (0, 29) and result[-1][1] == len(text) - 1

"""Words, sentences and windows of pathological texts; in quadratic time they would not end."""

import pytest

from tfmrc.data.transforms.sentences import sentences, words

SIZE = 100_000
SHAPES = {
    "one word": "a",
    "contractions": "n't",
    "marks": "!",
    "a period and quotes": ".\"'",
    "quotes and spaces": ' "',
    "spaces": " ",
    "abbreviations": "Mr. ",
    "addresses": "http://www.",
    "short sentences": "A b. ",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_long_texts(shape):
    text = SHAPES[shape] * (SIZE // len(SHAPES[shape])) + "x"
    positions = words(text)
    assert all(a < b for a, b in positions)
    assert all(b <= c for (_, b), (c, _) in zip(positions, positions[1:], strict=False))
    assert "".join(text[a:b] for a, b in positions) == "".join(text.split())
    parts = sentences(text)
    assert "".join("".join(text[a:b].split()) for a, b in parts) == "".join(text.split())


def test_quotes_after_a_period_that_end_nothing():
    # The number of ways to part a run of quotes doubles with each of them.
    assert sentences("He left." + "\"'" * 200_000 + "x") == [(0, 400_009)]

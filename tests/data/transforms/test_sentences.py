"""Words of Python strings in scripts with marks and without spaces, as of the graph tokenizer."""

import pytest

from tfmrc.data import Example, with_exact_spans
from tfmrc.data.transforms.sentences import words
from tfmrc.text import Tokenizer

TEXTS = [
    "大元是中国历史上的朝代。",
    "富士山は日本で一番高い山です。2020年、高さ3,776。",
    "กรุงเทพเป็นเมืองหลวงของไทย ๑๒",
    "हिन्दी भारत की भाषा है",
    "اللُّغَةُ العَرَبِيَّة می\u200cخواهم",
    "Le cafe\u0301 noir, e\u0301tude",
    "\u0301x a\u200bb naïve — don’t",
]


@pytest.mark.parametrize("text", TEXTS)
def test_words_are_those_of_the_tokenizer(text):
    tokens = Tokenizer().tokenize([text])
    expected = zip(tokens.starts[0].numpy(), tokens.ends[0].numpy(), strict=True)
    assert words(text) == [(int(start), int(end)) for start, end in expected]


@pytest.mark.parametrize(
    ("passage", "answer"),
    [(TEXTS[0], "大元"), (TEXTS[1], "日本"), (TEXTS[2], "ไทย"), (TEXTS[3], "भारत")],
)
def test_answers_of_all_scripts_are_found(passage, answer):
    example = Example("1", "?", (passage,), {"span": (answer,)})
    [result] = with_exact_spans([example], "span")
    [span] = result.spans
    assert span.start == passage.index(answer) and result.span_text(span) == answer


@pytest.mark.parametrize(("passage", "part"), [(TEXTS[3], "हिन्द"), (TEXTS[5], "cafe")])
def test_a_part_of_a_word_is_no_answer(passage, part):
    assert not list(with_exact_spans([Example("1", "?", (passage,), {"span": (part,)})], "span"))

"""Results show themselves in a notebook, with the sources of words in colours."""

import re
from html.parser import HTMLParser

import pytest

from tfmrc.predictors import Answer, GeneratedQuestion, Result, SpanAnswer, Word
from tfmrc.predictors.result_html import COLOURS

WORDS = (
    Word("<b>8,611</b>", "passage", 1, 7, 12, (0.25, 0.0, 0.75), "8,611"),
    Word("metres", "vocabulary", None, None, None, (0.9, 0.05, 0.05)),
    Word("K2", "question", None, 12, 14, (0.1, 0.8, 0.1), "K2"),
)
RESULTS = {
    "plain": Result("an <owl>", probability=0.5, alternatives=(Result("a & b", probability=0.1),)),
    "answer": Answer("x", words=WORDS, relevance=(0.125, 0.875), answerable_probability=0.5),
    "span": SpanAnswer("an owl", start=4, end=10, passage=1, truncated=True),
    "question": GeneratedQuestion("Who?", answer="<Ann>", answer_start=3, finished=False),
    "none": SpanAnswer(""),
}


class Texts(HTMLParser):
    """The texts of a page; fails where a tag is not closed."""

    def __init__(self, content):
        super().__init__()
        self.open, self.texts, self.tags = [], [], set()
        self.feed(content)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("kind", RESULTS)
def test_it_is_html_without_scripts_and_texts_stay_texts(kind):
    found = Texts(RESULTS[kind]._repr_html_())
    assert found.tags <= {"div", "p", "table", "tr", "td", "span"}
    assert found.texts[0] == (RESULTS[kind].text or "(no words)")


def test_words_have_the_colour_of_their_source_and_its_position():
    content = RESULTS["answer"]._repr_html_()
    shown = re.findall(r'title="([^"]*)" style="background:([^;]*);[^>]*>([^<]*)<', content)
    assert [(title.split(" (")[0], text) for title, _, text in shown] == [
        ("passage 2, characters 7-12", "&lt;b&gt;8,611&lt;/b&gt;"),
        ("vocabulary", "metres"),
        ("question, characters 12-14", "K2"),
    ]
    assert [colour for _, colour, _ in shown] == [COLOURS[word.source] for word in WORDS]
    assert "vocabulary 0.25, question 0.00, passage 0.75" in shown[0][0]
    assert "0.12 0.88" in content and "answerable probability" in content


def test_what_is_known_is_shown():
    assert "a &amp; b (0.1)" in RESULTS["plain"]._repr_html_()
    span = RESULTS["span"]._repr_html_()
    assert "passage 2, characters 4-10" in span and "was cut" in span
    question = RESULTS["question"]._repr_html_()
    assert "&lt;Ann&gt; (character 3)" in question and "greatest length" in question

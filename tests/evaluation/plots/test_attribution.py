"""The page of Masque's Figure 1: complete, escaped, self-contained."""

import re

from tfmrc.evaluation import attribution_html

WORDS = ["Ode", "built", "<it>", "here"]
SOURCES = ["passage", "vocabulary", "question", "passage"]
WEIGHTS = [[0.1, 0.1, 0.8], [0.9, 0.05, 0.05], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]]
POSITIONS = [(1, 4, 7), (None, None, None), (None, 0, 4), (1, 7, 12)]


def _page(**options: object) -> str:
    rows = zip(WORDS, SOURCES, WEIGHTS, POSITIONS, strict=True)
    words = [
        {"word": word, "source": source, "mixture": weights}
        | dict(zip(("passage", "start", "end"), position, strict=True))
        for word, source, weights, position in rows
    ]
    return attribution_html(
        words,
        question="<it> is what?",
        passages=["Rain.", "Old Ode here & there."],
        relevance=[0.25, 0.75],
        **options,  # type: ignore[arg-type]
    )


def test_the_page_is_whole_and_loads_nothing():
    page = _page(title="A & B", note="step 7")
    assert "A &amp; B" in page and "step 7" in page and "relevance 0.750" in page
    assert not re.search(r"<script|https?://|src=|@import|url\(", page)


def test_copied_stretches_are_marked_once():
    page = _page()
    assert re.findall(r"<mark[^>]*>(.*?)</mark>", page) == ["&lt;it&gt;", "Ode here"]
    assert "&amp; there." in page


def test_weights_are_shown_with_each_word():
    page = _page()
    assert 'title="passage 2, characters 4-7 (vocabulary 0.100, question 0.100, ' in page
    assert "width:90.0%" in page

"""Spans of whole sentences."""

import pytest

from tfmrc.data import Example, Span, sentence_spans, with_sentences

PASSAGES = ("It was late. An owl flew. It slept.", "Cats sleep.")
CASES = {
    "in one": ([(0, 16, 19)], [(0, 13, 25)]),
    "twice in one": ([(0, 13, 15), (0, 16, 19)], [(0, 13, 25)]),
    "over two": ([(0, 20, 28)], [(0, 13, 25), (0, 26, 35)]),
    "of two passages": ([(1, 0, 4), (0, 0, 2)], [(0, 0, 12), (1, 0, 11)]),
    "between sentences": ([(0, 12, 13)], []),
}


@pytest.mark.parametrize("name", CASES)
def test_sentences_of_spans(name):
    given, expected = ([Span(*span) for span in spans] for spans in CASES[name])
    assert list(sentence_spans(PASSAGES, given)) == expected


def test_answers_are_the_sentences():
    answers = {"short": ("owl",), "long": ("an owl",)}
    example = Example("1", "Who?", PASSAGES, answers, spans=(Span(0, 16, 19), Span(1, 0, 4)))
    [found] = with_sentences([example])
    texts = ("An owl flew.", "Cats sleep.")
    assert found.answers == {"short": texts, "long": texts}
    assert tuple(map(found.span_text, found.spans)) == texts


def test_without_a_span_an_example_stays_as_it_is():
    for labels in ({"answers": {"span": ("a cat",)}}, {"answerable": False}):
        example = Example("1", "Who?", PASSAGES, **labels)
        assert list(with_sentences([example])) == [example]

"""Free-form answers that occur in a passage."""

import pytest

from tfmrc.data import Example, Span, with_exact_spans


def example(answers, *passages, relevance=None):
    return Example("1", "Who?", passages, {"qa": answers}, relevance=relevance)


@pytest.mark.parametrize(
    ("answer", "passage", "result"),
    [
        ("an owl", "So An Owl flew. An owl!", "An Owl"),  # ignores case; the first occurrence
        ("An owl.", "an owl flew", "an owl"),
        ("5", "In 1952 there were 5.", "5"),  # words, not characters
        ("5%", "It was 5% of it.", "5%"),
        ("owl's nest", "The owl's  nest burned.", "owl's  nest"),
        ("the U.S.", "It is the U.S. today.", "the U.S."),  # with its last mark, if it is there
        ("Yahoo?!", "It was Yahoo? Maybe.", "Yahoo?"),
        ("the end.", "It was the end.", "the end."),
        ("the end.", "It was the end", "the end"),
    ],
)
def test_words_are_compared(answer, passage, result):
    [built] = with_exact_spans([example((answer,), passage)], "qa")
    assert built.answers == {"qa": (result,)} and built.span_text(built.spans[0]) == result
    assert built.passages == (passage,) and built.relevance is None


@pytest.mark.parametrize("answer", ["owls", "owl flew", ".", "5"])
def test_what_no_passage_holds_is_left_out(answer):
    assert not list(with_exact_spans([example((answer,), "An owl slept, 55.")], "qa"))
    assert not list(with_exact_spans([example((answer,), "An owl slept, 55.")], "nlg"))


def test_the_relevant_passage_and_the_first_reference_that_is_there():
    texts = ("The owl flew.", "An owl slept.", "The owl and an owl slept.")
    given = example(("a cat", "owl"), *texts, relevance=(False, True, True))
    [built] = with_exact_spans([given], "qa")
    assert built.passages == texts[1:2] and built.relevance == (True,)
    [first] = with_exact_spans([example(("owl",), *texts)], "qa")
    assert first.passages == texts[:1]


def test_a_known_position_stays():
    text = "The Duke of Normandy fled to Normandy."
    second = Span(0, 29, 37)
    given = Example("1", "Where?", (text,), {"qa": ("France", "Normandy")}, spans=(second,))
    [example] = with_exact_spans([given], "qa")
    assert example.spans == (second,) and example.answers == {"qa": ("Normandy",)}
    # Also within a word, and in a later passage; one of another text is not the answer's.
    part = Example("1", "Who?", ("A cat.", "It was 5km."), {"qa": ("5",)}, spans=(Span(1, 7, 8),))
    [example] = with_exact_spans([part], "qa")
    assert example.passages == ("It was 5km.",) and example.spans == (Span(0, 7, 8),)
    other = Example("1", "Where?", (text,), {"qa": ("Normandy",)}, spans=(Span(0, 4, 8),))
    [example] = with_exact_spans([other], "qa")
    assert example.spans == (Span(0, 12, 20),)

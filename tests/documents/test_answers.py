"""Answers from documents: their place, their sentence, and candidates that do not overlap."""

import math
from dataclasses import replace

import pytest

from tests import fresh_python
from tests.documents.files import pdf
from tfmrc import documents
from tfmrc.documents.answer import join_spans
from tfmrc.predictors import GeneratedText, SpanAnswer

FLEW = "The owl flew at noon. It saw Dr. Holt\nat the mill. It slept."
LINES = [("An eagle flew at", 10, 700)], [("two today. It slept.", 10, 700)]


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "owls.md").write_text(f"# Owls\n\n## Flight\n\n{FLEW}")
    (folder / "eagle.pdf").write_bytes(pdf(LINES))
    documents.index(folder, tmp_path / "pages.index")
    return tmp_path / "pages.index"


class Reader:
    """A predictor that finds given texts, and remembers what it was asked."""

    def __init__(self, *texts, kind=SpanAnswer, **fields):
        self.texts, self.kind, self.fields = texts, kind, fields

    def answer(self, *, question, passages, style, **options):
        self.asked = passages, style, options
        best, *others = (self._result(text, passages) for text in self.texts)
        return self.kind(**{**vars(best), "alternatives": tuple(others)})

    def _result(self, text, passages):
        if self.kind is GeneratedText or not text:
            return self.kind(text, **self.fields)
        number = next(index for index, passage in enumerate(passages) if text in passage)
        start = passages[number].index(text)
        place = {"passage": number, "start": start, "end": start + len(text)}
        return self.kind(text, probability=0.5, **place, **self.fields)


def answer(path, reader, question="Which owl or eagle flew?", **options):
    with documents.load(path, model=reader) as collection:
        found = collection.answer(question=question, **options)
        for each in (found, *found.alternatives):
            if each.document and isinstance(reader, Reader) and reader.kind is SpanAnswer:
                text = collection.document_text(each.document)
                assert text[each.start : each.end] == each.text
                assert text[each.sentence_start :].startswith(each.sentence)
                assert text[each.passage_start :].startswith(each.passage)
                assert each.quotation == each.text
        return found


def test_an_answer_has_its_place_and_its_sentence(path):
    found = answer(path, Reader("Holt\nat"))
    assert (found.document, found.heading, found.page) == ("owls.md", ("Owls", "Flight"), None)
    assert found.marked_sentence == "It saw Dr. [Holt\nat] the mill."
    place = f"owls.md, Owls > Flight, characters {found.start}-{found.end}"
    assert str(found) == f"Holt at\n  {place}"
    assert found.describe().splitlines() == [
        "Holt at",
        f"  in {place}",
        "  sentence: It saw Dr. [Holt at] the mill.",
        "  probability 0.50",
    ]


def test_the_page_is_that_of_the_answer(path):
    assert answer(path, Reader("eagle")).page == 1
    found = answer(path, Reader("today"))
    assert (found.page, found.sentence) == (2, "An eagle flew at two today.")


def test_an_answer_that_is_not_confident_is_a_guess(path):
    found = answer(path, Reader("noon", is_confident=False))
    assert str(found).startswith("No confident answer. Best guess: noon (0.50)\n  owls.md, Owls")


def test_alternatives_do_not_overlap(path):
    reader = Reader("owl flew", "flew at noon", "owl", "noon", "eagle", "two", "at n")
    question = "Which owl flew at the mill?"
    found = answer(path, reader, question)
    assert [other.text for other in found.alternatives] == ["noon", "eagle", "two"]
    assert [other.document for other in found.alternatives] == ["owls.md"] + ["eagle.pdf"] * 2
    assert "  or: eagle (0.50; eagle.pdf, page 1, characters 3-8)" in found.describe()
    assert len(answer(path, reader, question, num_alternatives=1).alternatives) == 1


def test_spans_of_single_passages_have_one_distribution():
    """Log-odds 0 + 8 and ln(3) + 8 - 8 / 2: the first passage has 1 / (1 + 3 exp(-4)) of it."""
    passages = [
        documents.Passage(text=text, start=0, end=9, score=score)
        for text, score in (("An owl or elk", 1.0), ("An eagle", 0.5))
    ]
    elk = SpanAnswer("elk", passage=0, start=10, end=13, probability=0.25)
    owl = SpanAnswer("owl", passage=0, start=3, end=6, probability=0.5, alternatives=(elk,),
                     answerable_probability=0.5)  # fmt: skip
    eagle = SpanAnswer("eagle", passage=0, start=3, end=8, probability=0.75,
                       answerable_probability=0.75)  # fmt: skip
    found = join_spans([owl, eagle], passages)
    share = 1 / (1 + 3 * math.exp(-4))
    spans = [found, *found.alternatives]
    assert [(each.text, each.passage) for each in spans] == [("owl", 0), ("elk", 0), ("eagle", 1)]
    assert [each.probability for each in spans] == pytest.approx(
        [0.5 * share, 0.25 * share, 0.75 * (1 - share)]
    )
    assert share >= 0.8 and [each.is_confident for each in spans] == [True, False, False]
    closer = [passages[0], replace(passages[1], score=0.9)]
    assert not join_spans([owl, eagle], closer).is_confident
    assert not join_spans([replace(owl, is_confident=False), eagle], passages).is_confident
    assert join_spans([SpanAnswer("")], passages[:1]).text == ""


@pytest.mark.parametrize("reader, question", [(Reader(""), "Which owl?"), (None, "Which llama?")])
def test_no_answer_is_said(path, reader, question):
    found = answer(path, reader, question)
    assert (str(found), found.document) == ("No answer in these documents.", None)


def test_a_text_in_the_models_words_has_the_place_of_its_passage(path):
    found = answer(path, Reader("at midday", kind=GeneratedText, relevance=(0.25, 0.75)))
    assert (found.document, found.sentence) == ("owls.md", "")
    assert found.quotation == FLEW
    assert answer(path, Reader("at noon", kind=GeneratedText)).document is None


def test_the_reader_gets_the_best_passages_and_the_options(path):
    reader = Reader("noon")
    answer(path, reader, "Which owl?", num_passages=1, style="short", min_probability=0.5)
    assert reader.asked == ([FLEW], "short", {"min_probability": 0.5})


AFTER_TENSORFLOW = """
import sys
import tensorflow
from tfmrc import documents
print(len(documents.open_store(sys.argv[1]).search("owl")))
"""


def test_the_index_is_searched_after_tensorflow_was_imported(path):
    assert fresh_python.run("-c", AFTER_TENSORFLOW, path) == "1"

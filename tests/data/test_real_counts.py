"""The real files give the counts that their provenance page names."""

from collections import Counter

import pytest

from tfmrc.data import read_dream, read_narrativeqa, read_squad, squad_for_masque

pytestmark = [pytest.mark.slow, pytest.mark.shared_data]


def counts(stream):
    """Returns the numbers of questions, answerable questions and groups."""
    flags = Counter((example.answerable, example.group) for example in stream)
    answerable = sum(count for (flag, _), count in flags.items() if flag)
    return flags.total(), answerable, len({group for _, group in flags})


@pytest.mark.parametrize(
    ("name", "questions", "answerable", "articles", "paragraphs"),
    [("train", 18_191, 15_755, 56, 2_839), ("dev", 9_362, 8_077, 36, 1_417)],
)
def test_squad(shared_data, name, questions, answerable, articles, paragraphs):
    stream = read_squad(shared_data / "squad" / f"{name}.json")
    assert counts(stream) == (questions, answerable, articles)
    assert len({(e.group, e.passages) for e in stream}) == paragraphs
    assert stream.skipped == 0 and not stream.account.notes


@pytest.mark.parametrize("name", ["train", "dev"])
def test_squad_for_masque(shared_data, name):
    stream = squad_for_masque(shared_data / "squad" / f"{name}.json")
    for example in stream:
        assert len(example.passages) == 10
        assert any(example.relevance) == example.answerable
        assert all(example.span_text(s) in example.answers["span"] for s in example.spans)
        assert all(example.relevance[s.passage] for s in example.spans)
    cut = stream.account.notes["questions whose answer no passage contains whole"]
    assert cut <= 0.001 * stream.account.read
    assert set(stream.account.notes) <= {"questions whose answer no passage contains whole"}


@pytest.mark.parametrize(
    ("split", "questions", "documents"), [("train", 8_050, 270), ("valid", 3_461, 115)]
)
def test_narrativeqa(shared_data, split, questions, documents):
    folder = shared_data / "narrativeqa"
    stream = read_narrativeqa(folder / "qaps.csv", folder / "summaries.csv", split=split)
    assert counts(stream) == (questions, questions, documents)
    assert all(1 <= len(example.passages) <= 10 for example in stream)
    assert stream.account.notes["summaries too long for 10 passages of 130 words"] <= 2


@pytest.mark.parametrize(
    ("name", "questions", "dialogues"), [("train", 6_116, 3_869), ("dev", 2_040, 1_288)]
)
def test_dream(shared_data, name, questions, dialogues):
    stream = read_dream(shared_data / "dream" / f"{name}.json")
    assert counts(stream) == (questions, questions, dialogues)

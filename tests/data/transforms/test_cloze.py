"""Questions that are made from passages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from tfmrc.data import Example, TagCache, cloze_questions
from tfmrc.data.transforms.cloze import FIRST_WORDS

PLACES = [f"Ab{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(300)]
TYPES = {"Ada": "PERSON", "Lee": "PERSON", "1815": "DATE", "Acme": "ORG", "Zed": "PRODUCT"}


def tag(texts: Sequence[Sequence[str]]) -> Iterable[Mapping[str, Sequence[str]]]:
    for words in texts:
        yield {
            "lemmas": words,
            "pos": [
                "NN" if word in ("owl", "mill") else "JJ" if word == "old" else "X"
                for word in words
            ],
            "ner": ["GPE" if word in PLACES else TYPES.get(word, "-") for word in words],
        }


@pytest.fixture
def tags(tmp_path: Path) -> TagCache:
    return TagCache(tmp_path / "tags.jsonl", "rules 1", tag)


def passages(count: int) -> Iterator[Example]:
    for n, place in enumerate(PLACES[:count]):
        text = f"In {place} people sang all day and all night. Zed slept very badly here all year."
        yield Example(f"e{n}", "", (text,), group=f"g{n % 3}")


def test_a_question_has_words_of_its_sentence_and_the_type_of_its_answer(tags: TagCache) -> None:
    text = (
        "That year Ada Lee met an owl by the lake. It was 1815 when the firm Acme was made there."
    )
    made = list(cloze_questions([Example("1", "", (text,))], tags))
    asked = {e.answers["span"][0]: e.question.split() for e in made}
    assert set(asked) >= {"Ada Lee", "1815", "Acme"}
    first, second = text.lower().replace(".", "").split("lake")
    for answer, sentence in (("Ada Lee", first + "lake"), ("1815", second), ("Acme", second)):
        [name] = {TYPES[word] for word in answer.split()}
        words = asked[answer]
        assert words[-1] == "?" and FIRST_WORDS[name] in " ".join(words)
        kept = set(words) - {"?", *FIRST_WORDS[name].split()}
        assert kept <= set(sentence.split()) - set(answer.lower().split())


@pytest.mark.parametrize("style", ["span", "qa"])
def test_spans_groups_and_ids(tags: TagCache, style: str) -> None:
    sources = [*passages(50), *passages(50)]
    made = list(cloze_questions(sources, tags, style=style))
    assert len({e.id for e in made}) == len(made)
    assert len({(e.passages, e.spans) for e in made}) == len(made) > 75  # each text once
    for example in made:
        [span] = example.spans
        assert example.answers == {style: (example.span_text(span),)}
        assert example.span_text(span) in (*PLACES, "Zed")
        assert example.group == f"g{int(example.id.split('-')[0][1:]) % 3}"


def test_orders_and_words_left_out(tags: TagCache) -> None:
    questions = [e.question.split() for e in cloze_questions(passages(300), tags)]
    where = [words for words in questions if "where" in words]
    assert len(where) > 200
    begins = sum(words[0] == "where" for words in where) / len(where)
    swapped = sum("in" in words[2:] for words in where) / len(where)
    people = sum("people" in words for words in where) / len(where)
    # Three quarters begin with the question word; "in", kept in 80 %, comes last in half.
    assert 0.67 < begins < 0.83 and 0.31 < swapped < 0.49 and 0.72 < people < 0.88


def test_they_depend_on_the_passage_and_the_seed_alone(tags: TagCache) -> None:
    every = {
        e.passages[0]: e for e in cloze_questions(passages(20), tags) if "Zed" in e.answers["span"]
    }
    [alone] = [e for e in cloze_questions([*passages(20)][7:8], tags) if "Zed" in e.answers["span"]]
    assert every[alone.passages[0]] == alone
    other = {e.question for e in cloze_questions(passages(20), tags, seed=1)}
    assert other != {e.question for e in cloze_questions(passages(20), tags)}


def test_noun_phrases_and_texts_without_anything_to_ask(tags: TagCache) -> None:
    texts = [f"Down by the old mill of number {n} they sang for us." for n in range(200)]
    made = list(cloze_questions([Example("1", "", tuple(texts))], tags))
    assert {e.answers["span"][0] for e in made} == {"old mill"}
    assert all("what" in e.question.split() for e in made)
    assert 0.3 < len(made) / 200 < 0.5  # NOUN_SHARE
    rest = ("", "  \n", "Ada.", "They sang.", "…", "An owl")
    assert list(cloze_questions([Example("1", "Who?", rest)], tags)) == []

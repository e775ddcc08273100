"""The questions of the ready models: groups, questions without an answer, styles."""

import pytest

from recipes.ready_models import prepare
from tfmrc.data import Example, Span

SHARED = "The mill on the weir was named by an owl that lived there for ninety years."


def example(number, passage, answer="", group="a"):
    """A question about a passage, with the first place of an answer, if one is given."""
    start = passage.find(answer)
    return Example(
        f"train/{number}", "Who named the mill on the weir?", (passage,),
        answers={"span": (answer,)} if answer else {}, answerable=bool(answer), group=group,
        spans=(Span(0, start, start + len(answer)),) if answer else (),
    )  # fmt: skip


@pytest.fixture
def asked():
    """Questions about six articles of four paragraphs, each with its own name."""
    return [
        example(10 * article + n, f"Mill {n}. It was named by owl {article} {n}, on the weir.",
                f"owl {article} {n}", f"train/{article}")
        for article in range(6)
        for n in range(4)
    ]  # fmt: skip


def test_paragraphs_that_share_a_sentence_are_one_group():
    given = [
        example(1, f"First. {SHARED}", "owl", "a"), example(2, f"{SHARED} Last.", "owl", "b"),
        example(3, "Another mill.", "mill", "b"), example(4, "A third mill.", "mill", "c"),
    ]  # fmt: skip
    groups = [e.group for e in prepare.joined(given)]
    assert groups[0] == groups[1] == groups[2] != groups[3]


def test_made_questions_lack_their_answer(asked):
    by_id = {e.id: e for e in asked}
    made = list(prepare.made(asked))
    assert 0 < len(made) < len(asked)
    for one in made:
        own = by_id[one.id.removesuffix("/made")]
        assert (one.answerable, one.answers, one.group) == (False, {}, own.group)
        assert not prepare.has_answer(one.passages[0], own)
        article = [e.passages[0] for e in asked if e.group == own.group]
        assert one.passages[0] in article


def test_an_answer_has_two_styles():
    known = example(1, f"It stood there. {SHARED} It fell.", "an owl")
    assert prepare.styled(known) == {"short": ("an owl",), "sentence": (SHARED,)}


def test_a_question_beside_three_paragraphs_knows_which_is_its_own(asked):
    by_id = {e.id: e for e in asked}
    for one in prepare.in_styles([*asked, example(99, "No owl is here.")]):
        own = by_id.get(one.id)
        assert len(one.passages) <= prepare.PASSAGES
        relevant = [p for p, is_own in zip(one.passages, one.relevance, strict=True) if is_own]
        assert relevant == ([own.passages[0]] if one.answerable else [])
        assert set(one.answers) == ({"short", "sentence"} if one.answerable else set())
        others = [p for p in one.passages if p not in relevant]
        assert own is None or not any(prepare.has_answer(p, own) for p in others)


def test_a_group_is_trained_on_or_held_out(asked, tmp_path):
    prepare.write_ids(tmp_path / "ids", asked)
    lists = {name: (tmp_path / "ids" / f"{name}.txt").read_text().split()
             for name in ("train", "validation", "test")}  # fmt: skip
    groups = {name: {e.group for e in asked if e.id in ids} for name, ids in lists.items()}
    assert not groups["train"] & groups["validation"]
    assert sorted(lists["train"] + lists["validation"]) == sorted(e.id for e in asked)

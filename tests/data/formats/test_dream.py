"""The DREAM reader: dialogues, choices, errors."""

from functools import partial

from tests.data.builders import assert_named_or_skipped, dream, write
from tfmrc.data import read_dream


def test_dialogues(tmp_path):
    examples = list(read_dream(write(tmp_path / "a.json", dream())))
    assert [example.id for example in examples] == ["5-1-1", "5-1-2", "5-2-1"]
    first, second, third = examples
    assert first.passages == ("M: Did you see the heron?\nW: Yes, it was asleep by the pond.",)
    assert second.passages == first.passages
    assert second.answers == {"dream": ("Sleeping.",)}
    assert (third.group, third.answerable, third.relevance) == ("5-2", True, None)


def test_long_dialogues_are_cut_between_turns(tmp_path):
    content = dream()[:1]
    content[0][0] = [f"{'MW'[n % 2]}: This is turn {n}." for n in range(8)]
    stream = read_dream(write(tmp_path / "a.json", content), passage_words=14, num_passages=10)
    example = next(iter(stream))
    turns = [passage.split("\n") for passage in example.passages]
    assert [part[0] for part in turns] == content[0][0][: len(turns)]
    assert {len(part) for part in turns} == {2}
    assert turns[-1][-1] == content[0][0][-1]
    cut = read_dream(write(tmp_path / "a.json", content), passage_words=14, num_passages=2)
    assert [len(example.passages) for example in cut] == [2, 2]
    assert cut.account.notes == {"dialogues too long for 2 passages of 14 words": 1}


def test_a_broken_question_is_named_or_skipped(tmp_path):
    content = dream()
    content[0][1][0].update(question="")
    read = partial(read_dream, write(tmp_path / "a.json", content))
    where = r"a\.json: dialogue '5-1', question 1: "
    assert_named_or_skipped(read, where, "question", ["5-1-2", "5-2-1"])

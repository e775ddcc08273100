"""Splits by group: disjoint, deterministic, independent of the order."""

import pytest

from tests.data.builders import squad, write
from tfmrc.data import Example, read_squad, split_by_group

EXAMPLES = [Example(str(n), "?", ("p",), group=f"g{n // 5}") for n in range(1000)]


def groups(examples):
    return {example.group for example in examples}


def test_no_group_is_on_both_sides_and_nothing_is_lost():
    rest, part = split_by_group(EXAMPLES, 0.25, seed=3)
    assert not groups(rest) & groups(part)
    assert sorted([*rest, *part], key=lambda e: int(e.id)) == EXAMPLES
    assert 0.15 < len(groups(part)) / 200 < 0.35


def test_the_split_does_not_depend_on_order_or_company():
    part = groups(split_by_group(EXAMPLES, 0.25)[1])
    assert groups(split_by_group(EXAMPLES[::-1], 0.25)[1]) == part
    assert groups(split_by_group(EXAMPLES[::7], 0.25)[1]) == part & groups(EXAMPLES[::7])
    assert groups(split_by_group(EXAMPLES, 0.5)[1]) > part
    assert groups(split_by_group(EXAMPLES, 0.25, seed=1)[1]) != part


def test_examples_without_a_group_go_by_their_only_passage_or_their_id():
    examples = [Example(str(n), "?", ("p",)) for n in range(100)]
    assert {len(list(part)) for part in split_by_group(examples, 0.5)} == {0, 100}
    _, part = split_by_group(examples, 0.5, key=lambda example: example.id)
    assert 20 < len(list(part)) < 80
    examples = [Example(str(n), "?", ("p", "q")) for n in range(100)]
    rest, part = split_by_group(examples, 0.5)
    assert 20 < len(list(part)) < 80
    assert len(list(rest)) + len(list(part)) == 100


def test_a_stream_stays_a_stream(tmp_path):
    content = squad()
    content["data"][0]["paragraphs"][0]["qas"][0]["question"] = ""
    stream = read_squad(write(tmp_path / "a.json", content), on_error="skip")
    rest, part = split_by_group(stream, 0.5)
    assert len(list(rest)) + len(list(part)) == len(list(rest)) + len(list(part)) == 3
    assert rest.skipped == part.skipped == 1


def test_what_cannot_be_split():
    with pytest.raises(ValueError, match="readable twice"):
        split_by_group(iter(EXAMPLES), 0.5)

"""Sentences and questions line by line."""

import gzip

import pytest

from tests.data.builders import write
from tfmrc.data import RecordError, read_pairs


def files(folder, passages, questions):
    result = folder / "src-dev.txt", folder / "tgt-dev.txt"
    for path, lines in zip(result, (passages, questions), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return result


def test_lines_belong_together_and_marks_are_marks(tmp_path):
    passage = "the `` mill '' -LRB- 1802 -rrb- burned -lrb ; x``y stays ."
    source, target = files(tmp_path, [passage, "a cat ."], ["what burned ?", "what ?"])
    first, second = read_pairs(source, target)
    assert first.passages == ('the " mill " ( 1802 ) burned -lrb ; x``y stays .',)
    assert (first.id, first.group) == ("src-dev-1", first.passages[0])
    assert (first.answers, first.spans, first.answerable) == ({}, (), None)
    assert (second.id, second.question) == ("src-dev-2", "what ?")
    packed = tmp_path / "src-dev.txt.gz"
    packed.write_bytes(gzip.compress(source.read_bytes(), mtime=0))
    assert [e.id for e in read_pairs(packed, target)] == ["src-dev-1", "src-dev-2"]


def test_what_does_not_belong_together_is_said(tmp_path):
    with pytest.raises(RecordError, match="line 2: one file has more lines"):
        list(read_pairs(*files(tmp_path, ["a .", "b ."], ["what ?"])))
    stream = read_pairs(
        *files(tmp_path, ["a .", "", "c ."], ["1 ?", "2 ?", "3 ?"]), on_error="skip"
    )
    assert [example.question for example in stream] == ["1 ?", "3 ?"]
    assert stream.account.skipped == 1


def test_a_carriage_return_within_a_line(tmp_path):
    """One in each file would give pairs of other lines."""
    passages = write(tmp_path / "src.txt", "an owl\rflew .\r\na cat slept .\n")
    questions = write(tmp_path / "tgt.txt", "what flew ?\nwhat\rslept ?\n")
    found = [(e.passages[0], e.question) for e in read_pairs(passages, questions)]
    assert found == [("an owl\rflew .", "what flew ?"), ("a cat slept .", "what\rslept ?")]

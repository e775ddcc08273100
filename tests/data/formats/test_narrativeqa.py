"""The NarrativeQA reader: two files, sets, passages, errors."""

from functools import partial

import pytest

from tests.data.builders import PLAIN, QAPS, SUMMARIES, assert_named_or_skipped, csv_text, write
from tfmrc.data import RecordError, read_narrativeqa


@pytest.fixture
def read(tmp_path):
    def reader(qaps=QAPS, summaries=SUMMARIES, suffix="", **arguments):
        return read_narrativeqa(
            write(tmp_path / f"qaps.csv{suffix}", qaps),
            write(tmp_path / f"summaries.csv{suffix}", summaries),
            **arguments,
        )

    return reader


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_both_files(read, suffix):
    stream = read(suffix=suffix)
    first, second, third = stream
    assert [e.id for e in (first, second, third)] == ["d1-1", "d2-1", "d1-2"]
    assert first.question == "Who built the mill?"
    assert first.answers == {"nqa": ("Anna Brandt", "Brandt, a miller")}
    assert third.answers == {"nqa": ("Twice",)}, "a blank second answer is left out"
    assert first.passages == third.passages == ("Anna Brandt built a mill. It burned twice.",)
    assert second.passages == ('The mill stood by a pond.\nOne night it "burned".',)
    assert (second.group, second.answerable, second.relevance) == ("d2", True, None)
    assert list(stream) == [first, second, third]


def test_a_split(read):
    stream = read(split="train", style="short")
    assert [example.answers["short"][0] for example in stream] == ["Anna Brandt", "Twice"]
    assert stream.account.notes == {"questions of other splits": 1}
    with pytest.raises(RecordError, match="contains no question of this split"):
        list(read(split="dev"))


def test_tokenized_columns(read):
    first = next(iter(read(tokenized=True)))
    assert first.question == "who built the mill ?"
    assert first.passages == ("anna brandt built a mill . it burned twice .",)


def test_the_report_says_which_summaries_are_cut(read):
    stream = read(passage_words=6, num_passages=1)
    first, *_ = stream
    assert first.passages == ("Anna Brandt built a mill.",)
    assert stream.account.notes == {"summaries too long for 1 passages of 6 words": 2}


CASES = {"question": ("What burned?", "  "), "document_id": ("d2,valid,What", "d9,valid,What")}


@pytest.mark.parametrize("field", CASES)
def test_a_broken_row_is_named_or_skipped(read, field):
    qaps = QAPS.replace(*CASES[field], 1)
    assert_named_or_skipped(partial(read, qaps), r"qaps\.csv: line 3: ", field, ["d1-1", "d1-2"])


def test_a_summary_longer_than_the_csv_module_accepts_by_itself(tmp_path):
    sentence = "The owl flew over the mill again. "
    summary = sentence * 6_000
    assert len(summary) > 131_072
    rows = [("document_id", "set", "summary"), ("d1", "train", summary)]
    summaries = write(tmp_path / "s.csv", csv_text(rows))
    rows = [("document_id", "set", *PLAIN), ("d1", "train", "Who flew?", "The owl", "An owl")]
    [example] = read_narrativeqa(write(tmp_path / "q.csv", csv_text(rows)), summaries)
    assert len(example.passages) == 10 and example.passages[0].startswith("The owl flew")


def test_the_passages_that_are_nearest_to_the_question(read):
    summary = "The owl flew. Anna built a mill. It rained all day. The mill burned twice."
    summaries = csv_text([("document_id", "set", "summary"), ("d1", "train", summary)])
    questions = ("Who built the mill?", "When did it rain all day?")
    rows = [("d1", "train", question, "Anna", "") for question in questions]
    qaps = csv_text([("document_id", "set", *PLAIN), *rows])
    stream = read(qaps, summaries, passage_words=6, nearest=True, num_passages=2)
    found = [example.passages for example in stream]
    assert found[0] == ("Anna built a mill.", "The mill burned twice.")
    assert "It rained all day." in found[1] and len(found[1]) == 2
    assert not stream.account.notes
    whole = read(qaps, summaries, passage_words=6, nearest=True)
    assert [" ".join(example.passages) for example in whole] == [summary] * 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("One night", "\0", "line 2: the file ends too early"),
        ("The mill", "\xff", "text: not UTF-8 .*save it as UTF-8"),
    ],
)
def test_broken_files(read, old, new, message):
    summaries = SUMMARIES.replace(old, new, 1)
    if new == "\0":
        summaries = summaries[: summaries.index(new)]
    stream = read(summaries=summaries.encode("latin-1"), on_error="skip")
    with pytest.raises(RecordError, match=rf"summaries\.csv: .*{message}"):
        list(stream)

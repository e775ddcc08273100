"""The NarrativeQA reader: two files, sets, passages, errors."""

import pytest

from tests.data.builders import PLAIN, QAPS, SUMMARIES, csv_text, write
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
    assert stream.report.notes == {"questions of other splits": 1}
    with pytest.raises(ValueError, match="Received: split='dev'"):
        read(split="dev")


def test_tokenized_columns(read):
    first = next(iter(read(tokenized=True)))
    assert first.question == "who built the mill ?"
    assert first.passages == ("anna brandt built a mill . it burned twice .",)


def test_the_report_says_which_summaries_are_cut(read):
    stream = read(passage_words=6, num_passages=1)
    first, *_ = stream
    assert first.passages == ("Anna Brandt built a mill.",)
    assert stream.report.notes == {"summaries too long for 1 passages of 6 words": 2}


@pytest.mark.parametrize("change", [b"\xef\xbb\xbf", b"\r\n"])
def test_bom_and_crlf(read, change):
    qaps, summaries = QAPS.encode(), SUMMARIES.encode()
    if change == b"\r\n":
        examples = list(read(qaps.replace(b"\n", change), summaries.replace(b"\n", change)))
    else:
        examples = list(read(change + qaps, change + summaries))
    assert [e.id for e in examples] == ["d1-1", "d2-1", "d1-2"]
    assert examples[0].passages == ("Anna Brandt built a mill. It burned twice.",)


CASES = {
    "question": ("What burned?", "  "),
    "answer1": ("The mill,the mill!", " ,"),
    "document_id": ("d2,valid,What", "d9,valid,What"),
    None: ("valid,What", "What"),
}


@pytest.mark.parametrize("field", CASES)
def test_a_broken_row_is_named_or_skipped(read, field):
    qaps = QAPS.replace(*CASES[field], 1)
    with pytest.raises(RecordError, match=r"qaps\.csv: line 3: ") as caught:
        list(read(qaps))
    assert caught.value.field == field
    stream = read(qaps, on_error="skip")
    assert [example.group for example in stream] == ["d1", "d1"]
    assert stream.skipped == 1


def test_a_blank_summary(read):
    summaries = SUMMARIES.replace("Anna Brandt built a mill. It burned twice.", " ")
    with pytest.raises(
        RecordError, match=r"summaries\.csv: document 'd1': summary: must not be blank"
    ):
        list(read(summaries=summaries))
    stream = read(summaries=summaries, on_error="skip")
    assert [example.group for example in stream] == ["d2"]
    assert stream.skipped == 2


def test_a_first_question_without_a_document(read):
    qaps = QAPS.replace("d1,train", ",train", 1)
    with pytest.raises(RecordError, match=r"document_id: has no summary in .*Received: ''"):
        list(read(qaps))
    stream = read(qaps, on_error="skip")
    assert [example.id for example in stream] == ["d2-1", "d1-1"] and stream.skipped == 1


def test_a_summary_twice(read):
    summaries = SUMMARIES + 'd1,train,"Another one.","another one ."\n'
    with pytest.raises(RecordError, match="line 5: document_id: occurs twice"):
        list(read(summaries=summaries))
    assert next(iter(read(summaries=summaries, on_error="skip"))).passages[0].startswith("Anna")


@pytest.mark.parametrize("column", PLAIN)
def test_a_missing_column(read, column):
    with pytest.raises(RecordError, match=f"header: {column}: the column is missing"):
        list(read(QAPS.replace(column + ",", "other,", 1), on_error="skip"))


@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_a_file_that_ends_in_a_quotation(read, policy):
    cut = SUMMARIES[: SUMMARIES.index("One night")]
    with pytest.raises(RecordError, match=r"summaries\.csv: line 2: the file ends too early"):
        list(read(summaries=cut, on_error=policy))


def test_damaged_quotation_marks(read):
    qaps = csv_text([("document_id", "set", *PLAIN)]) + 'd1,train,"Who"?,a,b\nd1,train,Who?,a,b\n'
    with pytest.raises(RecordError, match="line 2: not CSV"):
        list(read(qaps))
    stream = read(qaps, on_error="skip")
    assert [example.question for example in stream] == ["Who?"]
    assert stream.skipped == 1


def test_empty_and_wrongly_encoded_files(read):
    with pytest.raises(RecordError, match="the file is empty"):
        list(read(qaps=""))
    with pytest.raises(RecordError, match="line 3: the text is not UTF-8"):
        list(read(qaps=QAPS.encode().replace(b"What burned?", b"\xffhat burned?")))


def test_a_summary_longer_than_the_csv_module_accepts_by_itself(tmp_path):
    sentence = "The owl flew over the mill again. "
    summary = sentence * 6_000
    assert len(summary) > 131_072
    rows = [("document_id", "set", "summary"), ("d1", "train", summary)]
    summaries = write(tmp_path / "s.csv", csv_text(rows))
    rows = [("document_id", "set", *PLAIN), ("d1", "train", "Who flew?", "The owl", "An owl")]
    [example] = read_narrativeqa(write(tmp_path / "q.csv", csv_text(rows)), summaries)
    assert len(example.passages) == 10 and example.passages[0].startswith("The owl flew")


@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_a_file_without_questions(tmp_path, policy):
    summaries = write(tmp_path / "s.csv", SUMMARIES)
    empty = write(tmp_path / "q.csv", csv_text([("document_id", "set", *PLAIN)]))
    with pytest.raises(RecordError, match="contains no question"):
        list(read_narrativeqa(empty, summaries, on_error=policy))


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
    assert not stream.report.notes
    whole = read(qaps, summaries, passage_words=6, nearest=True)
    assert [" ".join(example.passages) for example in whole] == [summary] * 2


def test_a_first_line_without_a_column(tmp_path):
    qaps = write(tmp_path / "qaps.csv", "\n" + QAPS)
    with pytest.raises(RecordError, match=r"qaps.csv.*header: document_id: the column is missing"):
        list(read_narrativeqa(qaps, write(tmp_path / "summaries.csv", SUMMARIES)))


def test_a_column_without_a_name(tmp_path):
    """As pandas writes the numbers of the rows."""
    rows = [("", "document_id", "set", "summary"), ("0", "d1", "train", "An owl flew.")]
    summaries = write(tmp_path / "s.csv", csv_text(rows))
    rows = [("", "document_id", "set", *PLAIN), ("0", "d1", "train", "Who flew?", "An owl", "")]
    [example] = read_narrativeqa(write(tmp_path / "q.csv", csv_text(rows)), summaries)
    assert example.passages == ("An owl flew.",)

"""A user's own table gives the same examples in every form, and clear errors."""

import codecs
import csv
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
from pyarrow import parquet

from tfmrc.data import Example, RecordError, Span, read_table

ROWS = [
    {"id": "a", "question": "Who flew?", "context": "An owl flew.", "answer": "An owl",
     "answer_start": 0, "title": "Owls"},
    {"id": "b", "question": "Who slept, and where?", "context": 'The "cat" slept\nat home.',
     "answer": '"cat"', "answer_start": 4, "title": "Cats"},
    {"id": "c", "question": "Wer schläft?", "context": "Niemand.", "answer": None,
     "answer_start": None, "title": "Owls"},
]  # fmt: skip
EXAMPLES = [
    Example(
        "a", "Who flew?", ("An owl flew.",), {"span": ("An owl",)},
        answerable=True, spans=(Span(0, 0, 6),), group="Owls",
    ),
    Example(
        "b", "Who slept, and where?", ('The "cat" slept\nat home.',), {"span": ('"cat"',)},
        answerable=True, spans=(Span(0, 4, 9),), group="Cats",
    ),
    Example("c", "Wer schläft?", ("Niemand.",), group="Owls"),
]  # fmt: skip


def write(path: Path) -> Path:
    """The rows in the form that the path's ending names."""
    frame = pandas.DataFrame(ROWS)
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    if kind in ("csv", "tsv"):
        text = frame.to_csv(index=False, sep="," if kind == "csv" else "\t")
    elif path.name == "columns.json":
        text = json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}, indent=2)
    elif path.name == "data.json":
        text = json.dumps({"version": 1, "data": ROWS})
    elif kind == "json":
        text = json.dumps(ROWS, indent=2)
    else:
        text = "".join(json.dumps(row) + "\n" for row in ROWS)
    if kind == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "name", "t.csv t.tsv t.json data.json columns.json t.jsonl t.parquet t.xlsx t.csv.gz".split()
)
def test_every_form_gives_the_same_examples_in_every_pass(tmp_path, name):
    stream = read_table(write(tmp_path / name))
    assert list(stream) == EXAMPLES
    assert list(stream) == EXAMPLES
    assert stream.account.read == 3


def test_frames_and_lists_are_read_like_files():
    assert list(read_table(ROWS)) == EXAMPLES
    assert list(read_table(pandas.DataFrame(ROWS))) == EXAMPLES
    nullable = pandas.DataFrame(ROWS).convert_dtypes()
    assert list(read_table(nullable)) == EXAMPLES


def test_hugging_face_rows_of_squad():
    rows = [
        {"id": "1", "title": "Owls", "context": "An owl flew.", "question": "Who?",
         "answers": {"text": ["An owl", "owl"], "answer_start": [0, 3]}},
        {"id": "2", "title": "Owls", "context": "An owl flew.", "question": "Why?",
         "answers": {"text": [], "answer_start": []}},
    ]  # fmt: skip
    first, second = read_table(iter(rows))
    assert first.answers == {"span": ("An owl", "owl")}
    assert first.spans == (Span(0, 0, 6), Span(0, 3, 6))
    assert second.answers == {} and second.answerable is False


def test_columns_are_mapped_by_name_and_may_be_several():
    rows = [
        {"Frage": "Wer?", "Text1": "Ein Uhu.", "Text2": "Ein Kater.", "A1": "Uhu", "A2": "ein Uhu",
         "hilft1": "ja", "nr": 7},
        {"Frage": "Wo?", "Text1": "Hier.", "Text2": None, "A1": "hier", "A2": float("nan"),
         "hilft1": "ja", "nr": 8},
    ]  # fmt: skip
    columns = {
        "question": "Frage",
        "passages": ["Text1", "Text2"],
        "answers": ("A1", "A2"),
        "id": "nr",
    }
    first, second = read_table(rows, columns=columns, style="kurz")
    assert first.passages == ("Ein Uhu.", "Ein Kater.")
    assert first.answers == {"kurz": ("Uhu", "ein Uhu")}
    assert (first.id, second.id) == ("7", "8")
    assert second.passages == ("Hier.",) and second.answers == {"kurz": ("hier",)}


def test_rows_of_json_may_leave_a_named_column_out():
    rows = [{"Frage": "Wer?", "T1": "Uhu", "T2": "Kater"}, {"Frage": "Wo?", "T1": "Hier"}]
    columns = {"question": "Frage", "passages": ["T1", "T2"]}
    assert [e.passages for e in read_table(rows, columns=columns)] == [("Uhu", "Kater"), ("Hier",)]


def test_a_style_may_have_a_column_of_its_own():
    rows = [
        {"query": "Who?", "text": "An owl.", "kurz": "owl", "lang": ["An owl.", "It was an owl."]},
        {"query": "Why?", "text": "An owl.", "kurz": "owl", "lang": None},
        {"query": "When?", "text": "An owl.", "kurz": " ", "lang": None},
    ]
    first, second, third = read_table(rows, columns={"answers": {"short": "kurz", "text": "lang"}})
    assert first.answers == {"short": ("owl",), "text": ("An owl.", "It was an owl.")}
    assert second.answers == {"short": ("owl",)} and second.answerable is True
    assert third.answers == {} and third.answerable is None


def test_columns_that_a_table_may_lack():
    """A file without labels, or with the recognised names, is read with the columns of another."""
    columns = {"question": "Frage", "passages": ["T1", "T2"], "answers": "Antwort"}
    own = [{"Frage": "Wer?", "T1": "Ein Uhu.", "T2": "Eine Katze."}]
    [example] = read_table(own, columns=columns, columns_optional=True)
    assert (example.question, example.passages) == ("Wer?", ("Ein Uhu.", "Eine Katze."))
    assert example.answers == {}
    assert list(read_table(ROWS, columns=columns, columns_optional=True)) == EXAMPLES


def test_rows_of_json_may_have_other_columns_than_the_first():
    """An answer, its position and a passage of another name are of the row that has them."""
    rows = [
        {"id": "c", "question": "Wer schläft?", "text": "Niemand.", "article": "Owls"},
        {"id": "a", "question": "Who flew?", "context": "An owl flew.", "answer": "An owl",
         "answer_start": 0, "title": "Owls"},
    ]  # fmt: skip
    expected = [EXAMPLES[2], EXAMPLES[0]]
    assert list(read_table(rows)) == expected


def test_a_document_is_a_group_beside_a_passage_and_a_passage_otherwise():
    row = {"question": "Who flew?", "document": "Owls", "text": "An owl flew."}
    [example] = read_table([row])
    assert (example.passages, example.group) == (("An owl flew.",), "Owls")
    [example] = read_table([{"question": "Who flew?", "document": "An owl flew."}])
    assert (example.passages, example.group) == (("An owl flew.",), None)


def test_a_flag_of_relevance_is_of_the_passage_beside_it():
    columns = {"passages": ["p1", "p2", "p3"], "relevance": ["r1", "r2", "r3"]}
    row = {"question": "Who flew?", "p1": "", "p2": "An owl flew.", "p3": "A cat.",
           "r1": "0", "r2": "1", "r3": "0"}  # fmt: skip
    [example] = read_table([row], columns=columns)
    assert (example.passages, example.relevance) == (("An owl flew.", "A cat."), (True, False))
    [unknown] = read_table([{**row, "r1": "1", "r2": "", "r3": None}], columns=columns)
    assert unknown.relevance is None


AROUND = "x [sic] an owl, {x} ['q', 'r']"


@pytest.mark.parametrize(
    ("cell", "texts", "starts"),
    [
        ({"text": ["An owl", "owl"], "answer_start": [0, 3]}, ("An owl", "owl"), [0, 3]),
        (json.dumps({"text": ["An owl"], "answer_start": [0]}), ("An owl",), [0]),
        (["An owl", "it's"], ("An owl", "it's"), []),
        (np.array(["An owl"], object), ("An owl",), []),
        (json.dumps(["An owl"]), ("An owl",), []),
        ("[sic] an owl", ("[sic] an owl",), []),
        ("['q', 'r']", ("['q', 'r']",), []),
        (1912, ("1912",), []),
        (json.dumps([{"start": 3, "end": 6, "text": "owl", "labels": ["A"]}]), ("owl",), [3]),
    ],
    ids=str,
)
def test_lists_and_dicts_that_a_cell_holds_as_text(tmp_path, cell, texts, starts):
    row = {"question": "Who?", "context": f"An owl flew. {AROUND}", "answers": cell}
    frame = pandas.DataFrame([row])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for source in (tmp_path / "rows.csv", pandas.read_csv(tmp_path / "rows.csv"), frame, [row]):
        [example] = read_table(source)
        assert example.answers == {"span": texts} and example.answerable
        assert [span.start for span in example.spans] == starts


def test_an_empty_list_that_a_cell_holds_as_text_is_no_answer(tmp_path):
    for cell in ([], {"text": [], "answer_start": []}):
        frame = pandas.DataFrame([{"question": "Who?", "context": "Nobody.", "answers": cell}])
        frame.to_csv(tmp_path / "rows.csv", index=False)
        [example] = read_table(tmp_path / "rows.csv")
        assert (example.answers, example.answerable) == ({}, False)


def test_other_fields_that_a_cell_holds_as_text(tmp_path):
    row = {
        "question": "Who?",
        "passages": ["An owl flew.", "A cat slept."],
        "answers": {"short": ["owl"], "long": ["An owl"]},
        "spans": [[0, 3, 6]],
        "relevance": [True, False],
    }
    pandas.DataFrame([{**row, "id": 1}]).to_csv(tmp_path / "rows.csv", index=False)
    assert list(read_table(tmp_path / "rows.csv")) == list(read_table([row]))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (np.array(["An owl", "owl"], object), "answers: the cell holds an array as NumPy"),
        (["An owl", None], "reads numbers as texts). Received: ['An owl', None]"),
    ],
)
def test_lists_that_a_cell_holds_in_part_are_refused(tmp_path, cell, message):
    frame = pandas.DataFrame([{"question": "Who?", "context": "An owl flew.", "answers": cell}])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(RecordError, match=re.escape(message)):
        list(read_table(tmp_path / "rows.csv"))


def test_a_number_with_a_point_is_refused_with_what_to_do():
    frame = pandas.DataFrame(
        [{"question": "When?", "context": "In 1912.", "answer": each} for each in (1912, None)]
    )
    with pytest.raises(RecordError, match="dtype=str"):
        list(read_table(frame))


def test_is_impossible_is_the_opposite_of_answerable():
    row = {"question": "Who?", "context": "Nobody.", "is_impossible": True}
    [example] = read_table([row])
    assert example.answerable is False
    with pytest.raises(RecordError, match="contradicts `is_impossible`"):
        list(read_table([row | {"answerable": True}]))


def test_lists_flags_and_relevance():
    rows = [
        {"question": "Who?", "passages": ["An owl.", "A cat."], "answers": ["owl"],
         "relevance": [1, 0], "answerable": "yes"},
        {"question": "Why?", "passages": ["An owl.", "A cat."], "answers": [],
         "relevance": [False, False], "answerable": 0.0},
    ]  # fmt: skip
    first, second = read_table(rows)
    assert first.relevance == (True, False) and first.answerable is True
    assert second.relevance == (False, False) and second.answerable is False
    assert (first.id, second.id) == ("1", "2")  # by default the numbers of the rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"question": "Who?"}], ">: columns: the table has no column pass.* \\(it has question"),
        ([{"question": "", "context": "a"}], "row 1: question: must be text. Received: nothing"),
        (
            [{"question": "Who?", "context": "Owl, owl.", "answer": "wl", "answer_start": 0}],
            "answer_start: the answer does not begin there, and is not exactly once in the passage",
        ),
        (
            [{"question": "Who?", "passages": ["a", "b"], "answer": "a", "answer_start": 0}],
            "1 numbers, 1 answers, 2 passages",
        ),
        (
            [{"question": "Who?", "context": "a", "answer": "a", "answerable": False}],
            "must be empty for an unanswerable question",
        ),
        ([{"question": "Who?", "context": " "}], "row 1: context: must have a passage"),
        (
            [{"id": 1, "question": "Who?", "context": "a"}] * 2,
            "row 2: id: occurs twice. Received: '1'",
        ),
    ],
)
def test_what_is_wrong_is_said_with_row_and_column(rows, message):
    with pytest.raises(RecordError, match=message):
        list(read_table(rows))


def test_broken_rows_are_skipped_and_counted_if_wanted():
    rows = [ROWS[0], {**ROWS[0], "id": "d", "answer": "w", "answer_start": 1}, *ROWS[1:]]
    stream = read_table(rows, on_error="skip")
    assert list(stream) == EXAMPLES
    assert stream.account.skipped == 1 and "answer_start=1" in str(stream.account.errors[0])
    assert [record.id for record in stream.records()] == ["a", "d", "b", "c"]


@pytest.mark.parametrize("name", ["t.csv", "t.xlsx", "t.parquet", "t.json", "t.jsonl"])
def test_blank_missing_and_numbered_rows_are_alike_in_every_form(tmp_path, name, monkeypatch):
    """A row in which nothing stands is left out; one without a question or passage is broken."""
    texts = [("Who?", "Owl"), (None, "Owl"), (None, None), ("Why?", None), ("When?", "Owl")]
    rows = [{"question": question, "context": context} for question, context in texts]
    monkeypatch.setattr("tests.data.formats.test_tables.ROWS", rows)
    stream = read_table(write(tmp_path / name), on_error="skip")
    stream.labels = "none"
    first = 2 if name in ("t.csv", "t.xlsx") else 1  # below the header
    assert [record.id for record in stream.records()] == [
        f"{name}:{first + number}" for number in (0, 1, 3, 4)
    ]
    assert [example.question for example in stream] == ["Who?", "When?"]
    assert [error.field for error in stream.account.errors] == ["question", "context"]


def test_marks_between_tabs_that_quote_nothing_swallow_no_rows(tmp_path):
    rows = [
        "question\tpassage\tanswer",
        'How high?\t"Tall Tom is 11 feet high.\t11 feet',
        'How wide?\tBoard "one" is 20" wide.\t20"',
        'Who?\t"An owl, ""Éa"".\nIt\tflew."\towl',
        'What?\tAn owl.\t"An\nowl"',
        'When?\tIn May.\t"May',
    ]
    (tmp_path / "t.tsv").write_text("\n".join(rows))
    read = {e.question: (*e.passages, *e.answers["span"]) for e in read_table(tmp_path / "t.tsv")}
    assert read == {
        "How high?": ('"Tall Tom is 11 feet high.', "11 feet"),
        "How wide?": ('Board "one" is 20" wide.', '20"'),
        "Who?": ('An owl, "Éa".\nIt\tflew.', "owl"),
        "What?": ("An owl.", "An\nowl"),
        "When?": ("In May.", '"May'),
    }


def test_a_blank_cell_says_that_there_is_no_answer_if_wanted():
    stream = read_table(ROWS, blank_answers="none")
    assert [example.answerable for example in stream] == [True, True, False]
    assert stream.account.notes == {"blank answers, read as no answer": 1}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"question,context\nWho?,\"An owl", "the file ends too early"),
        ("t.csv", b"question,context\nWho?\n", "line 2: must have 2 values. Received: 1"),
        ("t.json", b'[{"question": "Who?", "context": "a"}', "the file ends too early"),
        ("t.json", b'{"question": ["a", "b"], "context": ["a"]}', "columns differ in their rows"),
        ("t.xlsx", b"question,context", "not an Excel file"),
        ("t.csv.gz", gzip.compress(b"question\nWho?\n" * 9, mtime=0)[:-9], "damaged or cut short"),
    ],
)  # fmt: skip
def test_damaged_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RecordError, match=message):
        list(read_table(path))


@pytest.mark.parametrize(
    ("start", "mark", "pack"),
    [
        (codecs.BOM_UTF8, ";", bytes),
        (codecs.BOM_UTF8, "\t", gzip.compress),
        (codecs.BOM_UTF8 + b"sep=;\r\n", ";", bytes),
        (b"sep=|\r\n", "|", bytes),
    ],
)
def test_a_csv_file_of_other_separators(tmp_path, start, mark, pack):
    """Spreadsheets of many countries write semicolons; the header decides, or a line for Excel."""
    text = pandas.DataFrame(ROWS).to_csv(index=False, sep=mark)
    (tmp_path / "t.csv").write_bytes(pack(start + text.encode()))
    assert list(read_table(tmp_path / "t.csv")) == EXAMPLES


def test_what_spreadsheets_write(tmp_path):
    """Capitals and spaces in names, columns without a name, blank rows."""
    path = tmp_path / "t.csv"
    path.write_text(
        "Question, Context,ANSWER,,\nWho?,An owl.,owl,,\n,,,,\n , ,,,\nWhy?,A cat.,,,\n"
    )
    first, second = read_table(path)
    assert (first.question, first.passages, first.answers) == (
        "Who?", ("An owl.",), {"span": ("owl",)}
    )  # fmt: skip
    assert (second.passages, second.answers) == (("A cat.",), {})
    path.write_text("question,Question,context\nWho?,Why?,An owl.\n")
    assert next(iter(read_table(path))).question == "Who?"  # the exact name first


def test_a_mark_before_quoted_names_and_old_line_ends(tmp_path):
    """PowerShell writes a byte order mark and quotation marks around all names."""
    path = tmp_path / "t.csv"
    text = pandas.DataFrame(ROWS).to_csv(index=False, quoting=csv.QUOTE_ALL)
    path.write_bytes(text.encode("utf-8-sig"))
    assert list(read_table(path)) == EXAMPLES
    path.write_bytes(b'question,context\rWho?,An owl.\rWhy?,"A\rcat."\r')
    assert [e.passages for e in read_table(path)] == [("An owl.",), ("A\rcat.",)]

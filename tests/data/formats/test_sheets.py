"""Excel files: what the sheet shows is what is read."""

import zipfile
from datetime import datetime, time

import pytest
from openpyxl import Workbook

from tfmrc.data import RecordError, read_table
from tfmrc.data.formats.sheets import save_sheet, sheet_rows

HEADER = ["id", "question", "passage", "answer"]
ROWS = [[n, "Who built it?", f"Mill {n} was built by Ada Holm.", "Ada Holm"] for n in range(5)]


def sheet(path, rows, change=lambda sheet: None):
    book = Workbook()
    for row in [HEADER, *rows]:
        book.active.append(row)
    change(book.active)
    book.save(path)
    return path


@pytest.mark.parametrize(
    ("value", "form", "shown"),
    [
        (7, "000", "007"),
        (0.5, "0%", "50%"),
        (0.125, "0.0%", "12.5%"),
        (12500, "#,##0", "12,500"),
        (-3.5, "0.00", "-3.50"),
        (-3.5, "0.00;(0.00)", "(3.50)"),
        (3.5, '"EUR" 0.0#', "EUR 3.5"),
        (2, "[$€-407] 0.00", "€ 2.00"),
        (1817, "General", "1817"),
        (0.1 + 0.2, "General", "0.3"),
        (True, "General", "TRUE"),
        (datetime(2020, 1, 5), "dd.mm.yyyy", "05.01.2020"),
        (datetime(2020, 1, 5), "d mmmm yyyy", "5 January 2020"),
        (datetime(2020, 1, 5, 15, 4), "m/d/yy h:mm", "1/5/20 15:04"),
        (time(9, 30), "h:mm AM/PM", "9:30 AM"),
        (time(9, 30, 5), "hh:mm:ss", "09:30:05"),
    ],
)
def test_a_formatted_cell_is_the_text_that_the_sheet_shows(tmp_path, value, form, shown):
    def format_cell(sheet):
        sheet["D2"].number_format = form

    path = sheet(tmp_path / "a.xlsx", [["1", "What?", "Some text.", value]], format_cell)
    [example] = read_table(path)
    assert example.answers == {"span": (shown,)}


def test_every_row_of_a_merged_passage_has_it(tmp_path):
    rows = [[*row[:2], row[2] if n == 0 else None, row[3]] for n, row in enumerate(ROWS)]
    path = sheet(tmp_path / "a.xlsx", rows, lambda sheet: sheet.merge_cells("C2:C6"))
    assert [example.passages for example in read_table(path)] == [(ROWS[0][2],)] * 5


@pytest.mark.parametrize("stated", ["A1", "A1:B99"])
def test_all_rows_of_a_sheet_that_states_a_wrong_size_are_read(tmp_path, stated):
    path, wrong = sheet(tmp_path / "a.xlsx", ROWS), tmp_path / "wrong.xlsx"
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(wrong, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'ref="A1:D6"', f'ref="{stated}"'.encode()))
    assert [example.id for example in read_table(wrong)] == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("value", "said"),
    [("#N/A", "answer: the error value #N/A"), ("=1810+7", "answer: a formula without a value")],
)
def test_a_cell_without_a_text_is_named_where_it_is_needed(tmp_path, value, said):
    path = sheet(tmp_path / "a.xlsx", [*ROWS[:1], [*ROWS[1][:3], value]])
    with pytest.raises(RecordError, match=f"row 3: {said}"):
        list(read_table(path))
    stream = read_table(path)
    stream.labels = "none"
    assert [example.id for example in stream] == ["0", "1"]


def test_control_characters_and_long_texts_are_written(tmp_path, capsys):
    texts = ["a\vb\fc", "=A1", "First.\r\nSecond.", "x" * 40_000]
    save_sheet(tmp_path / "a.xlsx", [["text"], *([text] for text in texts)])
    shown = [row["text"] for _, row in sheet_rows(tmp_path / "a.xlsx")]
    assert [text.replace("\r", "") for text in shown[:3]] == ["a\vb\fc", "=A1", "First.\nSecond."]
    assert len(shown[3]) == 32_767
    assert "1 texts are cut at 32,767 characters" in capsys.readouterr().err


def test_the_escape_of_a_carriage_return_is_one(tmp_path):
    path = sheet(tmp_path / "a.xlsx", [["1", "Who?", "First._x000D_\nAda Holm.", "Ada Holm"]])
    assert next(iter(read_table(path))).passages == ("First.\r\nAda Holm.",)

"""Excel files: the texts that a sheet shows, read and written with openpyxl."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from os import PathLike
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from tfmrc.data.formats.csv_rows import named_cells
from tfmrc.data.formats.fields import RecordLocation
from tfmrc.data.stream import RecordError
from tfmrc.utils.optional import optional_import
from tfmrc.utils.progress import Progress

if TYPE_CHECKING:
    from openpyxl.cell import Cell

LONGEST = 32_767
"""Most characters of a cell in Excel."""

_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")  # a character, such as _x000D_
_CALCULATE = "a formula without a value; open the file in a spreadsheet program and save it"


def sheet_rows(path: str | PathLike[str]) -> Iterator[tuple[RecordLocation, dict[str, Any]]]:
    """Yields the rows of the first sheet as the texts that it shows; blank cells are None.

    Every cell of a merged range has the range's text. An error value (`#N/A`), or a formula that
    no program has computed, is a `RecordError` in the place of its text.

    Raises:
        RecordError: The file is not an Excel file, or a column occurs twice.
    """
    with optional_import("tfmrc[excel]"):
        from openpyxl import load_workbook
    try:
        sheet = load_workbook(path, data_only=True).worksheets[0]
        formulas = load_workbook(path, read_only=True).worksheets[0]
    except (BadZipFile, KeyError) as error:
        raise RecordError(f"not an Excel file ({error})", path=path, record="file") from error
    formulas.reset_dimensions()  # those that the file states may be wrong
    merged = {}
    for area in sheet.merged_cells.ranges:
        first = sheet.cell(area.min_row, area.min_col)
        merged.update(dict.fromkeys(area.cells, first))
    header = [_shown(cell) for cell in next(sheet.iter_rows(max_row=1), ())]
    names = [text or "" for text in header]
    progress = Progress(f"reading {path}", sheet.max_row, "rows")
    pairs = zip(sheet.iter_rows(), formulas.iter_rows(), strict=False)
    for number, (cells, sources) in enumerate(pairs, 1):
        progress.update(number)
        location = RecordLocation(path, f"row {number}", number)
        row: list[Any] = [_shown(merged.get((cell.row, cell.column), cell)) for cell in cells]
        for place, (cell, source) in enumerate(zip(cells, sources, strict=False)):
            if cell.data_type == "e":
                row[place] = location.error(f"the error value {cell.value}", names[place])
            elif row[place] is None and source.data_type == "f":
                row[place] = location.error(_CALCULATE, names[place])
        if number > 1:
            yield location, named_cells(names, row, RecordLocation(path, "header"))


def _shown(cell: "Cell") -> str | None:
    """Returns the text that a sheet shows for a cell."""
    value = cell.value
    if value is None:
        return None
    if isinstance(value, str):
        return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), value)
    if isinstance(value, bool):
        return str(value).upper()
    is_number = isinstance(value, int | float)
    return (_number if is_number else _date)(value, cell.number_format)


def _number(value: float, form: str) -> str:
    """Returns a number in the format of its cell.

    >>> [_number(*given) for given in ((7, "000"), (0.5, "0%"), (12500, "#,##0"), (3.5, "0.00 €"))]
    ['007', '50%', '12,500', '3.50 €']
    """
    sections = form.split(";")
    section = sections[1 if value < 0 and len(sections) > 1 else 0]
    section = re.sub(r'\[\$([^-\]]*)[^\]]*\]|\[[^\]]*\]|"([^"]*)"|\\(.)|[_*].', r"\1\2\3", section)
    digits = re.search(r"([#0?,]*[#0?])(?:\.([#0?]*))?", section)
    if digits is None or re.search(r"E[+-]|[?#]/", section):
        return f"{value:.11g}" if form == "General" else str(value)
    whole, places = digits[1], digits[2] or ""
    text = f"{abs(value) * (100 if '%' in section else 1):,.{len(places)}f}"
    text = text if "," in whole else text.replace(",", "")
    before, point, after = text.partition(".")
    while after and places[len(after) - 1] != "0" and after[-1] == "0":
        after = after[:-1]
    before = before.zfill(whole.count("0")) if "," not in whole else before
    sign = "-" if value < 0 and len(sections) == 1 else ""
    shown = sign + before + point * bool(after) + after
    return section[: digits.start()] + shown + section[digits.end() :]


_DATE = {
    "yyyy": "%Y", "yy": "%y", "mmmm": "%B", "mmm": "%b", "dddd": "%A", "ddd": "%a", "am/pm": "%p",
}  # fmt: skip


def _date(value: Any, form: str) -> str:
    """Returns a date or time in the format of its cell.

    >>> _date(datetime(2020, 1, 5, 9, 30), "dd.mm.yyyy h:mm")
    '05.01.2020 9:30'
    """
    if isinstance(value, timedelta):
        return str(value)
    if isinstance(value, time):
        value = datetime.combine(datetime(1900, 1, 1), value)
    form = re.sub(r'\[[^\]]*\]|"([^"]*)"|\\(.)|;.*', r"\1\2", form)
    form = "m/d/yyyy" if form == "mm-dd-yy" else form  # Excel's own short date
    tokens = re.findall(r"am/pm|y+|m+|d+|h+|s+|[^ymdhs]", form, re.IGNORECASE)
    hour = (value.hour - 1) % 12 + 1 if "am/pm" in form.lower() else value.hour
    first = value.month if re.search("[yd]", form, re.IGNORECASE) else value.minute
    numbers = {"h": hour, "m": first, "d": value.day, "s": value.second}
    texts = []
    for token in tokens:
        name = token.lower()
        if name[0] == "h":
            numbers["m"] = value.minute  # after an hour, `m` is a minute
        elif name[0] in "yd":
            numbers["m"] = value.month
        is_number = len(name) < 3 and name[0] in numbers
        texts.append(
            f"{numbers[name[0]]:0{len(name)}}"
            if is_number
            else value.strftime(_DATE.get(name, token))
        )
    return "".join(texts)


def save_sheet(path: str | PathLike[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows as the only sheet of an Excel file.

    A text that begins with `=` stays one, control characters are escaped as Excel does, and what a
    cell cannot hold is cut, which is printed.
    """
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    from openpyxl.utils.escape import escape

    book = Workbook(write_only=True)
    sheet = book.create_sheet()
    cut = 0

    def cell(value: Any) -> Any:
        nonlocal cut
        if isinstance(value, str):
            value = ILLEGAL_CHARACTERS_RE.sub(lambda mark: escape(mark[0]), value)
            cut += len(value) > LONGEST
        made = WriteOnlyCell(sheet, value)
        made.data_type = "s" if isinstance(value, str) else made.data_type
        return made

    for row in rows:
        sheet.append([cell(value) for value in row])
    book.save(path)
    if cut:
        print(
            f"{cut:,} texts are cut at {LONGEST:,} characters, the most that a cell of an .xlsx "
            "holds; a .csv has them whole.",
            file=sys.stderr,
        )

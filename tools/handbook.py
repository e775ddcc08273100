# /// script
# requires-python = ">=3.11"
# dependencies = ["fpdf2==2.8.9"]
# ///
"""Writes the two PDF pages of the handbook in tfmrc/data/handbook_files/pages.

    uv run tools/handbook.py

The text is in `tools/handbook_*.txt`: headings, lists and tables as in Markdown, a line per
paragraph, and `---` before a new sheet. The same text gives the same bytes. The fonts are those
that every PDF reader has; none is embedded.
"""

from datetime import UTC, datetime
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
FOLDER = TOOLS.parent / "tfmrc" / "data" / "handbook_files" / "pages"
TEXTS = {path.stem.removeprefix("handbook_"): path for path in TOOLS.glob("handbook_*.txt")}
SIZES = {"#": 18, "##": 13}
BELOW = {"new_x": "LMARGIN", "new_y": "NEXT"}


def write(text: str, path: Path) -> None:
    """Writes a text as a PDF of A4 sheets."""
    from fpdf import FPDF

    pdf = FPDF()
    pdf.set_margins(22, 18, 22)
    pdf.set_auto_page_break(True, 16)
    pdf.set_creation_date(datetime(2026, 1, 5, tzinfo=UTC))
    pdf.set_title(text.splitlines()[0].removeprefix("# "))
    pdf.set_lang("en")
    pdf.add_page()
    for block in text.strip().split("\n\n"):
        pdf.set_font("Helvetica", size=10.5)
        if block == "---":
            pdf.add_page()
        elif block.startswith("#"):
            marks, heading = block.split(" ", 1)
            pdf.ln(2)
            pdf.set_font("Helvetica", "B", SIZES[marks])
            pdf.multi_cell(0, 8, heading, **BELOW)
        elif block.startswith("|"):
            rows = [line.strip("| ").split(" | ") for line in block.splitlines()]
            with pdf.table(line_height=6) as table:
                for row in rows[:1] + rows[2:]:
                    table.row(row)
            pdf.ln(2)
        else:
            pdf.multi_cell(0, 5.4, block, align="L", **BELOW)
            pdf.ln(2)
    pdf.output(str(path))


if __name__ == "__main__":
    for name, source in TEXTS.items():
        write(source.read_text(encoding="utf-8"), FOLDER / f"{name}.pdf")

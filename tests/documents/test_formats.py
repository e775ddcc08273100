"""Each form of documents: its text, headings and pages; broken files by one sentence."""

import io
import zipfile

import pytest

from tests.documents.files import pdf, word
from tfmrc.documents import read_document
from tfmrc.documents.formats import word as word_format

OWLS = [
    ("Owls", 20, 700),
    ("An owl flew over the mill, which nobody", 10, 670),
    ("had seen, and after", 10, 658),
    ("which it slept.", 10, 646),
    ("It slept.", 10, 630),
    ("Mills", 14, 600),
    ("The mill stood on a hill and on", 10, 580),
]


def blocks(content: bytes, name: str) -> list[tuple[int, str]]:
    document = read_document(content, name)
    texts = [(block.level, document.text[block.start : block.end]) for block in document.blocks]
    return [(level, text) for level, text in texts if text]


@pytest.mark.parametrize(
    "name, content, expected",
    [
        ("a.txt", b"\n An owl\nflew. \n \n\nIt slept.\n", [(0, "An owl\nflew."), (0, "It slept.")]),
        ("a.txt", b"\xef\xbb\xbfOne\r\n\r\nTwo", [(0, "One"), (0, "Two")]),
        ("a.txt", "Größe".encode("utf-16"), [(0, "Größe")]),
        (
            "a.md",
            b"Owls\n===\nAn owl\nflew.\n\n## Mills ##\n1. One\n2. Two\n\n"
            b"| a | b |\n|---|---|\n| c | d |",
            [
                (1, "Owls"),
                (0, "An owl\nflew."),
                (2, "Mills"),
                (0, "1. One"),
                (0, "2. Two"),
                (0, "| a | b |"),
                (0, "| c | d |"),
            ],
        ),
        (
            "a.md",
            b"```\n# no heading\n- no item\n```\n#no",
            [(0, "# no heading\n- no item"), (0, "#no")],
        ),
        ("a.md", b"***\nOne\nTwo\n---\nThree", [(2, "One\nTwo"), (0, "Three")]),
        (
            "a.html",
            b"<title>T</title><h1>A <i>b</i></h1><nav>Home</nav>x<p>An&nbsp;<b>owl</b>\n flew"
            b"<table><tr><th>Day<th>Opens<tr><td>Monday<td>9:00</table>"
            b"<!-- no --><style>p{}</style>",
            [(1, "A b"), (0, "x"), (0, "An owl flew"), (0, "Day | Opens"), (0, "Monday | 9:00")],
        ),
        ("a.htm", b"<title>Owls</title><p>One<br>Two", [(1, "Owls"), (0, "One"), (0, "Two")]),
        ("a.html", b"<h2><div>Owls</div></h2>", [(2, "Owls")]),
        ("a.html", b'<meta charset="windows-1252"><p>caf\xe9 &lt;b&gt;', [(0, "café <b>")]),
        (
            "a.csv",
            b'title,text\nOwls,"An owl, flew."\n,One\n',
            [(1, "Owls"), (0, "An owl, flew."), (0, "One")],
        ),
        ("a.tsv", b"day\topens\nMonday\t9:00\n", [(0, "day: Monday; opens: 9:00")]),
        (
            "a.jsonl",
            b'{"passage": ["One.", "Two."], "id": 7}\n\n{"a": 1, "b": null}',
            [(0, "One. Two."), (0, "a: 1")],
        ),
        ("a.jsonl", b'{"text": "an \\ud800 owl"}', [(0, "an ? owl")]),
        (
            "a.pdf",
            pdf([OWLS, [("Then it fell.", 10, 700), ("- One", 10, 688)]]),
            [
                (1, "Owls"),
                (0, "An owl flew over the mill, which nobody had seen, and after which it slept."),
                (0, "It slept."),
                (2, "Mills"),
                (0, "The mill stood on a hill and on Then it fell."),
                (0, "- One"),
            ],
        ),
    ],
)
def test_text_and_headings(name, content, expected):
    assert blocks(content, name) == expected


def test_headings_and_tables_of_a_word_file():
    parts = [("Title", "Owls"), "An owl\nflew.", ("Heading 2", "Mills"), [["a", "b"], ["c", "d"]]]
    expected = [(1, "Owls"), (0, "An owl flew."), (2, "Mills"), (0, "a | b"), (0, "c | d")]
    assert blocks(word(*parts), "a.docx") == expected


def test_pages_of_a_pdf_file():
    document = read_document(pdf([OWLS, [], [("Then it fell.", 10, 700)]]), "a.pdf")
    assert [document.text[page:].strip()[:4] for page in document.pages] == ["Owls", "Then", "Then"]


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"0" * 50_000)
    return file.getvalue()


@pytest.mark.parametrize(
    "name, content, match",
    [
        ("a.txt", b" \n", "has no text"),
        ("a.md", b"\x00\x01\x02\xff" * 50, "save it as UTF-8"),
        ("a.html", b"<script>1</script>", "has no text"),
        ("a.html", b"<b>" * 6_000 + b"x", "more than 5,000 deep"),
        ("a.csv", b'text\n"open\n', "unexpected end of data"),
        ("a.jsonl", b'{"text": "One."}\n{"text":', "line 2 is not a JSON object"),
        ("a.jsonl", b"[1]", "line 1 is not a JSON object"),
        ("a.pdf", b"%PDF-1.4 cut", "not a PDF file, or is damaged"),
        ("a.pdf", pdf([OWLS], encrypted=True), "has a password"),
        ("a.pdf", pdf([[], []]), r"has no text \(a scan"),
        ("a.docx", b"\xd0\xcf\x11\xe0 an old or encrypted file", "is not a Word file"),
        ("a.docx", bomb()[:-30], "is not a Word file"),
        ("a.docx", bomb(), "no item named"),
        ("a.doc", b"x", ".doc"),
    ],
)
def test_what_cannot_be_read_is_named(name, content, match):
    with pytest.raises(Exception, match=match):  # of the library that reads it
        read_document(content, name)


def test_a_word_file_that_unpacks_to_much_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(word_format, "_LARGEST", 10_000)
    with pytest.raises(ValueError, match="has 50,000 bytes when it is unpacked"):
        read_document(bomb(), "a.docx")

"""Formats by name, of tfmrc and of users."""

import pytest

from tests import fresh_python
from tests.data import builders
from tests.data.builders import write
from tfmrc.data import Example, find_format, register_format


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "squad.json", builders.squad())
    write(tmp_path / "marco.jsonl", builders.marco_lines())
    write(tmp_path / "qaps.csv", builders.QAPS)
    write(tmp_path / "summaries.csv", builders.SUMMARIES)
    write(tmp_path / "src-dev.txt", "an owl flew .\n")
    write(tmp_path / "tgt-dev.txt", "what flew ?\n")
    write(tmp_path / "own.csv", "question,passage,answer\nWho?,Owl,Owl\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "path", "styles", "answers"),
    [
        ("squad", "squad.json", ["s"], {"s": ("small fish", "fish")}),
        ("pairs", "src-dev.txt", ["s"], {}),
        ("narrativeqa", "qaps.csv", ["s"], {"s": ("Anna Brandt", "Brandt, a miller")}),
        ("msmarco", "marco.jsonl", ["nlg"], {"nlg": ("Herons eat small fish.",)}),
        ("table", "own.csv", ["short", "long"], {"short": ("Owl",)}),
    ],
)
def test_formats_of_files(folder, name, path, styles, answers):
    first = next(iter(find_format(name).read(folder / path, styles)))
    assert first.answers == answers


def test_shipped_data():
    corpus = find_format("corpus").read("test", ["concise"])
    blind = find_format("corpus").read("test", ["concise"], hide="question")
    assert {example.question for example in blind} == {"?"}
    assert [e.passages for e in blind] == [e.passages for e in corpus]
    unread = find_format("corpus").read("test", ["concise"], hide="passages")
    assert {passage for e in unread for passage in e.passages} == {""}
    assert [(e.answers, e.relevance) for e in unread] == [(e.answers, e.relevance) for e in corpus]
    [*answers] = next(iter(find_format("small_squad").read("test", ["mine"]))).answers
    assert answers == ["mine"]


def test_a_format_of_a_user(tmp_path):
    @register_format("test_lines")
    def read_lines(path, *, style="line", mark="|"):
        rows = [line.split(mark) for line in path.read_text().splitlines()]
        return [Example(q, q, (passage,), {style: (answer,)}) for q, passage, answer in rows]

    path = write(tmp_path / "a.txt", "Who flew?/An owl flew./An owl\n")
    [example] = find_format("test_lines").read(path, ["s"], mark="/")
    assert example.answers == {"s": ("An owl",)} and find_format("test_lines").one_style


def test_reading_loads_no_tensorflow():
    fresh_python.run(
        "-c",
        "import sys\nfrom tfmrc import data\n"
        "assert list(data.find_format('small_squad').read('test', ['span']))\n"
        "assert not {'tensorflow', 'keras', 'numpy'} & set(sys.modules)",
    )

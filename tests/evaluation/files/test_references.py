"""References from every official form (own small texts in the official field names)."""

import codecs
import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tfmrc.data import Example, write_examples
from tfmrc.evaluation import Reference, read_references


def _write(path: Path, value: object, indent: int | None = None) -> Path:
    path.write_text(json.dumps(value, indent=indent), encoding="utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 1])
def test_squad(tmp_path: Path, indent: int | None) -> None:
    questions = [
        {"id": "a", "question": "Where?", "answers": [{"text": "York", "answer_start": 0}] * 2},
        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
    ]
    data = {"version": "v2.0", "data": [{"paragraphs": [{"context": "York.", "qas": questions}]}]}
    found = read_references(_write(tmp_path / "dev.json", data, indent))
    assert found["a"] == Reference("a", ("York", "York"), "Where?", answerable=True)
    assert found["b"] == Reference("b", (), "Who?", answerable=False)


def test_msmarco_columns(tmp_path: Path) -> None:
    passages = [{"is_selected": n, "passage_text": "x", "url": "u"} for n in (0, 1)]
    data = {
        "query_id": {"0": 12, "1": 13},
        "query": {"0": "who was ode", "1": "why"},
        "query_type": {"0": "PERSON", "1": "DESCRIPTION"},
        "answers": {"0": ["Ode"], "1": ["No Answer Present."]},
        "wellFormedAnswers": {"0": ["It was Ode."], "1": "[]"},
        "passages": {"0": passages, "1": passages[:1]},
    }
    path = _write(tmp_path / "dev_v2.1.json", data)
    found = read_references(path)
    assert found["12"] == Reference("12", ("Ode",), "who was ode", "PERSON", True, (False, True))
    assert found["13"].answerable is False
    nlg = read_references(path, style="nlg")
    assert nlg["12"].answers == ("It was Ode.",)
    assert nlg["13"].answers == ()
    del data["answers"]
    with pytest.raises(ValueError, match="row 0: no answers"):
        read_references(_write(tmp_path / "eval.json", data))


def test_narrativeqa(tmp_path: Path) -> None:
    path = tmp_path / "qaps.csv"
    path.write_text(
        "document_id,set,question,answer1,answer2,question_tokenized\n"
        'd1,valid,"Who, then?",Ode,Old Ode,who\n'
        "d2,test,Why?,Rain,The rain,why\n"
        "d2,test,How?,Well,So,how\n"
    )
    found = read_references(path, split="test")
    assert list(found) == ["d2-1", "d2-2"]
    assert found["d2-1"] == Reference("d2-1", ("Rain", "The rain"), "Why?", answerable=True)
    path.write_text("id,text\n1,x\n")
    with pytest.raises(ValueError, match="JSON lines with `id`.*no columns .*'answer1'"):
        read_references(path)


def test_lines_with_styles_and_labels(tmp_path: Path) -> None:
    record = {
        "id": "q",
        "question": "Who?",
        "passages": ["Ode came.", "Rain fell."],
        "answers": {"qa": ["Ode"], "nlg": ["It was Ode."]},
        "answerable": True,
        "relevance": [True, False],
        "query_type": None,
    }
    path = _write(tmp_path / "test.jsonl", record)
    assert read_references(path, style="qa")["q"].answers == ("Ode",)
    assert read_references(path, style="qa")["q"].relevance == (True, False)
    with pytest.raises(ValueError, match=r"line 1: the answers have several.*\['nlg', 'qa'\]"):
        read_references(path)
    with pytest.raises(
        ValueError, match="of this style .*; there are qa, nlg. Received: style='q'"
    ):
        read_references(path, style="q")  # every question had no reference
    unanswered = _write(tmp_path / "unanswered.jsonl", record | {"answers": {}})
    assert read_references(unanswered, style="q")["q"].answers == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1, "answers": ["x"]}\n{"id": 1, "answers": []}', "occurs twice. Received: id='1'"),
        ('{"id": 1, "answers": ["x"]}\n{oops', "line 2: not JSON"),
        ('{"answers": ["x"]}', "line 1: no field 'id'"),
        ('{"id": 1}', "line 1: no field 'answers'"),
        ('{"id": 1, "answers": "x"}', "line 1: answers must be a list of strings"),
        ("[1]", "line 1: not an object"),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_references(path)


def _marco(path: Path, rows: int, passage: str) -> Path:
    passages = [{"is_selected": n % 2, "passage_text": passage, "url": "u"} for n in range(10)]
    columns = {
        "answers": {str(n): [f"answer {n}"] for n in range(rows)},
        "passages": {str(n): passages for n in range(rows)},
        "query": {str(n): "why" for n in range(rows)},
        "query_id": {str(n): n for n in range(rows)},
        "query_type": {str(n): "ENTITY" for n in range(rows)},
        "wellFormedAnswers": {str(n): "[]" for n in range(rows)},
    }
    return _write(path, columns)


def _squad(path: Path, paragraphs: int, context: str) -> Path:
    answers = [{"text": "x", "answer_start": 0}]
    parts = [
        {"context": context, "qas": [{"id": str(n), "question": "?", "answers": answers}]}
        for n in range(paragraphs)
    ]
    return _write(path, {"version": "1.1", "data": [{"title": "t", "paragraphs": parts}]})


@pytest.mark.parametrize("write", [_marco, _squad])
def test_memory_grows_with_the_references_and_not_with_the_file(tmp_path: Path, write: Any) -> None:
    """A file ten times as large by its passages alone needs no more memory."""
    held, sizes = [], []
    for length in (200, 4000):
        path = write(tmp_path / f"{length}.json", 300, "w " * length)
        read_references(path)  # what is imported and compiled only once
        tracemalloc.start()
        found = read_references(path)
        held.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        sizes.append(path.stat().st_size)
        assert len(found) == 300
    assert sizes[1] > 10 * sizes[0] and sizes[1] > 2_000_000
    assert held[1] < held[0] + 200_000
    assert held[1] < 1_000_000


def test_files_cut_short_are_named(tmp_path: Path) -> None:
    for write in (_marco, _squad):
        path = write(tmp_path / "dev.json", 3, "text")
        text = path.read_text()
        path.write_text(text[: len(text) - 30])
        with pytest.raises(ValueError, match=r"dev.json: not JSON, or cut short"):
            read_references(path)
    path.write_text('{"data": []}')
    with pytest.raises(ValueError, match="not SQuAD's form"):
        read_references(path)


def test_gzip_and_columns_in_any_order(tmp_path: Path) -> None:
    path = _marco(tmp_path / "dev.json", 2, "text")
    columns = json.loads(path.read_text())
    turned = {name: columns[name] for name in reversed(columns)}
    packed = tmp_path / "dev.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(turned, indent=1).encode()))
    assert read_references(packed) == read_references(path)
    assert read_references(path)["1"].relevance == (False, True) * 5


def test_examples_without_answers(tmp_path: Path) -> None:
    """`tfmrc.data.write_examples` leaves out what an example does not have."""
    examples = [
        Example("a", "Who?", ("Ode came.",), {"qa": ("Ode",)}, answerable=True),
        Example("b", "Why?", ("Ode came.",), answerable=False),
        Example("c", "When?", ("Ode came.",)),
    ]
    write_examples(tmp_path / "dev.jsonl", examples)
    found = read_references(tmp_path / "dev.jsonl", style="qa")
    assert [(r.answers, r.answerable) for r in found.values()] == [
        (example.answers.get("qa", ()), example.answerable) for example in examples
    ]


def test_a_squad_question_without_a_label_is_unknown(tmp_path: Path) -> None:
    questions = [{"id": "a", "question": "Why?", "answers": []}]
    data = {"data": [{"paragraphs": [{"context": "York.", "qas": questions}]}]}
    found = read_references(_write(tmp_path / "dev.json", data))
    assert found["a"] == Reference("a", (), "Why?", answerable=None)


@pytest.mark.parametrize("labels", [(-1, -1), (0, -1)])
def test_relevance_that_marco_does_not_know(tmp_path: Path, labels: tuple[int, ...]) -> None:
    passages = [{"is_selected": label, "passage_text": "x"} for label in labels]
    record = {"query_id": 1, "query": "q", "answers": ["x"], "passages": passages}
    assert read_references(_write(tmp_path / "dev.json", record))["1"].relevance is None


def test_narrativeqa_with_a_blank_answer_or_a_short_row(tmp_path: Path) -> None:
    path = tmp_path / "qaps.csv"
    header = "document_id,set,question,answer1,answer2\n"
    path.write_text(header + "d1,test,Why?,Rain,\n")
    assert read_references(path)["d1-1"].answers == ("Rain",)
    path.write_text(header + "d1,test,Why?,Rain,So\nd1,test,Who?,Ode\n")
    with pytest.raises(ValueError, match=r"qaps.csv, line 3: a row must have 5 values"):
        read_references(path)


@pytest.mark.parametrize("name", ["dev.jsonl", "dev.json", "qaps.csv"])
def test_a_byte_order_mark_and_gzip_of_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "dev.jsonl":
        _write(path, {"id": "0", "answers": ["x"]})
    elif name == "dev.json":
        _squad(path, 1, "x")
    else:
        path.write_text("document_id,set,question,answer1,answer2\r\n0,test,?,x,x\r\n")
    plain, expected = path.read_bytes(), read_references(path)
    for content in (codecs.BOM_UTF8 + plain, gzip.compress(codecs.BOM_UTF8 + plain)):
        path.write_bytes(content)
        assert read_references(path) == expected


@pytest.mark.parametrize("size", [12, 100])
def test_a_damaged_gzip_file_is_named(tmp_path: Path, size: int) -> None:
    path = _squad(tmp_path / "dev.json", 50, "x")
    path.write_bytes(gzip.compress(path.read_bytes())[:size])
    with pytest.raises(ValueError, match=r"dev.json.*damaged or cut short"):
        read_references(path)


def test_squad_answers_that_are_no_list(tmp_path: Path) -> None:
    questions = [{"id": "a", "question": "Why?", "answers": None}]
    data = {"data": [{"paragraphs": [{"context": "York.", "qas": questions}]}]}
    with pytest.raises(ValueError, match=r"dev.json, id 'a': answers must be a list"):
        read_references(_write(tmp_path / "dev.json", data))


def test_a_split_that_the_file_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "qaps.csv"
    path.write_text("document_id,set,question,answer1,answer2\nd1,test,Why?,Rain,So\n")
    with pytest.raises(ValueError, match=r"`split` must be one of .*Received: split='tset'"):
        read_references(path, split="tset")
    with pytest.raises(ValueError, match=r"dev.json is read as a whole. Received: split='test'"):
        read_references(_squad(tmp_path / "dev.json", 1, "x"), split="test")

"""References from every official form (own small texts in the official field names)."""

import json
from pathlib import Path

import pytest

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
    with pytest.raises(ValueError, match="no columns .*'answer1'"):
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
    with pytest.raises(ValueError, match=r"line 1: answers in several styles.*\['nlg', 'qa'\]"):
        read_references(path)


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

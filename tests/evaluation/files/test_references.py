"""References from official files, examples, and MS MARCO's reference files."""

import gzip
import json

import pytest

from tfmrc.data import Example, write_examples
from tfmrc.evaluation import Reference, read_references


def test_squad_with_a_question_without_an_answer(tmp_path):
    questions = [
        {"id": "a", "question": "Where?", "answers": [{"text": "York", "answer_start": 0}] * 2},
        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
    ]
    data = {"version": "v2.0", "data": [{"paragraphs": [{"context": "York.", "qas": questions}]}]}
    for name, text in (("dev.json", json.dumps(data)), ("dev.json.gz", json.dumps(data, indent=1))):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
        assert read_references(path) == {
            "a": Reference("a", ("York", "York"), "Where?", "", True, (True,)),
            "b": Reference("b", (), "Who?", "", False, (False,)),
        }


def test_msmarco_with_passages_and_references_alone(tmp_path):
    passages = [{"is_selected": n, "passage_text": "x", "url": "u"} for n in (0, 1)]
    record = {
        "query_id": 12,
        "query": "who was ode",
        "query_type": "PERSON",
        "answers": ["Ode"],
        "wellFormedAnswers": ["It was Ode."],
        "passages": passages,
    }
    path = tmp_path / "dev_v2.1.jsonl"
    path.write_text(json.dumps(record))
    [found] = read_references(path, style="nlg").values()
    assert found == Reference("12", ("It was Ode.",), "who was ode", "PERSON", True, (False, True))
    with pytest.raises(ValueError, match=r"id 12: the answers have several styles.*'nlg', 'qa'"):
        read_references(path)
    path.write_text('{"query_id": 1, "answers": ["x"]}\n{"query_id": 2, "answers": []}\n')
    assert read_references(path) == {
        "1": Reference("1", ("x",), answerable=True),
        "2": Reference("2", (), answerable=False),
    }


def test_examples_with_and_without_answers(tmp_path):
    examples = [
        Example("a", "Who?", ("Ode came.",), {"qa": ("Ode",)}, answerable=True),
        Example("b", "Why?", ("Ode came.",), answerable=False),
        Example("c", "When?", ("Ode came.",), {"nlg": ("Now.",)}, answerable=True),
    ]
    write_examples(tmp_path / "dev.jsonl", examples)
    found = read_references(tmp_path / "dev.jsonl", style="qa")  # "c" has another style
    assert {key: (r.answers, r.answerable) for key, r in found.items()} == {
        "a": (("Ode",), True),
        "b": ((), False),
    }
    assert Reference.of(examples[0], "nlg").answers == ()


def test_a_split_of_narrativeqa(tmp_path):
    (tmp_path / "summaries.csv").write_text("document_id,set,summary\nd1,test,It rained.\n")
    path = tmp_path / "qaps.csv"
    header = "document_id,set,question,answer1,answer2"
    path.write_text(f"{header}\nd1,test,Why?,Rain,The rain\nd1,train,How?,Well,So\n")
    assert read_references(path, split="test") == {
        "d1-1": Reference("d1-1", ("Rain", "The rain"), "Why?", answerable=True)
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "1", "answers": ["x"]}\n{"id": "1", "answers": []}', "twice. Received: id='1'"),
        ('{"id": "1", "answers": ["x"]}\n{oops', "line 2: not JSON"),
        ('{"data": [', "dev.jsonl"),
    ],
)
def test_wrong_files_are_named(tmp_path, text, message):
    path = tmp_path / "dev.jsonl"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_references(path)

"""The MS MARCO reader: three forms of the same records, subsets, styles, errors."""

import json

import pytest

from tests.data.builders import marco_columns, marco_records, write
from tfmrc.data import RecordError, read_msmarco
from tfmrc.data.formats.detect import read_file


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def columns(records):
    return json.dumps(marco_columns(records))


def spaced_columns(records):
    return json.dumps(marco_columns(records), indent=2).replace("\n", "\r\n")


FORMS = {"columns": columns, "spaced": spaced_columns, "lines": lines}


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_forms_hold_the_same_examples(tmp_path, form, name, mark):
    stream = read_msmarco(write(tmp_path / name, mark + form(marco_records()).encode()))
    both, one, none, empty = stream
    assert both.id == "11" and both.question == "what do herons eat"
    assert both.query_type == "ENTITY" and both.group is None
    assert both.passages == tuple(f"Passage {n} on herons." for n in range(3))
    assert both.relevance == (False, True, False)
    assert both.answers == {"qa": ("Small fish", "Fish"), "nlg": ("Herons eat small fish.",)}
    assert both.answerable is True
    assert one.answers == {"qa": ("About 90 cm",)}
    assert (none.answers, none.answerable) == ({}, False)
    assert (empty.answers, empty.answerable) == ({}, False)
    assert list(stream) == [both, one, none, empty], "a second pass reads the same"


@pytest.mark.parametrize("name", ["eval_v2.1_public.json", "eval"])
def test_the_form_of_long_passages_is_known(tmp_path, form, name):
    unanswered = []
    for record in marco_records():
        text = f"Passage of {record['query_id']}. " * 4_000
        passages = [{"is_selected": 0, "passage_text": text, "url": ""}]
        told = {field: record[field] for field in ("query", "query_id", "query_type")}
        unanswered.append({"passages": passages} | told)  # the order of the official file
    stream = read_file(write(tmp_path / name, form(unanswered)))
    assert [example.id for example in stream] == ["11", "12", "13", "14"]


@pytest.mark.parametrize(
    ("subset", "ids"), [("ALL", "11 12 13 14"), ("ANS", "11 12"), ("NLG", "11")]
)
def test_subsets(tmp_path, form, subset, ids):
    stream = read_msmarco(write(tmp_path / "a.json", form(marco_records())), subset=subset)
    assert [example.id for example in stream] == ids.split()
    left_out = 4 - len(ids.split())
    assert sum(stream.report.notes.values()) == left_out


def test_styles_are_chosen_after_the_subset(tmp_path, form):
    path = write(tmp_path / "a.json", form(marco_records()))
    [example] = read_msmarco(path, subset="NLG", styles=("qa",))
    assert example.answers == {"qa": ("Small fish", "Fish")}
    assert [e.answers for e in read_msmarco(path, subset="ANS", styles=("nlg",))][1] == {}


def test_the_evaluation_file_has_no_answers(tmp_path, form):
    records = marco_records()
    for record in records:
        del record["answers"], record["wellFormedAnswers"]
        for passage in record["passages"]:
            del passage["is_selected"]
    for example in read_msmarco(write(tmp_path / "a.json", form(records))):
        assert (example.answers, example.answerable, example.relevance) == ({}, None, None)


def test_v1_has_no_well_formed_answers(tmp_path):
    records = marco_records()
    for record in records:
        del record["wellFormedAnswers"]
    result = list(read_msmarco(write(tmp_path / "a.json", lines(records))))
    assert [example.answerable for example in result] == [True, True, False, False]


def test_blank_answers_and_passages_are_noted(tmp_path, form):
    records = marco_records()
    records[0]["answers"] = [" ", "Fish"]
    records[1]["answers"] = [""]
    records[1]["passages"][1]["passage_text"] = " "
    stream = read_msmarco(write(tmp_path / "a.json", form(records)))
    first, second, *_ = stream
    assert first.answers["qa"] == ("Fish",)
    assert (second.answers, second.answerable) == ({}, None)
    assert second.passages[1] == " " and second.relevance == (True, True)
    list(stream)
    assert stream.report.notes == {
        "queries with blank qa answers": 2,
        "queries with blank passages": 1,
    }


def test_an_answer_in_one_style_only_is_an_answer(tmp_path, form):
    records = marco_records()
    records[2]["wellFormedAnswers"] = ["The village owns the pond."]
    result = list(read_msmarco(write(tmp_path / "a.json", form(records)), subset="NLG"))
    assert result[1].answers == {"nlg": ("The village owns the pond.",)} and result[1].answerable


def test_unknown_selection(tmp_path, form):
    records = marco_records()
    records[0]["passages"][2]["is_selected"] = -1
    assert next(iter(read_msmarco(write(tmp_path / "a.json", form(records))))).relevance is None


CASES = {
    "query": lambda r: r.update(query=" "),
    "query ": lambda r: r.pop("query"),
    "query_id": lambda r: r.pop("query_id"),
    "query_id ": lambda r: r.update(query_id=None),
    "query_type": lambda r: r.update(query_type=4),
    "passages": lambda r: r.update(passages=[]),
    "passages ": lambda r: r.update(passages="none"),
    "passages  ": lambda r: [p.update(passage_text="") for p in r["passages"]],
    "passage_text": lambda r: r["passages"][0].pop("passage_text"),
    "is_selected": lambda r: r["passages"][0].update(is_selected=2),
    "answers": lambda r: r.update(answers="Fish"),
    "wellFormedAnswers": lambda r: r.update(wellFormedAnswers=[5]),
}


@pytest.mark.parametrize("field", CASES)
def test_a_broken_record_is_named_or_skipped(tmp_path, form, field):
    records = marco_records()
    CASES[field](records[1])
    path = write(tmp_path / "a.json", form(records))
    with pytest.raises(RecordError) as caught:
        list(read_msmarco(path))
    assert caught.value.field == field.strip()
    assert caught.value.record.startswith("line 2" if form is lines else "row '1'")
    stream = read_msmarco(path, on_error="skip")
    assert [example.id for example in stream] == ["11", "13", "14"]
    assert stream.skipped == 1


def test_a_row_that_only_small_columns_have(tmp_path):
    content = marco_columns()
    del content["passages"]["1"]
    path = write(tmp_path / "a.json", content)
    with pytest.raises(RecordError, match="row '1'"):
        list(read_msmarco(path))
    stream = read_msmarco(path, on_error="skip")
    assert [example.id for example in stream] == ["11", "13", "14"]
    assert stream.skipped == 1


def test_columns_in_other_orders(tmp_path):
    content = marco_columns()
    content["query"] = dict(reversed(content["query"].items()))
    content = dict(reversed(content.items()))
    result = [(e.id, e.question) for e in read_msmarco(write(tmp_path / "a.json", content))]
    assert result == [(str(r["query_id"]), r["query"]) for r in marco_records()]


@pytest.mark.parametrize("policy", ["raise", "skip"])
@pytest.mark.parametrize("cut", ["answers", "passages", "query_id", "wellFormedAnswers"])
def test_cut_columns_raise(tmp_path, policy, cut):
    text = json.dumps(marco_columns())
    path = write(tmp_path / "a.json", text[: text.index(f'"{cut}"') + len(cut) + 10])
    with pytest.raises(RecordError, match=f"column '{cut}': the file ends too early"):
        list(read_msmarco(path, on_error=policy))


@pytest.mark.parametrize(
    ("column", "good", "bad"),
    [
        ("passages", '"is_selected": 1, "passage_text": "Passage 1', '"is_selected" 1, "x": "'),
        ("query", '"what do herons eat"', '"what do" herons'),
        ("answers", '["Small fish", "Fish"]', '["Small fish" "Fish"]'),
        ("query_id", "11,", "1O,"),
    ],
)
@pytest.mark.parametrize("policy", ["raise", "skip"])
def test_damage_inside_a_column_is_found_before_the_first_example(
    tmp_path, policy, column, good, bad
):
    text = json.dumps(marco_columns())
    assert good in text
    path = write(tmp_path / "a.json", text.replace(good, bad, 1))
    stream = iter(read_msmarco(path, on_error=policy))
    with pytest.raises(RecordError, match=f"a.json: column '{column}': the file is not JSON"):
        next(stream)


def test_columns_that_are_no_columns(tmp_path):
    text = json.dumps(marco_columns())
    for wrong, message in (
        (text + text, "data follows the JSON value"),
        (text + "\n" + text, "data follows the JSON value"),
        (text + " nonsense", "data follows the JSON value"),
        (text[:-1] + ', "query": {}}', "columns: query: the column occurs twice"),
        (text[:-1] + ', "passages": {}}', "columns: passages: the column occurs twice"),
        (text[:-1] + ', "url": 1, "url": 2}', "columns: url: the column occurs twice"),
        (text.replace('"query": {"0"', '"query": 5, "q": {"0"'), "columns: query: must be an ob"),
        (text.replace('"query_type": {"0":', '"query_type": {0:'), "column 'query_type': the file"),
    ):
        path = write(tmp_path / "a.json", wrong)
        for policy in ("raise", "skip"):
            with pytest.raises(RecordError, match=message):
                next(iter(read_msmarco(path, on_error=policy)))


def test_a_row_that_occurs_twice(tmp_path):
    text = json.dumps(marco_columns())
    for column, row in (("query", '"0": "what do herons eat"'), ("query_id", '"0": 11')):
        twice = text.replace(f'"{column}": {{', f'"{column}": {{{row}, ')
        stream = read_msmarco(write(tmp_path / "a.json", twice), on_error="skip")
        assert [example.id for example in stream][:1] == ["11"] and stream.skipped >= 1
    passages = text.replace('"passages": {', '"passages": {"1": [{"passage_text": "x"}], ')
    stream = read_msmarco(write(tmp_path / "a.json", passages), on_error="skip")
    list(stream)
    assert stream.skipped >= 1
    query = text.replace('"query": {', '"query": {"0": "x", ')  # the row before it is taken
    for changed, column in (
        (query, "passages"),
        (passages.replace('"1": [{', '"0": [{'), "answers"),
    ):
        with pytest.raises(RecordError, match=f"row '0': {column}: .*has it twice"):
            list(read_msmarco(write(tmp_path / "a.json", changed)))


def test_deep_rows_cost_themselves(tmp_path):
    deep = "[" * 200_000 + "]" * 200_000
    records = marco_records()
    for text in (
        json.dumps(marco_columns()).replace('"what do herons eat"', deep),
        lines(records).replace('"what do herons eat"', deep),
        json.dumps(marco_columns()).replace('["Small fish", "Fish"]', deep),
    ):
        path = write(tmp_path / "a.json", text)
        with pytest.raises(RecordError, match="(row '0'|line 1).*nested"):
            list(read_msmarco(path))
        stream = read_msmarco(path, on_error="skip")
        assert [example.id for example in stream] == ["12", "13", "14"] and stream.skipped == 1


@pytest.mark.parametrize("form", [columns, lines])
def test_an_id_that_occurs_twice_is_named_with_both_records(tmp_path, form):
    records = marco_records()
    records[3]["query_id"] = 12
    path = write(tmp_path / "a.json", form(records))
    with pytest.raises(RecordError, match="(line 4|row '3'): id: .*also that of (line 2|row '1')"):
        list(read_msmarco(path))
    stream = read_msmarco(path, on_error="skip")
    assert [example.id for example in stream] == ["11", "12", "13"]
    assert stream.skipped == 1 and stream.report.fields == {"id": 1}


def test_lone_surrogates_and_bad_bytes_cost_their_record(tmp_path):
    for form in (columns, lines):
        text = form(marco_records()).replace("herons eat", r"herons \ud83d eat")
        path = write(tmp_path / "a.json", text)
        with pytest.raises(RecordError, match="(row '0'|line 1).*must be valid Unicode"):
            list(read_msmarco(path))
        stream = read_msmarco(path, on_error="skip")
        assert [example.id for example in stream] == ["12", "13", "14"]
    broken = lines(marco_records()).encode().replace(b"who owns", b"who \xff owns")
    path = write(tmp_path / "a.json", broken)
    with pytest.raises(RecordError, match="line 3: the text is not UTF-8"):
        list(read_msmarco(path))
    assert len(list(read_msmarco(path, on_error="skip"))) == 3


@pytest.mark.parametrize("column", ["query", "query_type", "answers", "wellFormedAnswers"])
def test_a_row_that_a_small_column_lacks(tmp_path, column):
    content = marco_columns()
    del content[column]["2"]
    path = write(tmp_path / "a.json", content)
    with pytest.raises(RecordError, match=f"row '2': {column}: the column has no such row"):
        list(read_msmarco(path))
    stream = read_msmarco(path, on_error="skip")
    assert [example.id for example in stream] == ["11", "12", "14"]
    assert stream.skipped == 1


def test_a_missing_column(tmp_path):
    content = marco_columns()
    del content["passages"]
    with pytest.raises(RecordError, match="columns: passages: is missing"):
        list(read_msmarco(write(tmp_path / "a.json", content)))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_broken_line(tmp_path, number):
    text = lines(marco_records()).splitlines()
    text[number - 1] = text[number - 1][:40]
    path = write(tmp_path / "a.json", "\n".join(text))
    with pytest.raises(RecordError, match=f"line {number}: not JSON"):
        list(read_msmarco(path))
    stream = read_msmarco(path, on_error="skip")
    assert len(list(stream)) == 3
    assert stream.skipped == 1


@pytest.mark.parametrize("content", ["", "[]", "\n", '{"passages": {}}'])
def test_files_without_records(tmp_path, content):
    with pytest.raises(RecordError, match=r"a\.json: "):
        list(read_msmarco(write(tmp_path / "a.json", content)))


@pytest.mark.parametrize(
    "arguments", [{"subset": "DEV"}, {"styles": ("nqa",)}, {"styles": "qa"}, {"on_error": "stop"}]
)
def test_unknown_arguments(tmp_path, arguments):
    with pytest.raises(ValueError, match=f"Received: {next(iter(arguments))}="):
        read_msmarco(tmp_path / "a.json", **arguments)


def test_a_damaged_first_key_is_named(tmp_path):
    path = tmp_path / "dev.jsonl"
    path.write_bytes(b'{"qu\xed\xa0\x80ery_id": 11}\n')
    for read in (read_msmarco, read_file):
        with pytest.raises(RecordError, match=r"dev.jsonl"):
            list(read(path))

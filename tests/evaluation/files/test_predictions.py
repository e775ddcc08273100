"""Prediction files: writing, resuming, reading, and errors that name file and line."""

import gzip

import pytest

from tfmrc.evaluation import Prediction, PredictionWriter, read_predictions

FULL = Prediction(
    "q1",
    "Ode",
    style="qa",
    scores={"answerable_probability": 0.75, "relevance": [0.5, 0.25]},
    provenance=({"word": "Ode", "source": "passage", "mixture": [0.0, 0.25, 0.75]},),
    alternatives=("Ada",),
)
FIRST = b'{"id": "a", "answer": "x"}\n'


def test_round_trip(tmp_path):
    path = tmp_path / "deep" / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(FULL)
        writer.write(Prediction("q2", "größer 茶"))
    assert list(read_predictions(path).values()) == [FULL, Prediction("q2", "größer 茶")]
    assert "größer 茶" in path.read_text(encoding="utf-8")


def test_every_line_is_on_disk_before_the_next(tmp_path):
    path = tmp_path / "run.jsonl"
    writer = PredictionWriter(path)
    writer.write(FULL)
    assert list(read_predictions(path)) == ["q1"]
    writer.close()


def test_styles_are_told_apart(tmp_path):
    path = tmp_path / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(Prediction("q", "Ode", style="qa"))
        writer.write(Prediction("q", "It was Ode.", style="nlg"))
    assert read_predictions(path, style="nlg")["q"].answer == "It was Ode."
    with pytest.raises(ValueError, match=r"line 2: .* twice \(styles 'qa' and 'nlg'"):
        read_predictions(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (FIRST + b"{broken", r"line 2: not JSON \(.*column 2"),
        (FIRST + b'{"id": "b"}', "line 2: a prediction has the fields id and answer"),
        (FIRST + b'{"id": "b", "answer": null}', "line 2: a prediction has the fields"),
        (FIRST + b'{"id": "b", "answer": "x", "text": "y"}', "line 2: a prediction .*'text': 'y'"),
        (FIRST + FIRST, "line 2: the id occurs twice. Received: id='a'"),
        (FIRST + b'{"id": "b", "answer": "\xed\xa0\x80"}', "line 2: not JSON .*'utf-8' codec"),
        (b'{"query_id": 1, "answers": ["a", "b"]}', "record 1: each query has one candidate"),
        (b'{"a": ["x"]}', "record 1: a prediction has the fields"),
        (b'[{"id": "a", "prediction_text": null}]', "record 1: a prediction has the fields"),
    ],
)
def test_a_wrong_record_is_named(tmp_path, content, message):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_predictions(path)


def test_a_table_is_not_a_file_of_predictions():
    with pytest.raises(ValueError, match="predict --output FILE.jsonl"):
        read_predictions("answers.xlsx")


@pytest.mark.parametrize(
    "content",
    [
        '{"thesis": "four years of work"}',
        '{"id": "q1", "answer": "x"}\n{"id": "q2"}\n',
        '{"id": "q1", "answer": "x"}\n{"id": "q1", "answer": "y"}\n',
        "\xff",
    ],
)
def test_what_is_no_prediction_file_is_not_resumed_and_stays_as_it_is(tmp_path, content):
    path = tmp_path / "run.jsonl"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match="run.jsonl"):
        PredictionWriter(path, resume=True)
    assert path.read_bytes() == content.encode("latin-1")


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "a", "answer": "x"}\n{"id": "b", "answer": "y"}')
    with PredictionWriter(path, resume=True) as writer:
        assert [writer.digest_of(name) for name in "abc"] == ["", "", None]
        writer.write(Prediction("c", "z"))
    assert list(read_predictions(path)) == ["a", "b", "c"]


def test_every_half_line_is_recognised(tmp_path):
    """Killed at any byte of the last line, inside a letter of two bytes too."""
    lines = ('{"id": "a", "answer": "x"}\n', '{"id": "b", "answer": "Größe"}\n')
    first, second = (line.encode() for line in lines)
    for length in range(len(second)):
        path = tmp_path / f"{length}.jsonl"
        path.write_bytes(first + second[:length])
        with PredictionWriter(path, resume=True) as writer:
            assert writer.digest_of("a") is not None
            if writer.digest_of("b") is None:
                writer.write(Prediction("b", "Größe"))
        assert path.read_bytes() == first + second


def test_a_second_writer_is_refused_and_changes_nothing(tmp_path):
    path = tmp_path / "run.jsonl"
    with PredictionWriter(path) as writer:
        writer.write(Prediction("q1", "mill"))
        with path.open("a") as file:
            file.write('{"id": "q2", "ans')  # a line that the first one is about to end
        before = path.read_bytes()
        for resume in (False, True):
            with pytest.raises(OSError, match="Another process is writing .*run.jsonl"):
                PredictionWriter(path, resume=resume)
        assert path.read_bytes() == before
    assert PredictionWriter(path, resume=True).digest_of("q1") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"query_id": 7, "answers": ["a"]}\n{"query_id": 8, "answers": []}', {"7": "a", "8": ""}),
        ('{"a":\n"York", "b": ""}', {"a": "York", "b": ""}),
        ('\ufeff{"a": "York"}', {"a": "York"}),
        ('{"id": "a", "answer": "York"}', {"a": "York"}),
        ('{"answers": ["York"], "query_id": 7}', {"7": "York"}),
        ('{"answers": ["a"], "query_id": 7}\n{"answers": [], "query_id": 8}', {"7": "a", "8": ""}),
        ('[{"answer": "York", "id": 7}]', {"7": "York"}),
        ('[{"id": "a", "prediction_text": "York"}]', {"a": "York"}),
    ],
)
def test_official_forms(tmp_path, text, expected):
    path = tmp_path / "run.json"
    for content in (text.encode(), gzip.compress(text.encode())):
        path.write_bytes(content)
        assert {key: p.answer for key, p in read_predictions(path).items()} == expected


def test_the_probability_of_no_answer_is_that_of_hugging_faces_lists(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('[{"id": "a", "prediction_text": "", "no_answer_probability": 0.75}]')
    assert read_predictions(path)["a"].scores == {"answerable_probability": 0.25}

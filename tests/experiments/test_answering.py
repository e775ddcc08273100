"""Predictions in a file: resumed, never stale, and no file of something else is touched."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tfmrc.data import Example, RecordError
from tfmrc.evaluation import PredictionWriter, read_predictions
from tfmrc.experiments import answering
from tfmrc.experiments.answering import digest_of, prediction_of, write_answers
from tfmrc.predictors import GeneratedText, SpanAnswer, Word

EXAMPLES = [Example(f"q{n}", f"Who {n}?", ("Ode.",), {"qa": ("Ode",)}) for n in range(7)]


class Echo:
    """Answers with the question, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.options: dict[str, Any] = {}

    def predict(
        self, examples: Iterable[Example], *, task: str, batch_size: int, **options: Any
    ) -> Iterator[GeneratedText]:
        self.options = {"task": task, "batch_size": batch_size, **options}
        for example in examples:
            self.asked.append(example.id)
            word = Word(example.id, "passage", 0, 0, 3, (0.1, 0.2, 0.7))
            yield GeneratedText(
                example.question,
                words=(word,),
                relevance=(0.5,),
                answerable_probability=0.75,
                score=-1.0,
            )


def answered(path, examples=EXAMPLES, task="qa", model="m", **options):
    predictor = Echo()
    write_answers(
        predictor,
        examples.__iter__,
        path,
        task=task,
        options=options,
        batch_size=3,
        model=model,
        window=None,
    )
    return predictor, read_predictions(path, task)


def test_predictions_belong_to_their_examples_and_carry_everything(tmp_path):
    predictor, found = answered(tmp_path / "a.jsonl", num_beams=2)
    assert {key: p.answer for key, p in found.items()} == {e.id: e.question for e in EXAMPLES}
    first = found["q0"]
    assert first.scores == {
        "score": -1.0,
        "answerable_probability": 0.75,
        "relevance": [0.5],
        "is_confident": True,
        "truncated": False,
        "finished": True,
    }
    assert first.provenance[0]["mixture"] == [0.1, 0.2, 0.7]
    assert first.provenance[0]["text"] == "q0"
    assert first.style == "qa"
    assert first.digest == digest_of(EXAMPLES[0], "qa", "m", {"num_beams": 2})
    assert predictor.options == {"task": "qa", "batch_size": 3, "num_beams": 2}


def test_alternatives_are_texts():
    result = SpanAnswer("a", start=0, end=1, alternatives=(SpanAnswer("b", start=1, end=2),))
    found = prediction_of("q", result, "answer")
    assert found.alternatives == ("b",) and found.scores["end"] == 1


def test_the_file_is_resumed(tmp_path):
    path = tmp_path / "a.jsonl"
    answered(path, EXAMPLES[:3])
    with path.open("a") as file:
        file.write('{"id": "q3", "ans')  # a process that was killed
    again, found = answered(path)
    assert again.asked == ["q3", "q4", "q5", "q6"]
    assert list(found) == [example.id for example in EXAMPLES]
    other, _ = answered(path, EXAMPLES[:2], task="nlg")
    assert other.asked == ["q0", "q1"]
    assert answered(path)[0].asked == []


@pytest.mark.parametrize("change", ["model", "options", "question"])
def test_stale_predictions_are_made_anew(tmp_path, change):
    path = tmp_path / "a.jsonl"
    answered(path)
    examples = EXAMPLES
    changes: dict[str, Any] = {}
    if change == "model":
        changes["model"] = "retrained"
    elif change == "options":
        changes["num_beams"] = 4
    else:
        examples = [replace(EXAMPLES[0], question="Another question?"), *EXAMPLES[1:]]
    again, found = answered(path, examples, **changes)
    expected = ["q0"] if change == "question" else [example.id for example in EXAMPLES]
    assert again.asked == expected
    assert found["q0"].answer == examples[0].question
    assert len(path.read_text().splitlines()) == 7
    assert answered(path, examples, **changes)[0].asked == []


def test_predictions_of_other_examples_stay(tmp_path):
    path = tmp_path / "a.jsonl"
    answered(path)
    before = path.read_text()
    assert answered(path, EXAMPLES[2:4])[0].asked == []
    assert path.read_text() == before


def test_a_file_is_locked_while_stale_predictions_are_removed(tmp_path, monkeypatch):
    path = tmp_path / "a.jsonl"
    answered(path)
    replacing = answering.replacing

    def tried(target: Path) -> Any:
        with pytest.raises(OSError, match="Another process is writing"):
            PredictionWriter(path, resume=True)
        return replacing(target)

    monkeypatch.setattr(answering, "replacing", tried)
    assert len(answered(path, model="retrained")[0].asked) == 7


def test_a_broken_record_keeps_its_place_and_has_its_error(tmp_path):
    path = tmp_path / "a.jsonl"
    error = RecordError("missing", path="q.csv", record="line 3", field="question", id="q9")
    for _ in range(2):  # the second time nothing changes
        _, found = answered(path, [EXAMPLES[0], error, EXAMPLES[1]])
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["id"] for line in lines] == ["q0", "q9", "q1"] == list(found)
        assert lines[1] == {"id": "q9", "error": str(error), "style": "qa"}
    mended = replace(EXAMPLES[2], id="q9")
    assert answered(path, [EXAMPLES[0], mended, EXAMPLES[1]])[1]["q9"].answer == mended.question


def test_a_window_is_batched_by_length_written_in_order_and_no_more_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    lengths = {"a": 3, "b": 2, "c": 4, "d": 1, "e": 7, "f": 6, "g": 5}
    examples = [Example(name, "?" * size, ("Ode.",)) for name, size in lengths.items()]
    read: list[str] = []

    def stream(last):
        for example in examples:
            if example.id == last:
                raise OSError("the file ends here")
            read.append(example.id)
            yield example

    def write(last=""):
        predictor = Echo()
        how: dict[str, Any] = {"task": "qa", "options": {}, "batch_size": 2, "model": "m"}
        try:
            write_answers(predictor, lambda: stream(last), path, window=3, **how)
        except OSError:
            assert last
        return predictor.asked, [json.loads(line)["id"] for line in path.read_text().splitlines()]

    assert write("e") == (["b", "a", "d", "c"], ["a", "b", "c", "d"])
    assert write() == (["f", "e", "g"], ["a", "b", "c", "d", "e", "f", "g"])
    assert "".join(read) == "abcd" + 2 * "abcdefg"  # a file to resume is compared in a pass before

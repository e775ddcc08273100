"""Answering a stream of examples into a file, with a predictor that needs no model."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmrc.data import Example
from tfmrc.experiments.answer import answer_all
from tfmrc.experiments.configuration import Evaluation
from tfmrc.predictors import Answer, Word

EXAMPLES = [Example(f"q{n}", f"Who {n}?", ("Ode.",), {"qa": ("Ode",)}) for n in range(7)]


class Echo:
    """Answers with the question, in batches, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.options: dict[str, Any] = {}

    def predict(
        self, examples: Iterable[Example], *, batch_size: int, task: str, **options: Any
    ) -> Iterator[Answer]:
        self.options = {"batch_size": batch_size, "task": task, **options}
        batch: list[Example] = []
        for example in examples:
            self.asked.append(example.id)
            batch.append(example)
            if len(batch) == batch_size:
                yield from map(self._answer, batch)
                batch = []
        yield from map(self._answer, batch)

    def _answer(self, example: Example) -> Answer:
        word = Word(example.id, "passage", 0, 0, 3, (0.1, 0.2, 0.7))
        return Answer(
            example.question,
            words=(word,),
            relevance=(0.5,),
            answerable_probability=0.75,
            score=-1.0,
        )


def test_answers_belong_to_their_examples_and_carry_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    predictor = Echo()
    chosen = Evaluation(batch_size=3, num_beams=2, length_penalty=0.5, max_length=9)
    found = answer_all(predictor, EXAMPLES, "qa", tmp_path / "a.jsonl", chosen)  # type: ignore[arg-type]
    assert {key: p.answer for key, p in found.items()} == {e.id: e.question for e in EXAMPLES}
    first = found["q0"]
    assert first.scores == {
        "score": -1.0,
        "answerable_probability": 0.75,
        "relevance": [0.5],
        "truncated": False,
    }
    assert first.provenance[0]["mixture"] == [0.1, 0.2, 0.7]
    assert first.provenance[0]["text"] == "q0"
    assert predictor.options == {
        "batch_size": 3,
        "task": "qa",
        "num_beams": 2,
        "length_penalty": 0.5,
        "max_length": 9,
    }
    assert "answering 7 questions (qa)" in capsys.readouterr().out


def test_what_the_file_holds_is_not_asked_again(tmp_path: Path) -> None:
    path, chosen = tmp_path / "a.jsonl", Evaluation(batch_size=2)
    answer_all(Echo(), EXAMPLES[:3], "qa", path, chosen)  # type: ignore[arg-type]
    again = Echo()
    found = answer_all(again, EXAMPLES, "qa", path, chosen)  # type: ignore[arg-type]
    assert again.asked == ["q3", "q4", "q5", "q6"]
    assert list(found) == [example.id for example in EXAMPLES]
    other = Echo()
    answer_all(other, EXAMPLES[:2], "nlg", path, chosen)  # type: ignore[arg-type]
    assert other.asked == ["q0", "q1"]

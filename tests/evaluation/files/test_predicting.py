"""Models are plugged in by `predict`: streamed, resumed, and held to what they were asked."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tfmrc.evaluation import Prediction, read_predictions, write_predictions

EXAMPLES = [SimpleNamespace(id=str(number)) for number in range(10)]


class BatchModel:
    """Answers in batches of three, and stops or misbehaves where told to."""

    def __init__(self, fail_at: str | None = None, style: str = "") -> None:
        self.asked: list[str] = []
        self.fail_at = fail_at
        self.style = style

    def predict(self, examples: Iterable[SimpleNamespace]) -> Iterator[Prediction]:
        batch: list[str] = []
        for example in examples:
            if example.id == self.fail_at:
                raise KeyboardInterrupt
            self.asked.append(example.id)
            batch.append(example.id)
            if len(batch) == 3:
                yield from self._answers(batch)
                batch = []
        yield from self._answers(batch)

    def _answers(self, batch: list[str]) -> Iterator[Prediction]:
        return (Prediction(key, f"answer {key}", self.style) for key in batch)


def test_an_interrupted_run_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(KeyboardInterrupt):
        write_predictions(BatchModel(fail_at="7"), EXAMPLES, path)
    assert list(read_predictions(path)) == list("012345")
    with path.open("a") as file:
        file.write('{"id": "6", "ans')  # killed while it wrote
    second = BatchModel()
    assert write_predictions(second, EXAMPLES, path) == 4
    assert second.asked == list("6789")
    assert list(read_predictions(path)) == list("0123456789")


def test_two_styles_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for style in ("qa", "nlg"):
        assert write_predictions(BatchModel(style=style), EXAMPLES, path, style=style) == 10
    assert len(read_predictions(path, "nlg")) == 10


def test_examples_are_a_stream(tmp_path: Path) -> None:
    """No more than a batch is read ahead of what is written."""
    path, read = tmp_path / "run.jsonl", []

    def stream() -> Iterator[SimpleNamespace]:
        for example in EXAMPLES:
            lines = len(path.read_text().splitlines())
            read.append(int(example.id) - lines)
            yield example

    write_predictions(BatchModel(), stream(), path)
    assert max(read) == 2


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([("1", "")], "Expected: id='0', style=''. Received: id='1'"),
        ([("0", "qa")], "style='qa'"),
        ([("0", ""), ("1", "")], "8 examples have no prediction. Received: .2. first"),
    ],
)
def test_what_was_not_asked_for_is_refused(
    tmp_path: Path, answers: list[tuple[str, str]], message: str
) -> None:
    class Wrong:
        def predict(self, examples: Iterable[SimpleNamespace]) -> Iterator[Prediction]:
            list(examples)
            return (Prediction(key, "x", style) for key, style in answers)

    with pytest.raises(ValueError, match=message):
        write_predictions(Wrong(), EXAMPLES, tmp_path / "run.jsonl")


def test_more_answers_than_questions_are_refused(tmp_path: Path) -> None:
    class Eager:
        def predict(self, examples: Iterable[SimpleNamespace]) -> Iterator[Prediction]:
            yield from (Prediction(example.id, "x") for example in examples)
            yield Prediction("more", "x")

    with pytest.raises(ValueError, match="Expected: id=None.*id='more'"):
        write_predictions(Eager(), EXAMPLES[:2], tmp_path / "run.jsonl")

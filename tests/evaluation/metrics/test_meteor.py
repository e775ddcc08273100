"""METEOR through its jar: the numbers where Java is present, a row that says so where it is not."""

import pytest

from tfmrc.evaluation import score_answers
from tfmrc.evaluation.metrics import meteor as room
from tfmrc.evaluation.metrics.meteor import meteor, unavailable
from tfmrc.evaluation.metrics.score import Score

PREDICTIONS = {
    "cat": "a cat sits on mats",
    "same": "the dog ran",
    "none": "",
    "odd": "line one\nline two ||| three",
    "café": "un café",
}
REFERENCES = {
    "cat": ["the cat sat on the mat"],
    "same": ["the dog ran", "it ran"],
    "none": ["a mill"],
    "odd": ["line one"],
    "café": ["un café"],
}


def _scored() -> Score | None:
    """The score of the corpus above, or None where METEOR cannot run (the row then says why)."""
    row = meteor(PREDICTIONS, REFERENCES, "white space")
    if unavailable():
        assert row.value is None
        assert row.note == unavailable()
        return None
    return row


def test_hand_computed():
    """ "a cat sits on mats" for "the cat sat on the mat".

    Matched: cat (exact), sits/sat (synonym, 0.8), on (function word): one chunk of three. With
    delta = 0.75 for content words: P = (0.75 * 1.8 + 0.25) / (0.75 * 3 + 0.25 * 2) = 1.6 / 2.75,
    R = 1.6 / (0.75 * 3 + 0.25 * 3) = 1.6 / 3, F = P R / (0.85 P + 0.15 R),
    penalty 0.6 * (1/3)^0.2.
    """
    row = _scored()
    if row is None:
        return
    precision, recall = 1.6 / 2.75, 1.6 / 3
    mean = precision * recall / (0.85 * precision + 0.15 * recall)
    assert row.per_example["cat"] == pytest.approx(mean * (1 - 0.6 * (1 / 3) ** 0.2), abs=1e-12)
    assert row.per_example["same"] == 1.0
    assert row.per_example["none"] == 0.0
    assert row.per_example["café"] == 1.0
    assert 0 < row.per_example["odd"] < 1


def test_sums_of_counts_give_the_corpus_score():
    row = _scored()
    if row is None:
        return
    assert row.statistics.score() == pytest.approx(row.value, abs=1e-12)
    doubled = row.statistics.combine(2 * row.statistics.values.sum(0, keepdims=True))
    assert doubled[0] == pytest.approx(row.value, abs=1e-12)


def test_without_java_the_row_says_so_and_the_others_are_computed(monkeypatch):
    monkeypatch.setenv("PATH", "")
    scores = score_answers({"a": "a mill"}, {"a": ["a mill"]}, rules="narrativeqa")
    assert scores["meteor"].value is None
    assert "no `java` is on the PATH" in scores["meteor"].note
    assert scores["rouge_l"].value == 1.0
    assert "METEOR not computed" in str(scores)


def test_an_interrupt_leaves_no_answers_for_the_next_questions(monkeypatch, tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\nexec cat\n")  # which answers a line with itself
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    room._engine.cache_clear()
    engine = room._engine()
    pipe = engine._process.stdout

    class Interrupted:
        left = 1

        def readline(self) -> bytes:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return pipe.readline()

    monkeypatch.setattr(engine._process, "stdout", Interrupted())
    with pytest.raises(KeyboardInterrupt):
        engine.ask(["one", "two", "three"])
    assert room._engine().ask(["four", "five"]) == ["four", "five"]
    room._engine().close()
    room._engine.cache_clear()

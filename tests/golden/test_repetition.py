"""Word duplication of human questions on the real data at hand."""

from pathlib import Path

import pytest

from tfmrc.evaluation import score_repetition


@pytest.mark.shared_data
def test_human_questions_repeat_as_little_as_the_paper_says(shared_data: Path) -> None:
    """The paper's figure for human questions is 3.53 per cent, on another part of SQuAD."""
    lines = (shared_data / "nqg" / "tgt-dev.txt").read_text(encoding="utf-8").splitlines()
    scores = score_repetition(dict(enumerate(lines)), tokenizer="whitespace")
    assert 0.03 < float(scores["duplicated_words_rate"]) < 0.0353
    assert 0.0353 < float(scores["duplication_rate"]) < 0.04

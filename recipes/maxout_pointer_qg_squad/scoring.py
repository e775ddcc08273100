"""The files that a variant's questions stand in, and their scores."""

import json
from functools import cache
from pathlib import Path

from tfmrc import evaluation


def questions_file(folder: Path, beams: int) -> Path:
    """Where the questions that a search found stand, one a line."""
    return folder / f"questions-beam-{beams}.jsonl"


def metrics_file(folder: Path, beams: int) -> Path:
    """What is written when all questions are asked and scored."""
    return folder / f"metrics-beam-{beams}.json"


@cache
def scored(folder: Path, beams: int) -> tuple[evaluation.Scores, evaluation.Scores]:
    """The questions of a search against their references, and how often they repeat words.

    Scored once in a process: METEOR and the joint report of many variants take their time.
    """
    with questions_file(folder, beams).open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    questions = {line["id"]: line["question"] for line in lines}
    references = {line["id"]: line.get("references") or [line["reference"]] for line in lines}
    answers = evaluation.score_answers(questions, references, "plain", meteor=True)
    return answers, evaluation.score_repetition(questions)

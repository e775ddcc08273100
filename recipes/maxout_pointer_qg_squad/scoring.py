"""The files that a variant's questions stand in, their scores, and the picture of its attention."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tfmrc import data, evaluation
from tfmrc.evaluation.figures import save_figure


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
    return answers, evaluation.score_duplication(questions)


def plot_self_attention(asker: Any, example: data.Example, path: Path) -> list[Path]:
    """The self-attention of a passage's words as a picture: the paper's Figure 5."""
    import matplotlib.pyplot as plt

    answer, start = example.answers["span"][0], example.spans[0].start
    source = asker.features.source([example.passages[0]], [answer], [start])
    weights = np.array(asker.model.self_attention_weights(source))[0]
    words = [word.decode() for word in source["words"][0].numpy()]
    figure, panel = plt.subplots(figsize=(0.16 * len(words) + 2, 0.16 * len(words) + 2))
    panel.imshow(weights, cmap="Greys")
    panel.set_xticks(range(len(words)), words, rotation=90, fontsize=6)
    panel.set_yticks(range(len(words)), words, fontsize=6)
    for place, tag in enumerate(source["answer_tags"][0].numpy()):
        if tag:
            panel.get_xticklabels()[place].set_weight("bold")
            panel.get_yticklabels()[place].set_weight("bold")
    return save_figure(figure, path, title="")

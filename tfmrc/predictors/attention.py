"""Attention weights beside the words that they stand for."""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from tfmrc.data import Example, Span
from tfmrc.data.batching.dataset import strings
from tfmrc.data.batching.training_example import TrainingExample
from tfmrc.evaluation import plot_heat_map
from tfmrc.ops.ids import BOS, EOS, PAD

__all__ = ["Attention", "attention_of"]


@dataclass(frozen=True)
class Attention:
    """Attention weights and the words of their rows and columns; a notebook shows them as a table.

    Attributes:
        weights: float array `[rows, columns]`.
        rows: list of str. The words that attend.
        columns: list of str. The words attended to.
    """

    weights: np.ndarray
    rows: Sequence[str]
    columns: Sequence[str]

    def plot(self, path: str | Path, title: str = "") -> list[Path]:
        """Writes a PNG and an SVG; see `tfmrc.evaluation.plot_heat_map`."""
        return plot_heat_map(self.weights, self.rows, path, columns=self.columns, title=title)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(word)}</th>" for word in self.columns)
        body = ""
        for word, weights in zip(self.rows, self.weights, strict=True):
            cells = (f'<td style="background:rgba(59,111,182,{w:.2f})">{w:.2f}' for w in weights)
            body += f"<tr><th>{html.escape(word)}</th>{''.join(cells)}</tr>"
        return f"<table><tr><th></th>{head}</tr>{body}</table>"


def attention_of(
    predictor: Any, question: str, passages: Sequence[str], answer: str, start: int, style: str
) -> dict[str, Attention]:
    """Returns the attention of a predictor's model for one question and answer.

    Args:
        predictor: `Predictor`. The predictor.
        question: str. The question.
        passages: list of str. The passages; the answer may be in the first.
        answer: str. The answer.
        start: int. Offset of the answer in the first passage; -1 if it is not there.
        style: str. Style of the answer.
    """
    preprocessor = predictor.preprocessor
    spans = (Span(0, start, start + len(answer)),) if answer and start >= 0 else ()
    example = Example("", question, tuple(passages), {style: (answer,)}, spans=spans)
    given = strings([TrainingExample(example, style, answer)])
    if preprocessor.annotations:
        given |= predictor.tagger([question], [*passages])
    inputs = {name: value.numpy() for name, value in preprocessor.batch(given)[0].items()}
    texts = {"question": [question], "passage": passages, "answer": [answer]}
    texts["target"] = texts[predictor.tasks[0].target]
    found = {}
    for name, values in predictor.model.attention(inputs).items():
        _, of_rows, of_columns = predictor.model.ATTENTION[name]
        columns, real = _words(preprocessor, texts[of_columns.split("_")[0]], inputs[of_columns][0])
        table = values[0].reshape(-1, len(real))[:, real]
        rows = [f"{of_rows} {number + 1}" for number in range(len(table))]
        if of_rows in inputs:
            rows, real = _words(preprocessor, texts[of_rows.split("_")[0]], inputs[of_rows][0])
            table = table[real]
        found[name] = Attention(table, rows, columns)
    return found


def _words(
    preprocessor: Any, texts: Sequence[str], ids: np.ndarray
) -> tuple[list[str], Sequence[bool]]:
    """Returns the words of texts, each of which has a row of ids, and which ids are words."""
    words: list[str] = []
    surfaces = preprocessor.tokenizer.tokenize(tf.constant(list(texts))).surface
    for surface, row in zip(surfaces, np.atleast_2d(ids), strict=False):  # or no such passage
        read = row[row != PAD]
        end = ["[EOS]"] * (EOS in read[-1:])
        of_text = ["[BOS]"] * (BOS in read[:1]) + [word.decode() for word in surface.numpy()]
        words += of_text[: len(read) - len(end)] + end
    return words, ids.ravel() != PAD

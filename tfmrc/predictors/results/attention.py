"""Attention weights with the words of their rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfmrc.data import Example, with_exact_spans
from tfmrc.data.batching.dataset import strings
from tfmrc.data.batching.training_example import TrainingExample
from tfmrc.evaluation import plot_heat_map
from tfmrc.ops.ids import BOS, EOS, PAD

if TYPE_CHECKING:
    from tfmrc.predictors.base import Predictor
    from tfmrc.preprocessing import Preprocessor


@dataclass(frozen=True)
class Attention:
    """Attention weights and the words of their rows and columns.

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


def attention_of(predictor: "Predictor[Any]", example: Example) -> dict[str, Attention]:
    """Returns the attention of a predictor's model for one question and answer.

    Args:
        predictor: `Predictor`. The predictor.
        example: `Example`. Question, passages and answer.
    """
    ((style, (answer, *_)),) = example.answers.items()
    model, preprocessor = predictor.model, predictor.preprocessor
    if preprocessor.needs_spans:  # the passage of the answer alone
        example = next(with_exact_spans([example], style), example)
        example = replace(example, passages=example.passages[:1])
    given = strings([TrainingExample(example, style, answer)])
    if preprocessor.annotations:
        tagger: Any = predictor.tagger  # type: ignore[attr-defined]  # of SAN
        given |= tagger([example.question], [*example.passages])
    inputs = {name: value.numpy() for name, value in preprocessor.batch(given)[0].items()}
    texts = {"question": [example.question], "passage": example.passages, "answer": [answer]}
    texts["target"] = texts[predictor.tasks[0].target]

    def words(axis: str) -> tuple[list[str], Sequence[bool]]:
        return _words(preprocessor, texts[axis.split("_")[0]], inputs[axis][0])

    results = {}
    for name, values in model.attention(inputs).items():
        _, of_rows, of_columns = model.ATTENTION[name]
        columns, real = words(of_columns)
        table = values[0].reshape(-1, len(real))[:, real]
        rows = [f"{of_rows} {number + 1}" for number in range(len(table))]
        if of_rows in inputs:
            rows, real = words(of_rows)
            table = table[real]
        results[name] = Attention(table, rows, columns)
    return results


def _words(
    preprocessor: "Preprocessor", texts: Sequence[str], ids: np.ndarray
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

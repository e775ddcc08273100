"""Predictor of evidence readers: all supporting spans of passages."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import ReaderModel
from tfmrc.predictors import calibration as calibrations
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.extractive_reader import TEXTS, read_windows
from tfmrc.predictors.hugging_face.folder import save_hugging_face
from tfmrc.predictors.options import EvidenceOptions
from tfmrc.predictors.spans.evidence import evidence_spans
from tfmrc.predictors.spans.span_answer import SpanAnswer
from tfmrc.predictors.spans.windows import BEST, span_outputs
from tfmrc.preprocessing.protocols import ReaderPreprocessor


@keras.saving.register_keras_serializable(package="tfmrc")
class EvidenceReaderPredictor(Predictor[SpanAnswer]):
    """Finds all spans of one or several passages that support the answer to a question.

    The result is the most probable span, with all others as its `alternatives`, best first; its
    text is `""` if there is none. Each span has its own probability, whatever others there are.
    `tfmrc.load(folder)` makes one from a token classifier of Hugging Face with two labels, a
    highlighter or a detector of unsupported claims. The options are those of
    `tfmrc.predictors.EvidenceOptions`.

    `calibrate` fits the map to the most probable span of each question, and maps all spans by it.

    Args:
        model: A `tfmrc.models.EvidenceReader`.
        preprocessor: Its `tfmrc.preprocessing.EvidenceReaderPreprocessor`.

    Raises:
        ValueError: If model and preprocessor disagree.

    Example:

    >>> import tfmrc
    >>> from tfmrc import encoders, models, preprocessing
    >>> encoder = encoders.from_vocabulary("who flew an owl ? .".split())
    >>> predictor = tfmrc.Predictor(
    ...     models.EvidenceReader(encoder=encoder),
    ...     preprocessing.EvidenceReaderPreprocessor(encoder=encoder))
    >>> passages = ["An owl flew. Who?", "Who?"]
    >>> found = predictor.answer(
    ...     question="Who flew?", passages=passages, unit="sentence", threshold=0.0)
    >>> sorted((each.passage, each.text) for each in (found, *found.alternatives))
    [(0, 'An owl flew.'), (0, 'Who?'), (1, 'Who?')]
    """

    model_class = models.EvidenceReader
    preprocessor_class = preprocessing.EvidenceReaderPreprocessor
    model_protocol = ReaderModel
    preprocessor_protocol = ReaderPreprocessor
    options_class = EvidenceOptions
    meanings = {
        "answer": "the most probable span of evidence, as its passage writes it; empty without any",
        "answers": "all spans of evidence, best first; empty where a question has fewer",
        "probability": "its probability of being evidence",
        "probabilities": "that of each; they do not add up to 1",
        "answerable_probability": "the greatest probability of a word or sentence",
    }

    def build_signatures(self, options: EvidenceOptions) -> dict[str, Any]:
        """Returns `serving_default`, a `tf.function` from strings to a dict of tensors.

        Inputs: `question` string `[B]`, `passages` string `[B, N]`, `""` for a missing one.

        Outputs, with K the largest number of spans of a question in the batch, at least 1:

        - `answers`, `starts`, `ends` (code points of the passage), `probabilities`,
          `answer_passages` (index of the passage) `[B, K]`: all spans, the most probable first;
          `""`, -1 and 0 where there are fewer;
        - `answer` string `[B]`, `start`, `end`, `passage` int32 `[B]`, `probability` float32 `[B]`:
          the first of them;
        - `is_confident` bool `[B]`: whether there is any;
        - `answerable_probability` float32 `[B]`: the greatest probability of a word or sentence;
          `truncated` bool `[B]`.
        """

        def find(question: tf.Tensor, passages: tf.Tensor) -> dict[str, tf.Tensor]:
            read, texts, truncated = read_windows(self.preprocessor, question, passages)
            count = tf.shape(truncated)[0]
            spans, chance = evidence_spans(
                self.model, read, texts, count, unit=options.unit, threshold=options.threshold
            )
            outputs = span_outputs(texts, spans, spans.score, count)
            best = {name: outputs[several][:, 0] for name, several in BEST.items()}  # [B] each
            return outputs | best | {
                "is_confident": best["start"] >= 0,
                "answerable_probability": chance,
                "truncated": truncated,
            }  # fmt: skip

        return {"serving_default": tf.function(find, input_signature=TEXTS, autograph=False)}

    def with_confidence(self, signatures: Mapping[str, Any], options: Any) -> dict[str, Any]:
        """As that of every predictor; the probability of each span is mapped alone."""
        least = options.min_probability
        return calibrations.with_confidence(signatures, self.calibration, least, are_shares=False)

    def max_length(self, options: EvidenceOptions) -> int:
        """Returns the greatest number of subwords of a span, for the model card."""
        return self.preprocessor.longest_passage

    def save_hugging_face(self, folder: str | PathLike[str]) -> Path:
        """Writes the model in Hugging Face's form; see `tfmrc.predictors.hugging_face.folder`."""
        return save_hugging_face(self, folder)

"""Predictor of evidence readers: all supporting spans of passages."""

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import ReaderModel
from tfmrc.predictors import calibration as calibrations
from tfmrc.predictors.options import EvidenceOptions
from tfmrc.predictors.spans.evidence import evidence_spans
from tfmrc.predictors.spans.window_predictor import WindowPredictor
from tfmrc.predictors.spans.windows import BEST, span_outputs


@keras.saving.register_keras_serializable(package="tfmrc")
class EvidenceReaderPredictor(WindowPredictor):
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
    options_class = EvidenceOptions
    meanings = {
        "answer": "the most probable span of evidence, as its passage writes it; empty without any",
        "answers": "all spans of evidence, best first; empty where a question has fewer",
        "probability": "its probability of being evidence",
        "probabilities": "that of each; they do not add up to 1",
        "answerable_probability": "the greatest probability of a word or sentence",
    }

    def find(
        self, model: ReaderModel, windows: dict[str, tf.Tensor], options: EvidenceOptions
    ) -> dict[str, tf.Tensor]:
        """Returns the outputs of `serving_default`.

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
        texts, truncated = windows["texts"], windows["truncated"]
        count = tf.shape(truncated)[0]
        spans, chance = evidence_spans(
            model, windows, texts, count, unit=options.unit, threshold=options.threshold
        )
        outputs = span_outputs(texts, spans, spans.score, count)
        best = {name: outputs[several][:, 0] for name, several in BEST.items()}  # [B] each
        return outputs | best | {
            "is_confident": best["start"] >= 0,
            "answerable_probability": chance,
            "truncated": truncated,
        }  # fmt: skip

    def with_confidence(self, signatures: Mapping[str, Any], options: Any) -> dict[str, Any]:
        """Returns signatures with calibrated probabilities; each span is calibrated by itself."""
        least = options.min_probability
        return calibrations.with_confidence(signatures, self.calibration, least, are_shares=False)

    def max_length(self, options: EvidenceOptions) -> int:
        """Returns the greatest number of subwords of a span, for the model card."""
        return self.preprocessor.longest_passage

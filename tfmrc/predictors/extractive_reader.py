"""Predictor of extractive readers: answers that are spans of passages."""

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import ReaderModel
from tfmrc.predictors.options import ReaderOptions
from tfmrc.predictors.spans.reader_windows import reader_spans
from tfmrc.predictors.spans.window_predictor import WindowPredictor
from tfmrc.predictors.spans.windows import BEST, span_outputs


@keras.saving.register_keras_serializable(package="tfmrc")
class ExtractiveReaderPredictor(WindowPredictor):
    """Answers questions with spans of one or several passages.

    The probabilities of all spans of all passages, and of "no answer", are one distribution, so
    that answers of different passages and windows can be compared. `tfmrc.load(folder)` makes one
    from a model of Hugging Face. The options are those of `tfmrc.predictors.ReaderOptions`.

    Args:
        model: A `tfmrc.models.ExtractiveReader`.
        preprocessor: Its `tfmrc.preprocessing.ExtractiveReaderPreprocessor`.

    Raises:
        ValueError: If model and preprocessor disagree.

    Example:

    >>> import tfmrc
    >>> from tfmrc import encoders, models, preprocessing
    >>> encoder = encoders.from_vocabulary("who flew an owl ? .".split())
    >>> predictor = tfmrc.Predictor(
    ...     models.ExtractiveReader(encoder=encoder),
    ...     preprocessing.ExtractiveReaderPreprocessor(encoder=encoder))
    >>> passages = ["An owl flew.", "Who?"]
    >>> answer = predictor.answer(question="Who flew?", passages=passages)
    >>> answer.text == passages[answer.passage][answer.start : answer.end]
    True
    """

    model_class = models.ExtractiveReader
    preprocessor_class = preprocessing.ExtractiveReaderPreprocessor
    options_class = ReaderOptions
    meanings = {
        "answer": "the best answer, as its passage writes it; empty for passages without words",
        "probability": "its probability among all spans of all passages and no answer",
        "answerable_probability": "1 minus the probability of no answer",
    }

    def find(
        self, model: ReaderModel, windows: dict[str, tf.Tensor], options: ReaderOptions
    ) -> dict[str, tf.Tensor]:
        """Returns the outputs of `serving_default`.

        Outputs, with K = `options.num_return_sequences`:

        - `answer` string `[B]`, `start`, `end` int32 `[B]` (code points of the passage), `passage`
          int32 `[B]`, `probability` float32 `[B]`: the best span; `""`, -1 and 0 where passages
          have no words;
        - `is_confident` bool `[B]`: whether the best span is at least as probable as "no answer";
        - `answers`, `starts`, `ends`, `probabilities`, `answer_passages` (index of the passage)
          `[B, K]`: the K best spans, each with the combining marks of its last letter;
        - `answerable_probability` float32 `[B]`, `truncated` bool `[B]`.
        """
        outputs = find_answers(
            model,
            windows,
            count=options.num_return_sequences,
            max_length=self.max_length(options),
            align=options.align_to_words,
        )
        best = {name: outputs[several][:, 0] for name, several in BEST.items()}  # [B] each
        none = 1.0 - outputs["answerable_probability"]  # [B]
        return outputs | best | {"is_confident": best["probability"] >= none}


def find_answers(
    model: ReaderModel,
    windows: dict[str, tf.Tensor],
    *,
    count: int | tf.Tensor,
    max_length: int | tf.Tensor,
    align: bool | tf.Tensor,
) -> dict[str, tf.Tensor]:
    """Returns the K best spans, as outputs of `ExtractiveReaderPredictor`.

    Args:
        model: A `tfmrc.models.ExtractiveReader`.
        windows: dict. The result of `read_windows`.
        count: int or int32 scalar K.
        max_length: int or int32 scalar. Greatest number of subwords of an answer.
        align: bool or bool scalar. Whether answers are whole words.
    """
    texts, truncated = windows["texts"], windows["truncated"]
    num_questions = tf.shape(truncated)[0]
    spans, none = reader_spans(
        model, windows, texts, num_questions, count=count, max_length=max_length, align=align
    )
    return span_outputs(texts, spans, spans.score, num_questions) | {
        "answerable_probability": 1.0 - none,
        "truncated": truncated,
    }

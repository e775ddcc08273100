"""Predictor of extractive readers: answers that are spans of passages."""

from os import PathLike
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import ReaderModel
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.exported.inputs import at_least_one
from tfmrc.predictors.hugging_face.folder import save_hugging_face
from tfmrc.predictors.options import ReaderOptions
from tfmrc.predictors.spans.reader_windows import reader_spans
from tfmrc.predictors.spans.span_answer import SpanAnswer
from tfmrc.predictors.spans.windows import BEST, span_outputs, utf_8
from tfmrc.preprocessing.protocols import ReaderPreprocessor
from tfmrc.text.code_points import ends_with_marks

TEXTS = (
    tf.TensorSpec([None], tf.string, name="question"),
    tf.TensorSpec([None, None], tf.string, name="passages"),
)


@keras.saving.register_keras_serializable(package="tfmrc")
class ExtractiveReaderPredictor(Predictor[SpanAnswer]):
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
    model_protocol = ReaderModel
    preprocessor_protocol = ReaderPreprocessor
    options_class = ReaderOptions
    meanings = {
        "answer": "the best answer, as its passage writes it; empty for passages without words",
        "probability": "its probability among all spans of all passages and no answer",
        "answerable_probability": "1 minus the probability of no answer",
    }

    def build_signatures(self, options: ReaderOptions) -> dict[str, Any]:
        """Returns `serving_default`, a `tf.function` from strings to a dict of tensors.

        Inputs: `question` string `[B]`, `passages` string `[B, N]`, `""` for a missing one.

        Outputs, with K = `options.num_return_sequences`:

        - `answer` string `[B]`, `start`, `end` int32 `[B]` (code points of the passage), `passage`
          int32 `[B]`, `probability` float32 `[B]`: the best span; `""`, -1 and 0 where passages
          have no words;
        - `is_confident` bool `[B]`: whether the best span is at least as probable as "no answer";
        - `answers`, `starts`, `ends`, `probabilities`, `answer_passages` (index of the passage)
          `[B, K]`: the K best spans, each with the combining marks of its last letter;
        - `answerable_probability` float32 `[B]`, `truncated` bool `[B]`.
        """

        def answer(question: tf.Tensor, passages: tf.Tensor) -> dict[str, tf.Tensor]:
            outputs = find_answers(
                self.model,
                self.preprocessor,
                question,
                passages,
                count=options.num_return_sequences,
                max_length=self.max_length(options),
                align=options.align_to_words,
            )
            best = {name: outputs[several][:, 0] for name, several in BEST.items()}  # [B] each
            none = 1.0 - outputs["answerable_probability"]  # [B]
            return outputs | best | {"is_confident": best["probability"] >= none}

        return {"serving_default": tf.function(answer, input_signature=TEXTS, autograph=False)}

    def save_hugging_face(self, folder: str | PathLike[str]) -> Path:
        """Writes the model in Hugging Face's form; see `tfmrc.predictors.hugging_face.folder`."""
        return save_hugging_face(self, folder)


def find_answers(
    model: ReaderModel,
    preprocessor: ReaderPreprocessor,
    question: tf.Tensor,
    passages: tf.Tensor,
    *,
    count: int | tf.Tensor,
    max_length: int | tf.Tensor,
    align: bool | tf.Tensor,
    **windows: int | tf.Tensor,
) -> dict[str, tf.Tensor]:
    """Returns the K best spans, as outputs of `ExtractiveReaderPredictor`.

    Args:
        model: A `tfmrc.models.ExtractiveReader`.
        preprocessor: Its preprocessor.
        question: string `[B]`.
        passages: string `[B, N]`.
        count: int or int32 scalar K.
        max_length: int or int32 scalar. Greatest number of subwords of an answer.
        align: bool or bool scalar. Whether answers are whole words.
        **windows: `window_length`, `overlap` and `question_length` of
            `ExtractiveReaderPreprocessor.source`.
    """
    read, flat, truncated = read_windows(preprocessor, question, passages, **windows)
    num_questions = tf.shape(truncated)[0]
    spans, none = reader_spans(
        model, read, flat, num_questions, count=count, max_length=max_length, align=align
    )
    return span_outputs(flat, spans, spans.score, num_questions) | {
        "answerable_probability": 1.0 - none,
        "truncated": truncated,
    }


def read_windows(
    preprocessor: ReaderPreprocessor,
    question: tf.Tensor,
    passages: tf.Tensor,
    **windows: int | tf.Tensor,
) -> tuple[dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
    """Returns the windows of all passages, these as string `[B N]`, and `truncated` bool `[B]`.

    Args:
        preprocessor: `ExtractiveReaderPreprocessor`.
        question: string `[B]`.
        passages: string `[B, N]`; without any passage there is one, `""`.
        **windows: `window_length`, `overlap` and `question_length` of `source`.
    """
    passages = at_least_one(passages)
    num_passages = tf.shape(passages)[1]
    flat = utf_8(tf.reshape(passages, [-1]))  # [B N]
    read = preprocessor.source(tf.repeat(question, num_passages), flat, **windows)
    # Tokenizers that strip accents leave the marks of a last letter outside.
    read |= {name: ends_with_marks(flat, read["row"], read[name]) for name in ("ends", "word_ends")}
    truncated = tf.reshape(read["truncated"], tf.shape(passages))  # [B, N]
    return read, flat, tf.reduce_any(truncated, axis=1)

"""What predictors call of a preprocessor, beside what `tfmrc.preprocessing.Preprocessor` has.

A preprocessor of another paper that has the members of a protocol can be used with the predictor
that names it; `tfmrc.Predictor(model, preprocessor)` checks them.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import tensorflow as tf

from tfmrc.text.words.tokenizer import Tokenizer

Tensors = dict[str, tf.Tensor]


class SpanPreprocessor(Protocol):
    """A preprocessor of windows of words, as `SANPreprocessor`; read by `SANPredictor`.

    Attributes:
        annotations: sequence of str. Inputs of an external tagger, such as `passage_pos`.
        answer_length: int. Greatest number of words of an answer.
        longest_passage: int. Greatest number of words of a passage.
        model_inputs: sequence of str. The values of `windows` that `SpanModel.find` gets.
    """

    annotations: tuple[str, ...]
    answer_length: int
    longest_passage: int

    @property
    def model_inputs(self) -> Sequence[str]: ...

    def source(
        self, question: tf.Tensor, passage: tf.Tensor, limit: int | None = None, **annotations: Any
    ) -> Tensors:
        """Returns what `windows` reads, of whole passages.

        Args:
            question, passage: string `[B]`.
            limit: int or None. Greatest number of words of a passage.
            **annotations: string `[B]` each.

        Returns:
            A dict with at least `starts`, `ends` int32 `[B, n]`, code points of the passage's
            words, equal beyond the last one; and `truncated` bool `[B]`.
        """

    def windows(self, source: Tensors) -> Tensors:
        """Returns the model's inputs for W windows, at least one.

        Returns:
            `model_inputs` `[W, ..]`, among them `passage_ids` `[W, n]`; and int32 `[W]`: `row`, the
            passage, rising, and `first`, the position in the passage of the window's first word.
        """


class ReaderPreprocessor(Protocol):
    """A preprocessor of windows of subwords; read by `ExtractiveReaderPredictor`.

    Attributes:
        answer_length: int. Greatest number of subwords of an answer.
    """

    answer_length: int

    def source(self, question: tf.Tensor, passage: tf.Tensor, **windows: Any) -> Tensors:
        """Returns the windows of `ExtractiveReaderPreprocessor.source`."""


class WritingPreprocessor(Protocol):
    """A preprocessor that converts extended ids to text, as every `Preprocessor` does."""

    def detokenize(self, ids: tf.Tensor, source: Tensors) -> tuple[tf.Tensor, tf.Tensor]:
        """Returns the texts, string `[B, N]`, and their words, string `[B, N, T]`.

        Args:
            ids: int32 `[B, N, T]`. Extended ids.
            source: dict. The output of `source` for the same B examples.
        """


class AnswerPreprocessor(WritingPreprocessor, Protocol):
    """A preprocessor of questions, passages and styles, as Masque's; read by `MasquePredictor`.

    Attributes:
        answer_length: int. Greatest number of words of an answer, without its end.
        model_inputs: sequence of str. The values of `source` that the model gets.
    """

    answer_length: int

    @property
    def model_inputs(self) -> Sequence[str]: ...

    def source(self, question: tf.Tensor, passages: tf.Tensor, style: tf.Tensor) -> Tensors:
        """Returns what `MasquePreprocessor.source` does.

        Args:
            question, style: string `[B]`.
            passages: string `[B, K']`.
        """

    def relevance_gold(self, passages: tf.Tensor, relevance: tf.Tensor) -> tf.Tensor:
        """Returns the true relevance, float32 `[B, K]`, for a model that needs it."""


class QuestionPreprocessor(WritingPreprocessor, Protocol):
    """A preprocessor of passages and answers; read by `MaxoutPointerQGPredictor`.

    Attributes:
        question_length: int. Greatest number of words of a question, without its end.
        with_answers: bool. Whether the model knows where the answer is.
        model_inputs: sequence of str. The values of `source` that the model gets.
        tokenizer: `tfmrc.text.Tokenizer`. Finds candidates of answers.
    """

    question_length: int
    with_answers: bool
    tokenizer: Tokenizer

    @property
    def model_inputs(self) -> Sequence[str]: ...

    def source(
        self, passage: tf.Tensor, answer: tf.Tensor, answer_start: tf.Tensor | None = None
    ) -> Tensors:
        """Returns what `MaxoutPointerQGPreprocessor.source` does, of `[B]` each."""


class DualPreprocessor(WritingPreprocessor, Protocol):
    """A preprocessor of both tasks of a dual model; read by `DAANetPredictor`.

    Attributes:
        question_length, answer_length: int. Greatest numbers of words, without the end.
        passage_inputs: sequence of str. The values of `source` that the model gets.
    """

    question_length: int
    answer_length: int

    @property
    def passage_inputs(self) -> Sequence[str]: ...

    def source(self, passage: tf.Tensor) -> Tensors:
        """Returns what `DAANetPreprocessor.source` does, of passages `[B]`."""

    def given(self, text: tf.Tensor, name: str, source: Tensors | None = None) -> Tensors:
        """Returns the model's inputs of the given text `[B]`: `name` is "question" or "answer"."""

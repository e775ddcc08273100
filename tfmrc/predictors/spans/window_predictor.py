"""Base class of the predictors that read passages in windows of subwords."""

from os import PathLike
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.models.protocols import ReaderModel
from tfmrc.predictors import openvino
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.exported.inputs import at_least_one
from tfmrc.predictors.hugging_face.folder import save_hugging_face
from tfmrc.predictors.spans.span_answer import SpanAnswer
from tfmrc.predictors.spans.windows import utf_8
from tfmrc.preprocessing.protocols import ReaderPreprocessor
from tfmrc.text.code_points import ends_with_marks

Tensors = dict[str, tf.Tensor]


class WindowPredictor(Predictor[SpanAnswer]):
    """A predictor of spans from the scores of subwords.

    A subclass defines `find`. What lies between windows and scores can be computed by OpenVINO.
    """

    _network: openvino.Network | None = None
    _state: Any = None  # reads what tells the model's weights apart
    _converted: bytes = b""  # the state of the model that the network was converted from
    model_protocol = ReaderModel
    preprocessor_protocol = ReaderPreprocessor

    @property
    def network(self) -> ReaderModel:
        """The model, or OpenVINO's network of it, which follows its weights."""
        if not openvino.chooses_openvino(self.runtime, self.model):
            return self.model
        self._state = self._state or openvino.state_of(self.model)
        state = self._state().numpy().tobytes()
        if self._network is None:
            self._network = openvino.Network(openvino.converted(self.model))
        elif state != self._converted:
            self._network.load(openvino.converted(self.model))
        self._converted = state
        return self._network

    def build_signatures(self, options: Any) -> dict[str, Any]:
        """Returns `serving_default`, a `tf.function` from strings to the outputs of `find`.

        Inputs: `question` string `[B]`, `passages` string `[B, N]`, `""` for a missing one.
        """
        return self._signatures_with(self.network, options)

    def export_signatures(self, options: Any) -> dict[str, Any]:
        """Returns `serving_default` in TensorFlow, whatever computes this predictor."""
        return self._signatures_with(self.model, options)

    def _signatures_with(self, network: ReaderModel, options: Any) -> dict[str, Any]:
        def answer(question: tf.Tensor, passages: tf.Tensor) -> Tensors:
            return self.find(network, self.read(question, passages), options)

        return {
            "serving_default": tf.function(answer, input_signature=openvino.TEXTS, autograph=False)
        }

    def read(self, question: tf.Tensor, passages: tf.Tensor) -> Tensors:
        """Returns the windows of all passages; see `read_windows`."""
        return read_windows(self.preprocessor, question, passages)

    def find(self, model: ReaderModel, windows: Tensors, options: Any) -> Tensors:
        """Returns the outputs of `serving_default`.

        Args:
            model: The model, or its network on another engine.
            windows: dict. The result of `read`.
            options: An instance of `options_class`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define `find`.")

    def save_hugging_face(self, folder: str | PathLike[str]) -> Path:
        """Writes the model in Hugging Face's form; see `tfmrc.predictors.hugging_face.folder`."""
        return save_hugging_face(self, folder)


def read_windows(
    preprocessor: ReaderPreprocessor,
    question: tf.Tensor,
    passages: tf.Tensor,
    **sizes: int | tf.Tensor,
) -> dict[str, tf.Tensor]:
    """Returns the windows of all passages, `texts` string `[B N]`, and `truncated` bool `[B]`.

    Args:
        preprocessor: `ExtractiveReaderPreprocessor`.
        question: string `[B]`.
        passages: string `[B, N]`; without any passage there is one, `""`.
        **sizes: `window_length`, `overlap` and `question_length` of `source`.
    """
    passages = at_least_one(passages)
    num_passages = tf.shape(passages)[1]
    flat = utf_8(tf.reshape(passages, [-1]))  # [B N]
    read = preprocessor.source(tf.repeat(question, num_passages), flat, **sizes)
    # Tokenizers that strip accents leave the marks of a last letter outside.
    read |= {name: ends_with_marks(flat, read["row"], read[name]) for name in ("ends", "word_ends")}
    truncated = tf.reshape(read["truncated"], tf.shape(passages))  # [B, N]
    return read | {"texts": flat, "truncated": tf.reduce_any(truncated, axis=1)}

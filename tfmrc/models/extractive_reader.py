"""Extractive reader: a linear layer on a pretrained encoder that finds the span of an answer."""

from typing import Any

import keras
from keras import ops

from tfmrc.encoders.layer_of import layer_of
from tfmrc.layers import LinearAnswer
from tfmrc.models.base import Model
from tfmrc.models.configuration import symbolic_inputs


@keras.saving.register_keras_serializable(package="tfmrc")
class ExtractiveReader(Model):
    """Finds the first and the last subword of an answer, as BERT does for SQuAD.

    The encoder reads `[CLS] question [SEP] passage [SEP]`; one linear layer computes two scores for
    each subword, `s = w_begin . h + c_begin` and `e = w_end . h + c_end`. This is the arithmetic of
    the models `BertForQuestionAnswering`, `RobertaForQuestionAnswering` and their siblings of
    Hugging Face, whose weights `tfmrc.load(folder)` reads. Before the scores, readers of ModernBERT
    have a `tfmrc.layers.PredictionHead`.

    The first subword, `[CLS]`, is the answer to a question that the passage does not answer.

    Padding: subwords outside `answer_mask` have the log-probability `LOG_ZERO`.

    Args:
        encoder: Result of `tfmrc.encoders.from_preset`, or its layer.
        dropout: float. Dropout rate of the encoder's output. Default: 0.1.
        seed: int or None. Seed of the dropout. Default: None.

    Call arguments:
        inputs: dict, made by `tfmrc.preprocessing.ExtractiveReaderPreprocessor`.
        encoder_ids: int `[B, P]`.
        segment_ids: int `[B, P]`.
        answer_mask: bool `[B, P]`, True for the passage's subwords and `[CLS]`.

    Returns:
        A dict: `begin` and `end` float32 `[B, P]`, the log-probabilities that the answer begins and
        ends with each subword.

    Example:
        >>> import numpy as np
        >>> from tfmrc import encoders
        >>> from tfmrc.models import ExtractiveReader
        >>> model = ExtractiveReader(encoder=encoders.from_vocabulary(["who", "owl"], hidden_dim=8))
        >>> batch = {"encoder_ids": np.array([[2, 4, 3, 5, 3]]), "segment_ids": np.zeros((1, 5)),
        ...     "answer_mask": np.array([[True, False, False, True, False]])}
        >>> begin = np.exp(model(batch)["begin"])
        >>> round(float(begin.sum()), 4), float(begin[0, 1])
        (1.0, 0.0)

    Reference: Devlin et al. 2019, sections 4.2 and 4.3.
    """

    def __init__(
        self,
        *,
        encoder: Any,
        dropout: float = 0.1,
        seed: int | None = None,
        name: str = "extractive_reader",
        dtype: str | keras.DTypePolicy | None = None,
    ):
        self.encoder = layer_of(encoder)
        self.answer_module = self.build_answer_module()
        names = ("encoder_ids", "segment_ids", "answer_mask")
        inputs = symbolic_inputs(dict.fromkeys(names, (None,)))
        states, mask = self._states(inputs), inputs["answer_mask"]
        outputs = self.answer_module(states, states, question_mask=mask, memory_mask=mask)
        super().__init__(inputs=inputs, outputs=outputs, name=name)

    def build_answer_module(self):
        """Returns the layer from the encoder's states to the scores."""
        a = self.arguments
        head = getattr(self.encoder, "prediction_head", None)
        return LinearAnswer(a.dropout, a.seed, head, name="answer_module", dtype=a.dtype)

    def _states(self, inputs):
        """Returns the encoder's states `[B, P, d]`."""
        ids, segments = inputs["encoder_ids"], inputs["segment_ids"]
        return self.encoder(ids[:, None], segments[:, None])

    def scores(self, inputs):
        """Computes the scores of all subwords outside training, without normalization.

        Args:
            inputs: dict. `encoder_ids` and `segment_ids` `[B, P]`.

        Returns:
            Float32 `[B, P, 2]`, the scores of begin and end; of an evidence reader `[B, P, 1]`.
        """
        return ops.cast(self.answer_module.scores_of(self._states(inputs)), "float32")

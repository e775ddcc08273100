"""Evidence reader: a linear layer on a pretrained encoder that finds all supporting spans."""

from typing import Any

import keras

from tfmrc.layers import EvidenceScores
from tfmrc.models.extractive_reader import ExtractiveReader


@keras.saving.register_keras_serializable(package="tfmrc")
class EvidenceReader(ExtractiveReader):
    """Finds all subwords of a passage that support the answer to a question.

    The encoder reads `[CLS] question [SEP] passage [SEP]` as that of an `ExtractiveReader`; one
    linear layer computes one score of each subword, the log-odds that it is part of the evidence.
    A question may have any number of supporting spans, and none.

    This is the arithmetic of `BertForTokenClassification` and its siblings of Hugging Face with two
    labels, whose softmax depends on the difference of their scores alone; `tfmrc.load(folder)`
    reads their weights.

    Padding: subwords outside `answer_mask` have the score `LOG_ZERO`.

    Args:
        encoder: Result of `tfmrc.encoders.from_preset`, or its layer.
        dropout: float. Dropout rate of the encoder's output. Default: 0.1.
        seed: int or None. Seed of the dropout. Default: None.

    Call arguments (a dict, from `tfmrc.preprocessing.EvidenceReaderPreprocessor`):
        encoder_ids: int `[B, P]`.
        segment_ids: int `[B, P]`.
        answer_mask: bool `[B, P]`, True for the passage's subwords and `[CLS]`.

    Returns:
        A dict: `evidence` float32 `[B, P]`, the log-odds.

    Example:
        >>> import numpy as np
        >>> from tfmrc import encoders
        >>> from tfmrc.models import EvidenceReader
        >>> model = EvidenceReader(encoder=encoders.from_vocabulary(["who", "owl"], hidden_dim=8))
        >>> batch = {"encoder_ids": np.array([[2, 4, 3, 5, 3]]), "segment_ids": np.zeros((1, 5)),
        ...     "answer_mask": np.array([[True, False, False, True, False]])}
        >>> (np.array(model(batch)["evidence"]) > -100).tolist()
        [[True, False, False, True, False]]
    """

    def __init__(
        self,
        *,
        encoder: Any,
        dropout: float = 0.1,
        seed: int | None = None,
        name: str = "evidence_reader",
        dtype: str | keras.DTypePolicy | None = None,
    ):
        super().__init__(encoder=encoder, dropout=dropout, seed=seed, name=name, dtype=dtype)

    def build_answer_module(self):
        """Returns the layer from the encoder's states to the scores."""
        a = self.arguments
        head = getattr(self.encoder, "prediction_head", None)
        return EvidenceScores(a.dropout, a.seed, head, name="answer_module", dtype=a.dtype)

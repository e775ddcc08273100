"""SentencePiece of ALBERT, DeBERTa and XLM-RoBERTa, by graph operations."""

from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text

FILE_NAME = "sentencepiece.model"


class SentencePieces(tf.Module):
    """Splits words into the pieces of a SentencePiece model.

    A preceding space belongs to the word and is written `▁`, also at the beginning of a text. A
    SentencePiece model adds this space to every string. Here it is added only where the text has
    one, so that a mark directly after a word is split as within a text.

    Args:
        model: bytes. Content of the model file.
        lowercase: bool. Whether to convert words to lower case first (ALBERT). Default: False.
        strip_accents: bool. Whether to remove accents first (ALBERT). Default: False.
        fairseq_ids: bool. Whether to use the ids of XLM-RoBERTa: one more than the model's, with
            the unknown piece at 3. Default: False.

    Raises:
        ImportError: `sentencepiece` is missing.

    Reference: Kudo and Richardson 2018.
    """

    kind = "sentence_pieces"
    first_is_spaced = True

    def __init__(
        self,
        model: bytes,
        lowercase: bool = False,
        strip_accents: bool = False,
        fairseq_ids: bool = False,
    ):
        super().__init__(name=self.kind)
        try:
            from sentencepiece import sentencepiece_model_pb2 as messages
        except ImportError as error:
            raise ImportError(
                "A SentencePiece vocabulary needs the package sentencepiece: "
                "pip install tfmrc[encoders]"
            ) from error
        proto = messages.ModelProto()  # type: ignore[attr-defined]
        proto.ParseFromString(model)
        self._pieces = {piece.piece: index for index, piece in enumerate(proto.pieces)}
        self._model = model
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.fairseq_ids = fairseq_ids
        proto.normalizer_spec.add_dummy_prefix = False
        proto.normalizer_spec.remove_extra_whitespaces = False
        with tf.init_scope():
            self._cutter = tf_text.SentencepieceTokenizer(
                model=proto.SerializeToString(), out_type=tf.int32
            )

    def cut(self, words: Any, spaced: Any) -> tf.RaggedTensor:
        """Splits words into pieces.

        Args:
            words: string `[N]`.
            spaced: bool `[N]`, whether a space precedes the word.

        Returns:
            int32 ragged `[N, pieces]`.
        """
        words = tf.convert_to_tensor(words, tf.string)
        if self.strip_accents:
            words = tf_text.normalize_utf8(words, "NFKD")
            words = tf.strings.regex_replace(words, r"\p{Mn}", "")
        if self.lowercase:
            words = tf.strings.lower(words, encoding="utf-8")
        ids = self._cutter.tokenize(tf.strings.join([tf.where(spaced, " ", ""), words]))
        if self.fairseq_ids:
            ids = ids.with_values(tf.where(ids.values == 0, 3, ids.values + 1))
        return ids

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        fairseq = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
        if self.fairseq_ids:
            return fairseq[piece] if piece in fairseq else self._pieces[piece] + 1
        return self._pieces[piece]

    def __len__(self) -> int:
        """Returns the number of ids."""
        return len(self._pieces) + self.fairseq_ids

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the model."""
        return {
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "fairseq_ids": self.fairseq_ids,
        }

    def save_assets(self, folder: str | Path) -> None:
        """Writes the model file."""
        (Path(folder) / FILE_NAME).write_bytes(self._model)

    @classmethod
    def from_assets(cls, folder: str | Path, **config: Any) -> "SentencePieces":
        """Loads the pieces from a folder of `save_assets`."""
        return cls((Path(folder) / FILE_NAME).read_bytes(), **config)

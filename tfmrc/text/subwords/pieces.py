"""What WordPiece, byte pairs and Unigram have in common."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import tensorflow as tf

from tfmrc.text.pickling import Pickled
from tfmrc.text.subwords.special_tokens import SpecialTokens
from tfmrc.text.subwords.text_pieces import TextPieces
from tfmrc.text.typing import TensorLike


class Pieces(Pickled, tf.Module):
    """Splits words or whole texts into the subwords of a pretrained encoder.

    Args:
        ids: dict from piece to id.
        size: int. Number of ids.
    """

    kind: ClassVar[str]
    first_is_spaced: ClassVar[bool] = False  # whether a space precedes the first word of a text
    keeps_spaces: bool = False  # whether the characters of a piece include the space before it

    def __init__(self, ids: Mapping[str, int], size: int):
        super().__init__(name=self.kind)
        self._ids = dict(ids)
        self._size = size

    def cut(self, words: TensorLike, spaced: TensorLike) -> tf.RaggedTensor:
        """Splits words into pieces.

        Args:
            words: string `[N]`, UTF-8.
            spaced: bool `[N]`, whether a space precedes the word.

        Returns:
            int32 ragged `[N, pieces]`.
        """
        raise NotImplementedError

    def tokenize(self, texts: TensorLike, special_tokens: SpecialTokens) -> TextPieces:
        """Returns the subwords of whole texts.

        Args:
            texts: string `[R]`, UTF-8.
            special_tokens: `SpecialTokens`.

        Raises:
            tf.errors.InvalidArgumentError: If a text has combining marks that are not supported.
        """
        raise NotImplementedError

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        return self._ids[piece]

    def __contains__(self, piece: str) -> bool:
        """Returns True if a piece has an id."""
        return piece in self._ids

    def __len__(self) -> int:
        """Returns the number of ids."""
        return self._size

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the vocabulary."""
        raise NotImplementedError

    def save_assets(self, folder: Path) -> None:
        """Writes the vocabulary to a folder."""
        raise NotImplementedError

    @classmethod
    def from_assets(cls, folder: Path, **config: Any) -> Self:
        """Loads the pieces from a folder of `save_assets`."""
        raise NotImplementedError

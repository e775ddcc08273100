"""Pieces of a Unigram model in `tokenizer.json`, by graph operations."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from tfmrc.text.special_tokens import SpecialTokens
from tfmrc.text.unigram import Unigram
from tfmrc.text.unigram_text import UnigramText

__all__ = ["UnigramPieces"]

FILE_NAME = "unigram.json"


class UnigramPieces(tf.Module):
    """Splits words into the pieces of a Unigram model, as XLM-RoBERTa, DeBERTa and ALBERT do.

    Args:
        vocabulary: list of (str, float). The pieces with their scores; the index is the id.
        unknown_id: int. Id of unknown characters.
        normalizer: dict or None. The value in `tokenizer.json`. Default: None.
        pre_tokenizer: dict. The value in `tokenizer.json`. Default: None, `Metaspace`.

    Raises:
        ValueError: A component is damaged or not followed here.

    Example:
        >>> from tfmrc.text.unigram_pieces import UnigramPieces
        >>> pieces = UnigramPieces([("<unk>", 0.0), ("▁owl", -3.0), ("owl", -4.0)], 0)
        >>> pieces.cut(["owl", "owl", "x"], [True, False, False]).to_list()
        [[1], [2], [0]]
    """

    kind = "unigram"
    first_is_spaced = True

    def __init__(
        self,
        vocabulary: Sequence[tuple[str, float]],
        unknown_id: int,
        normalizer: Mapping[str, Any] | None = None,
        pre_tokenizer: Mapping[str, Any] | None = None,
    ):
        super().__init__(name=self.kind)
        _check(vocabulary, unknown_id)
        self._model = Unigram(vocabulary, unknown_id)
        # As text, because a module would wrap its dicts and lists.
        self._json = json.dumps(
            {
                "unknown_id": unknown_id,
                "normalizer": normalizer,
                "pre_tokenizer": pre_tokenizer or {"type": "Metaspace", "replacement": "▁"},
                "vocabulary": [*map(list, vocabulary)],
            },
            ensure_ascii=False,
        )
        self._ids = {piece: index for index, (piece, _) in enumerate(vocabulary)}
        self._size = len(vocabulary)
        self._words = self.text_tokenizer(SpecialTokens([]))

    def cut(self, words: Any, spaced: Any) -> tf.RaggedTensor:
        """Splits words into pieces.

        Args:
            words: string `[N]`.
            spaced: bool `[N]`, whether a space precedes the word.

        Returns:
            int32 ragged `[N, pieces]`.
        """
        return self._words.tokenize(words, tf.convert_to_tensor(spaced)).ids

    def text_tokenizer(self, special_tokens: SpecialTokens) -> UnigramText:
        """Returns the tokenizer of whole texts with these pieces."""
        components = self.components()
        return UnigramText(
            self._model, components["normalizer"], components["pre_tokenizer"], special_tokens
        )

    def id_of(self, piece: str) -> int:
        """Returns the id of a piece. Raises KeyError if there is none."""
        return self._ids[piece]

    def __len__(self) -> int:
        """Returns the number of ids."""
        return self._size

    def components(self) -> dict[str, Any]:
        """Returns `vocabulary`, `unknown_id`, `normalizer` and `pre_tokenizer`."""
        result: dict[str, Any] = json.loads(self._json)
        return result

    def get_config(self) -> dict[str, Any]:
        """Returns the configuration; `save_assets` saves the components."""
        return {}

    def save_assets(self, folder: str | Path) -> None:
        """Writes the components to `unigram.json`."""
        (Path(folder) / FILE_NAME).write_text(self._json, encoding="utf-8")

    @classmethod
    def from_assets(cls, folder: str | Path, **config: Any) -> "UnigramPieces":
        """Loads the pieces from a folder of `save_assets`."""
        text = (Path(folder) / FILE_NAME).read_text(encoding="utf-8")
        return cls(**json.loads(text), **config)


def _check(vocabulary: Any, unknown_id: Any) -> None:
    for index, entry in enumerate(vocabulary):
        if not (
            isinstance(entry, Sequence)
            and len(entry) == 2
            and isinstance(entry[0], str)
            and isinstance(entry[1], (int, float))
            and math.isfinite(entry[1])
        ):
            raise ValueError(
                "A piece of a Unigram model must be a string and a finite score. "
                f"Received: vocabulary[{index}]={str(entry)[:80]}"
            )
    if not isinstance(unknown_id, int) or not 0 <= unknown_id < len(vocabulary):
        raise ValueError(
            f"unk_id must be an id of the {len(vocabulary)} pieces. Received: {unknown_id!r}"
        )

"""What all feature builders have in common: a vocabulary, and words of ids."""

from pathlib import Path
from typing import Any, Self

import tensorflow as tf

from tfmrc.text.detokenize import join_words, words_of_ids
from tfmrc.text.tokenizer import Tokenizer
from tfmrc.text.vocabulary import FILE_NAME, Vocabulary

Tensors = dict[str, tf.Tensor]
DEVICE = "/CPU:0"  # strings live there; a server's accelerator is for the model


class Preprocessor(tf.Module):
    """Strings to a model's numbers and back, over one vocabulary; graph operations only.

    Args:
        vocabulary: the input ids.
        generation_vocabulary_size: at most so many generable rows, special ones included; None for
            a model that writes nothing.
        sizes: further numbers by name, all positive; each becomes an attribute.
        name: name of the module.

    Raises:
        ValueError: a size is not positive.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        generation_vocabulary_size: int | None,
        sizes: dict[str, int],
        name: str,
    ):
        super().__init__(name=name)
        if generation_vocabulary_size is not None:
            sizes = sizes | {"generation_vocabulary_size": generation_vocabulary_size}
        for size_name, size in sizes.items():
            if size < 1:
                raise ValueError(f"Sizes are positive. Received: {size_name}={size}")
            setattr(self, size_name, size)
        self.vocabulary = vocabulary
        self.tokenizer = Tokenizer()
        if generation_vocabulary_size is not None:
            self.generation_vocabulary_size = min(generation_vocabulary_size, len(vocabulary.words))

    def rotated(self, input_ids: tf.Tensor, rotation: Any) -> tf.Tensor:
        """Unknown words that many buckets on: equal words stay equal."""
        first, count = self.vocabulary.size, self.vocabulary.num_oov_buckets
        shape = tf.concat([tf.shape(rotation), tf.ones([tf.rank(input_ids) - 1], tf.int32)], axis=0)
        steps = tf.reshape(tf.cast(rotation, tf.int32) % count, shape)
        moved = first + (input_ids - first + steps) % count
        return tf.where(input_ids < first, input_ids, moved)

    def detokenize(self, ids: Any, source: Tensors) -> tuple[tf.Tensor, tf.Tensor]:
        """Extended ids to running text and its words.

        Args:
            ids: int32 `[B, …, T]`, for instance `[B, T]` or `[B, num_return_sequences, T]`.
            source: what `source` gave for the same B examples.

        Returns:
            The text, string `[B, …]`, and its words, string `[B, …, T]`. A generable word is
            written as in the vocabulary, a copied one as it stood at its first occurrence; from
            the first `EOS` on all words are "".
        """
        words = words_of_ids(ids, source["words"], self.vocabulary, self.generation_vocabulary_size)
        return join_words(words), words

    def get_config(self) -> dict[str, Any]:
        """Plain values; the words are saved by `save_assets`."""
        written = getattr(self, "generation_vocabulary_size", None)
        return {
            **({} if written is None else {"generation_vocabulary_size": written}),
            "num_oov_buckets": self.vocabulary.num_oov_buckets,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], vocabulary: Vocabulary | str | Path) -> Self:
        """Builds the preprocessor again.

        Args:
            config: what `get_config` gave.
            vocabulary: a vocabulary, or the folder that `save_assets` wrote to.
        """
        config = dict(config)
        num_oov_buckets = config.pop("num_oov_buckets")
        if not isinstance(vocabulary, Vocabulary):
            vocabulary = Vocabulary.load(vocabulary, num_oov_buckets)
        return cls(vocabulary, **config)

    def save_assets(self, folder: str | Path) -> None:
        """Writes `vocabulary.txt` into the folder, which is made if it is missing."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self.vocabulary.save(folder / FILE_NAME)

    def __repr__(self) -> str:
        sizes = self.get_config()
        sizes.pop("num_oov_buckets")
        arguments = ", ".join(f"{name}={value!r}" for name, value in sizes.items())
        return f"<{type(self).__name__} {arguments}, vocabulary={self.vocabulary!r}>"

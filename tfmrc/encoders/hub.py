"""ELMo, or another module with its signature, from TensorFlow Hub as a frozen feature."""

import os
from pathlib import Path
from typing import Any

import tensorflow as tf

INSTALL = 'pip install "tensorflow-hub>=0.16.1" tf-keras "setuptools<81"'
SIGNATURE = "tokens"

__all__ = ["HubELMo"]


class HubELMo(tf.Module):
    """Contextual word vectors of a module of TensorFlow Hub; its weights are not trained.

    The module has the signature `tokens` of the published ELMo modules: `tokens`, string
    `[N, n]`, and `sequence_len`, int32 `[N]`, give a dict of word vectors, of which `output` is
    taken. Modules of TensorFlow 2 and 1 are read. In an export this object carries the module's
    graph and weights with it, when it is tracked as an attribute.

    A SavedModel is a program: use only modules whose source is trusted.

    Padding: real words come first; vectors at padding, and of rows without a word, are zeros.

    Args:
        handle: the folder of an unpacked module, or an address such as
            `https://tfhub.dev/google/elmo/3`, which the package tensorflow-hub resolves.
        output: name of the output: "elmo" (the mix of layers), or another one that is `[N, n, d]`.

    Raises:
        ValueError: the module lacks the signature or the output, or is not a SavedModel.
        ImportError: the handle is an address, and tensorflow-hub cannot be imported.

    Example:
        >>> from tfmrc.encoders import HubELMo
        >>> elmo = HubELMo("https://tfhub.dev/google/elmo/3")  # doctest: +SKIP
        >>> elmo([["An", "owl", "flew"], ["It", "", ""]]).shape  # doctest: +SKIP
        TensorShape([2, 3, 1024])

    Reference: Peters et al. 2018.
    """

    def __init__(self, handle: str | os.PathLike[str], output: str = "elmo"):
        super().__init__(name="hub_elmo")
        self.handle = os.fspath(handle)
        self.output = output
        folder = _resolved(self.handle)
        # hub.load asks for no tags where a module is of TensorFlow 1.
        tags: list[str] | None = [] if (folder / "tfhub_module.pb").is_file() else None
        try:
            self.module = tf.saved_model.load(str(folder), tags=tags)
        except (OSError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"There is no SavedModel that can be loaded: {error}. Received: handle={handle!r}"
            ) from error
        signatures = dict(self.module.signatures)
        if SIGNATURE not in signatures:
            raise ValueError(
                f"A module of words has the signature `{SIGNATURE}`. Received: handle={handle!r} "
                f"with the signatures {sorted(signatures)}"
            )
        self._function = signatures[SIGNATURE]
        inputs = set(self._function.structured_input_signature[1])
        if inputs != {"tokens", "sequence_len"}:
            raise ValueError(
                f"The signature `{SIGNATURE}` takes tokens and sequence_len. "
                f"Received: {sorted(inputs)}"
            )
        outputs = self._function.structured_outputs
        if output not in outputs or outputs[output].shape.rank != 3:
            found = [name for name, x in outputs.items() if x.shape.rank == 3]
            raise ValueError(f"`output` is one of {sorted(found)}. Received: output={output!r}")
        self.output_dim = outputs[output].shape[-1]

    def __call__(self, words: Any, padding_mask: Any = None) -> tf.Tensor:
        """Vectors of words.

        Args:
            words: string `[..., n]`, as they are written.
            padding_mask: boolean `[..., n]`, True = real; by default the words that are not "".

        Returns:
            float32 `[..., n, output_dim]`.
        """
        words = tf.convert_to_tensor(words, tf.string)
        mask = words != "" if padding_mask is None else tf.cast(padding_mask, tf.bool)
        shape = tf.shape(words)
        rows = tf.reshape(words, [-1, shape[-1]])
        rows = tf.where(tf.reshape(mask, tf.shape(rows)), rows, "")
        length = tf.reduce_sum(tf.cast(rows != "", tf.int32), axis=-1)
        # A row without a word counts as one of length 1: recurrent modules refuse empty ones.
        found = self._function(tokens=rows, sequence_len=tf.maximum(length, 1))[self.output]
        found = tf.reshape(found, tf.concat([shape, [tf.shape(found)[-1]]], axis=0))
        found = tf.ensure_shape(found, [*words.shape, self.output_dim])
        return tf.stop_gradient(tf.where(mask[..., None], tf.cast(found, tf.float32), 0.0))

    def get_config(self) -> dict[str, Any]:
        """Plain values; the module itself stays where it is."""
        return {"handle": self.handle, "output": self.output}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "HubELMo":
        """Loads the module again."""
        return cls(**config)

    def __repr__(self) -> str:
        return f"<HubELMo {self.handle}, output={self.output!r} of {self.output_dim}>"


def _resolved(handle: str) -> Path:
    if Path(handle).is_dir():
        return Path(handle)
    if "://" not in handle:
        raise ValueError(
            f"A module is an unpacked folder or an address. Received: handle={handle!r}"
        )
    try:
        import tensorflow_hub
    except ImportError as error:
        raise ImportError(
            f"An address is resolved by tensorflow-hub, which cannot be imported ({error}): "
            f"{INSTALL}. Or unpack the module and give its folder. Received: handle={handle!r}"
        ) from error
    return Path(tensorflow_hub.resolve(handle))

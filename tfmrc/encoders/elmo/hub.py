"""ELMo modules of TensorFlow Hub as frozen features."""

import os
from pathlib import Path

import tensorflow as tf

from tfmrc.utils.optional import optional_import

PACKAGES = '"tensorflow-hub>=0.16.1" tf-keras "setuptools<81"'
SIGNATURE = "tokens"


class HubELMo(tf.Module):
    """Computes contextual word vectors with a frozen TensorFlow Hub module.

    The module must have the signature `tokens` of the published ELMo modules: `tokens`, string
    `[N, n]`, and `sequence_len`, int32 `[N]`, give a dict of word vectors, from which `output` is
    selected. Modules of TensorFlow 1 and 2 are supported. If this object is tracked as an
    attribute, an export contains the module's graph and weights.

    A SavedModel is a program: use only modules from a trusted source.

    Padding: real words come first; vectors at padding and in empty rows are zeros.

    Args:
        handle: str or path. The folder of an unpacked module, or a URL such as
            `https://tfhub.dev/google/elmo/3`, which the package tensorflow-hub resolves.
        output: str. Name of the output: "elmo" (the mix of layers) or another output of shape
            `[N, n, d]`. Default: "elmo".

    Raises:
        ValueError: If the module lacks the output.
        ImportError: If the handle is a URL, and tensorflow-hub cannot be imported.

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
        # As in hub.load, a TensorFlow 1 module is loaded without tags.
        tags: list[str] | None = [] if (folder / "tfhub_module.pb").is_file() else None
        self.module = tf.saved_model.load(str(folder), tags=tags)
        self._function = self.module.signatures[SIGNATURE]
        outputs = self._function.structured_outputs
        if output not in outputs or outputs[output].shape.rank != 3:
            words = sorted(name for name, x in outputs.items() if x.shape.rank == 3)
            raise ValueError(f"`output` must be one of {words}. Received: output={output!r}")
        self.output_dim = outputs[output].shape[-1]

    def __call__(
        self, words: tf.Tensor | list[list[str]], padding_mask: tf.Tensor | None = None
    ) -> tf.Tensor:
        """Computes the vectors of words.

        Args:
            words: string `[..., n]`, the surface forms.
            padding_mask: boolean `[..., n]`, True = real; by default the words that are not "".
                Default: None.

        Returns:
            float32 `[..., n, output_dim]`.
        """
        words = tf.convert_to_tensor(words, tf.string)
        mask = words != "" if padding_mask is None else tf.cast(padding_mask, tf.bool)
        shape = tf.shape(words)
        rows = tf.reshape(words, [-1, shape[-1]])
        rows = tf.where(tf.reshape(mask, tf.shape(rows)), rows, "")
        length = tf.reduce_sum(tf.cast(rows != "", tf.int32), axis=-1)
        # An empty row gets length 1, because recurrent modules reject empty rows.
        result = self._function(tokens=rows, sequence_len=tf.maximum(length, 1))[self.output]
        result = tf.reshape(result, tf.concat([shape, [tf.shape(result)[-1]]], axis=0))
        result = tf.ensure_shape(result, [*words.shape, self.output_dim])
        return tf.stop_gradient(tf.where(mask[..., None], tf.cast(result, tf.float32), 0.0))

    def __repr__(self) -> str:
        return f"<HubELMo {self.handle}, output={self.output!r} of {self.output_dim}>"


def _resolved(handle: str) -> Path:
    if "://" not in handle:
        return Path(handle)
    with optional_import(PACKAGES):  # or pass the folder of the unpacked module
        import tensorflow_hub
    return Path(tensorflow_hub.resolve(handle))

"""CoVe: contextual word vectors from the encoder of a machine translation model."""

import os
from typing import Any

import keras
import numpy as np
from keras import ops

from tfmrc.encoders.elmo.projected_lstm import ProjectedLSTM
from tfmrc.encoders.torch_state_dict import read_state_dict
from tfmrc.layers.base import Layer
from tfmrc.ops.own_policy import own_policy
from tfmrc.ops.shapes import flatten_leading
from tfmrc.ops.sizes import sizes

FIRST = "weight_ih_l0"


@keras.saving.register_keras_serializable(package="tfmrc")
class CoVe(Layer):
    """Computes contextual word vectors by a bidirectional LSTM over GloVe.

    `CoVe(w) = MT-LSTM(GloVe(w))`. Each layer reads the concatenated forward and backward outputs of
    the previous layer. The weights are frozen unless `encoder_trainable`.
    `tfmrc.encoders.load_cove` loads the published weights, which expect the vectors of GloVe 840B,
    and zeros for words without a vector.

    Padding: real words come first; the backward direction begins at each row's last real word, and
    the outputs at padding are zeros.

    Args:
        units: int. Width of one direction. Default: 300.
        input_dim: int. Width of the word vectors. Default: 300.
        num_layers: int. Number of layers. Default: 2.
        encoder_trainable: bool. Whether to train the weights. Default: False.

    Call arguments:
        x: word vectors `[..., n, input_dim]`.
        padding_mask: boolean `[..., n]`, True = real; None for all real.

    Returns:
        `[..., n, 2 units]` of the last layer, forward then backward.

    Example:
        >>> import numpy as np
        >>> from tfmrc.encoders import CoVe
        >>> cove = CoVe(units=3, input_dim=4)
        >>> vectors, mask = np.ones((1, 3, 4), "float32"), np.array([[True, True, False]])
        >>> tuple(cove(vectors, mask).shape)
        (1, 3, 6)

    Reference: McCann et al. 2017, "Learned in Translation: Contextualized Word Vectors".
    """

    reads = "vectors"  # what a model gives to it, see `tfmrc.models.SAN`

    def __init__(self, units=300, input_dim=300, num_layers=2, encoder_trainable=False, **kwargs):
        super().__init__(**kwargs)
        self.dtype_policy = own_policy(self)
        self.input_dim = input_dim
        self.output_dim = 2 * units
        self.lstms = []
        for layer in range(num_layers):
            pair = [
                ProjectedLSTM(
                    units,
                    reverse=name == "backward",
                    weights_trainable=encoder_trainable,
                    dtype=self.dtype_policy,
                    name=f"{name}_{layer}",
                )
                for name in ("forward", "backward")
            ]
            for lstm in pair:
                lstm.build((None, None, 2 * units if layer else input_dim))
            self.lstms.append(pair)
        self.built = True

    def call(self, x, padding_mask=None):
        return self.layers_of(x, padding_mask)[-1]

    def layers_of(self, x, padding_mask=None):
        """Returns the outputs of every layer, a list of `[..., n, 2 units]`."""
        x = ops.cast(x, self.compute_dtype)
        y = flatten_leading(x, keep=2)  # [N, n, input_dim]
        mask = None if padding_mask is None else flatten_leading(padding_mask, keep=1)
        outputs = []
        for pair in self.lstms:
            y = ops.concatenate(
                [lstm(y, padding_mask=mask)[0] for lstm in pair], axis=-1
            )  # [N, n, 2 u]
            outputs.append(ops.reshape(y, (*sizes(x)[:-1], self.output_dim)))
        return outputs

    def compute_output_spec(self, x, padding_mask=None):
        return keras.KerasTensor((*x.shape[:-1], self.output_dim), self.compute_dtype)


def load_cove(path: str | os.PathLike[str], **arguments: Any) -> CoVe:
    """Loads CoVe from a PyTorch or safetensors file, without running code from the file.

    The file is the state dict of a bidirectional `torch.nn.LSTM` (`weight_ih_l0`, ...); its names
    may have a prefix. PyTorch and Keras have the same gate order; PyTorch's two biases are added.

    Args:
        path: str or path. The file, such as the authors' `wmtlstm-b142a7f2.pth`.
        **arguments: Further arguments of `CoVe`, such as `encoder_trainable`, `name` or `dtype`.

    Returns:
        The layer, with the sizes and the weights of the file.

    Raises:
        ValueError: If the file does not have the weights of one LSTM.
        pickle.UnpicklingError: If the file refers to anything other than tensors (see
            `read_state_dict`).

    Example:
        >>> from tfmrc.encoders import load_cove
        >>> cove = load_cove("wmtlstm-b142a7f2.pth")  # doctest: +SKIP
    """
    weights = read_state_dict(path)
    prefixes = [name.removesuffix(FIRST) for name in weights if name.endswith(FIRST)]
    if len(prefixes) != 1:
        raise ValueError(
            f"{path} must have the weights of one LSTM ({FIRST}, ...). "
            f"Received: {', '.join(list(weights)[:8]) or 'no tensors'}"
        )

    def read(name: str) -> np.ndarray:
        return weights[prefixes[0] + name]

    num_layers = sum(f"{prefixes[0]}weight_ih_l{number}" in weights for number in range(99))
    gates, input_dim = read(FIRST).shape
    layer = CoVe(gates // 4, input_dim, num_layers, **arguments)
    for number, pair in enumerate(layer.lstms):
        for lstm, direction in zip(pair, ("", "_reverse"), strict=True):
            name = f"l{number}{direction}"
            lstm.kernel.assign(read(f"weight_ih_{name}").T)
            lstm.recurrent_kernel.assign(read(f"weight_hh_{name}").T)
            lstm.bias.assign(read(f"bias_ih_{name}") + read(f"bias_hh_{name}"))
    return layer

"""Learning rates of a pretrained encoder's layers."""

import re
from typing import Any

from tfmrc.encoders.keras_hub_backbone import embedding_layers, transformer_layers


def learning_rate_multipliers(
    encoder: Any, factor: float = 1.0, layer_decay: float = 1.0
) -> dict[str, float]:
    """Factors of the learning rate for an encoder inside a model.

    The top layer and the learned mix get `factor`, the layer below it `factor * layer_decay`, and
    so on down to the embeddings. Everything else in the model keeps the optimizer's own rate.

    Args:
        encoder: an `Encoder` or its layer.
        factor: of the top layer.
        layer_decay: from each layer to the one below; 1 for the same rate in all.

    Returns:
        A dict for the argument `learning_rate_multipliers` of `tfmrc.training`'s optimizers:
        regular expressions of variables' paths and their factors; the first that fits counts.

    Raises:
        ValueError: a factor is negative.

    Example:
        >>> from tfmrc.encoders import BackboneEncoder, learning_rate_multipliers
        >>> sizes = {"vocabulary_size": 9, "num_layers": 2, "num_heads": 1, "hidden_dim": 2,
        ...     "intermediate_dim": 2}
        >>> learning_rate_multipliers(BackboneEncoder("bert", sizes), 0.1, 0.5)
        {'(^|/)encoder/transformer_layer_1/': 0.1, '(^|/)encoder/transformer_layer_0/': 0.05,
         '(^|/)encoder/mix_': 0.1, '(^|/)encoder/': 0.025}

    Reference: Howard and Ruder 2018 (a rate for each layer); Clark et al. 2020 (layer-wise decay).
    """
    if factor < 0 or layer_decay < 0:
        raise ValueError(
            f"Factors are 0 or more. Received: factor={factor}, layer_decay={layer_decay}"
        )
    layer = getattr(encoder, "layer", encoder)
    layers = transformer_layers(layer.backbone)
    begin = f"(^|/){re.escape(layer.name)}/"
    rates: dict[str, float] = {}
    for depth, part in enumerate(reversed(layers)):
        rates.setdefault(f"{begin}{re.escape(part.name)}/", factor * layer_decay**depth)
    rates[f"{begin}mix_"] = factor
    if embedding_layers(layer.backbone):
        rates[begin] = factor * layer_decay ** len(layers)
    return rates

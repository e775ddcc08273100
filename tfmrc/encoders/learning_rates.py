"""Layer-wise learning rates of pretrained encoders."""

import re
from typing import Any

from tfmrc.encoders.keras_hub_backbone import embedding_layers, final_layers, transformer_layers
from tfmrc.encoders.layer_of import layer_of


def learning_rate_multipliers(
    encoder: Any, factor: float = 1.0, layer_decay: float = 1.0
) -> dict[str, float]:
    """Returns learning rate multipliers for the encoder of a model.

    The top layer and the learned mix get `factor`, the next lower layer `factor * layer_decay`, and
    so on down to the embeddings. All other variables keep the optimizer's learning rate.

    Args:
        encoder: `Encoder` or `BackboneEncoder`.
        factor: float. Multiplier of the top layer. Default: 1.
        layer_decay: float. Ratio between a layer and the layer above it. Default: 1.

    Returns:
        A dict from regular expressions of variable paths to multipliers, for the argument
        `learning_rate_multipliers` of `tfmrc.training`'s optimizers. The first match applies.

    Example:
        >>> from tfmrc.encoders import BackboneEncoder, learning_rate_multipliers
        >>> sizes = {"vocabulary_size": 9, "num_layers": 2, "num_heads": 1, "hidden_dim": 2,
        ...     "intermediate_dim": 2}
        >>> learning_rate_multipliers(BackboneEncoder("bert", sizes), 0.1, 0.5)
        {'(^|/)encoder/transformer_layer_1/': 0.1, '(^|/)encoder/transformer_layer_0/': 0.05,
         '(^|/)encoder/mix_': 0.1, '(^|/)encoder/': 0.025}

    Reference: Howard and Ruder 2018 (a rate for each layer); Clark et al. 2020 (layer-wise decay).
    """
    layer = layer_of(encoder)
    layers = transformer_layers(layer.backbone)
    begin = f"(^|/){re.escape(layer.name)}/"
    rates: dict[str, float] = {}
    for depth, part in enumerate(reversed(layers)):
        rates.setdefault(f"{begin}{re.escape(part.name)}/", factor * layer_decay**depth)
    rates[f"{begin}mix_"] = factor
    rates |= {f"{begin}{re.escape(part.name)}/": factor for part in final_layers(layer.backbone)}
    if embedding_layers(layer.backbone):
        rates[begin] = factor * layer_decay ** len(layers)
    return rates

"""Smaller encoders made of some layers of a pretrained one."""

from collections.abc import Sequence

from tfmrc.encoders import keras_hub_backbone as hub
from tfmrc.encoders.backbone import BackboneEncoder


def keep_layers(encoder: BackboneEncoder, kept: Sequence[int]) -> BackboneEncoder:
    """Builds an encoder of some transformer layers of another, with their weights.

    Such an encoder is where the student of a distillation begins (Sanh et al. 2019, section 3).

    Args:
        encoder: `BackboneEncoder`. The larger encoder, which stays as it is.
        kept: list of int. The layers, from 0 for the lowest, in rising order.

    Returns:
        A `BackboneEncoder` with the embeddings of `encoder` and `len(kept)` layers.

    Example:
        >>> from tfmrc import encoders
        >>> encoders.from_preset("minilm", random=True, keep_layers=[0, 2]).layer.num_layers
        2
    """
    layers = hub.transformer_layers(encoder.backbone)
    config = encoder.get_config()
    smaller = BackboneEncoder.from_config(
        {**config, "backbone": {**config["backbone"], "num_layers": len(kept)}}
    )
    ours = hub.embedding_layers(smaller.backbone) + hub.transformer_layers(smaller.backbone)
    theirs = hub.embedding_layers(encoder.backbone) + [layers[index] for index in kept]
    for one, other in zip(ours, theirs, strict=True):
        one.set_weights(other.get_weights())
    return smaller

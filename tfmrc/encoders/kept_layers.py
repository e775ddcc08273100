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

    Raises:
        ValueError: There is no such layer, the layers are not in rising order, or the encoder
            shares its layers (ALBERT).

    Example:
        >>> from tfmrc import encoders
        >>> encoders.from_preset("minilm", random=True, keep_layers=[0, 2]).layer.num_layers
        2
    """
    kept = list(kept)
    layers = hub.transformer_layers(encoder.backbone)
    if not kept or kept != sorted(set(kept)) or kept[0] < 0 or kept[-1] >= len(layers):
        raise ValueError(
            f"`keep_layers` must be numbers from 0 to {len(layers) - 1} in rising order. "
            f"Received: keep_layers={kept}"
        )
    if len({id(layer) for layer in layers}) < len(layers):
        raise ValueError(
            f"The layers of {encoder.family} share their weights, so none can be left out. "
            f"Received: keep_layers={kept}"
        )
    config = encoder.get_config()
    smaller = BackboneEncoder.from_config(
        {**config, "backbone": {**config["backbone"], "num_layers": len(kept)}}
    )
    of_smaller = hub.transformer_layers(smaller.backbone)
    pairs = [
        *zip(
            hub.embedding_layers(smaller.backbone),
            hub.embedding_layers(encoder.backbone),
            strict=True,
        ),
        *((of_smaller[number], layers[index]) for number, index in enumerate(kept)),
    ]
    for ours, theirs in pairs:
        ours.set_weights(theirs.get_weights())
    return smaller

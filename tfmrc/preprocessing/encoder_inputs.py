"""What a pretrained encoder reads beside a model's other inputs."""

from typing import Any

import tensorflow as tf

from tfmrc.text.layout import FlatTokens
from tfmrc.text.subwords import Subwords, SubwordTokenizer

Tensors = dict[str, tf.Tensor]
READINGS = {
    "joint": ("encoder_ids", "segment_ids", "question_pieces", "passage_pieces"),
    "separate": (
        "question_encoder_ids",
        "passage_encoder_ids",
        "question_pieces",
        "passage_pieces",
    ),
}


def subwords_of(encoder: Any) -> SubwordTokenizer | None:
    """The subwords of an encoder, which may be given instead of it; None for none.

    Raises:
        TypeError: it is neither.
    """
    found = getattr(encoder, "subwords", encoder)
    if found is None or isinstance(found, SubwordTokenizer):
        return found
    raise TypeError(
        "`encoder` is what `tfmrc.encoders.from_preset` returns, a `tfmrc.text.SubwordTokenizer`, "
        f"or None. Received: encoder={encoder!r:.80}"
    )


def check_reading(reading: str) -> None:
    """Raises a ValueError unless `reading` is one of `READINGS`."""
    if reading not in READINGS:
        raise ValueError(f"`reading` is one of {sorted(READINGS)}. Received: reading={reading!r}")


def spaced(tokens: FlatTokens) -> tf.Tensor:
    """Whether a space comes before each token: bool `[N]`, False at the first of a text."""
    previous = tf.pad(tokens.ends, [[1, 0]])[:-1]
    return (tokens.position > 0) & (tokens.starts > previous)


def encoder_inputs(
    subwords: SubwordTokenizer, reading: str, question: Subwords, passage: Subwords
) -> Tensors:
    """The inputs that `READINGS[reading]` names.

    Args:
        subwords: the encoder's tokenizer.
        reading: "joint" or "separate".
        question: the subwords of B questions.
        passage: of B passages.

    Returns:
        `joint`: see `tfmrc.text.SubwordTokenizer.joint`. `separate`: `question_encoder_ids` int32
        `[B, V, Q]` and `passage_encoder_ids` `[B, W, P]`, windows of each text by itself, and
        `question_pieces` `[B, m, 2]`, `passage_pieces` `[B, n, 2]`.
    """
    if reading == "joint":
        return subwords.joint(question, passage)
    found = {}
    for name, text in (("question", question), ("passage", passage)):
        read = subwords.separate(text)
        found[f"{name}_encoder_ids"] = read["encoder_ids"]
        found[f"{name}_pieces"] = read["pieces"]
    return found

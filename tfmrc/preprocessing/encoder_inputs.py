"""Inputs of a pretrained encoder."""

from typing import Any

import tensorflow as tf

from tfmrc.preprocessing.source import SourceLayout
from tfmrc.text.layout import FlatTokens, longest, spread
from tfmrc.text.subwords.tokenizer import Subwords, SubwordTokenizer

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

READINGS_OF_PASSAGES = {
    "joint": ("encoder_ids", "segment_ids", "question_encoder_ids", *READINGS["joint"][2:]),
    "separate": READINGS["separate"],
}


def subwords_of(encoder: Any) -> SubwordTokenizer | None:
    """Returns the subword tokenizer of an encoder, or the argument if it is one or None."""
    subwords: SubwordTokenizer | None = getattr(encoder, "subwords", encoder)
    return subwords


def spaced(tokens: FlatTokens) -> tf.Tensor:
    """Returns True where a space precedes a token, bool `[N]`; False at the start of a text."""
    previous = tf.pad(tokens.ends, [[1, 0]])[:-1]  # [N]
    return (tokens.position > 0) & (tokens.starts > previous)


def subwords_of_tokens(subwords: SubwordTokenizer, tokens: FlatTokens, length: int) -> Subwords:
    """Cuts the kept words of R texts, at most `length` each, into subwords of an encoder."""
    shape = (tf.size(tokens.lengths), longest(tokens.lengths, length))

    def rows(values: tf.Tensor) -> tf.Tensor:
        return spread(values, tokens.row, tokens.position, shape)

    return subwords.cut(rows(tokens.surface), rows(tf.cast(spaced(tokens), tf.int32)) > 0)


def subwords_of_source(
    subwords: SubwordTokenizer, source: SourceLayout, words: tf.Tensor, num_begin: int
) -> tuple[Subwords, Subwords]:
    """Cuts the words of B questions and of their B * K passages into subwords of an encoder.

    Args:
        subwords: `SubwordTokenizer`. The encoder's tokenizer.
        source: `SourceLayout`. The layout of questions and passages.
        words: string `[B, S]`. The surfaces of its words.
        num_begin: int. Positions at the start of each passage that are not words.
    """
    spaces = source.spread(tf.cast(spaced(source.tokens), tf.int32)) > 0  # [B, S]
    rows = source.num_examples * source.present.shape[1]

    def of_passages(values: tf.Tensor) -> tf.Tensor:
        inner = source.passage_part(values)[:, :, num_begin:]  # [B, K, L - num_begin]
        return tf.reshape(inner, [rows, source.passage_size - num_begin])

    return (
        subwords.cut(source.question_part(words), source.question_part(spaces)),
        subwords.cut(of_passages(words), of_passages(spaces)),
    )


def encoder_inputs(
    subwords: SubwordTokenizer, reading: str, question: Subwords, passage: Subwords
) -> Tensors:
    """Returns the inputs listed in `READINGS[reading]`.

    Args:
        subwords: `SubwordTokenizer`. The encoder's tokenizer.
        reading: str. "joint" or "separate".
        question: `Subwords` of B questions.
        passage: `Subwords` of B passages.

    Returns:
        `joint`: see `tfmrc.text.SubwordTokenizer.joint`. `separate`: `question_encoder_ids` int32
        `[B, V, Q]` and `passage_encoder_ids` `[B, W, P]`, the windows of each text, and
        `question_pieces` `[B, m, 2]`, `passage_pieces` `[B, n, 2]`.
    """
    if reading == "joint":
        return subwords.joint(question, passage)
    inputs = {}
    for name, text in (("question", question), ("passage", passage)):
        windows = subwords.separate(text)
        inputs[f"{name}_encoder_ids"] = windows["encoder_ids"]
        inputs[f"{name}_pieces"] = windows["pieces"]
    return inputs


def encoder_inputs_of_passages(
    subwords: SubwordTokenizer,
    reading: str,
    question: Subwords,
    passages: Subwords,
    present: tf.Tensor,
) -> Tensors:
    """Returns the inputs listed in `READINGS_OF_PASSAGES[reading]`, for K passages per question.

    The windows of an example's passages are concatenated, W per passage. A missing passage has
    windows of padding, which an encoder skips. The question is also a separate sequence in both
    readings, so that it does not depend on the passages, and passages do not depend on each other.

    Args:
        subwords: `SubwordTokenizer`. The encoder's tokenizer.
        reading: str. "joint" (each passage as one sequence with the question) or "separate".
        question: `Subwords` of B questions.
        passages: `Subwords` of B * K passages, without the position of `BOS`.
        present: bool `[B, K]` with static K.

    Returns:
        `joint`: `encoder_ids`, `segment_ids` int32 `[B, K * W, P]`, see
        `tfmrc.text.SubwordTokenizer.joint`; `separate`: `passage_encoder_ids` of that shape. In
        both `question_encoder_ids` int32 `[B, V, Q]`, `question_pieces` `[B, J, 2]`, and
        `passage_pieces` `[B, K, L, 2]`: `BOS` has the first subword ([CLS]) of its passage's first
        window, followed by the words.
    """
    num_examples, num_passages = tf.shape(present)[0], present.shape[1]
    if reading == "joint":
        asked = Subwords(*(tf.repeat(values, num_passages, axis=0) for values in question))
        read = subwords.joint(asked, passages)
        read["pieces"] = read["passage_pieces"]
    else:
        read = subwords.separate(passages)
    real = tf.reshape(present, [-1])  # [B * K]
    shape = tf.shape(read["encoder_ids"])  # [B * K, W, P]

    def folded(ids: tf.Tensor, padding: int) -> tf.Tensor:
        ids = tf.where(real[:, None, None], ids, padding)
        return tf.reshape(ids, [num_examples, num_passages * shape[1], shape[2]])

    begin = tf.tile(tf.constant([[[0, 1]]]), [shape[0], 1, 1])  # [B * K, 1, 2]
    pieces = tf.concat([begin, read["pieces"]], axis=1)  # [B * K, L, 2]
    before = tf.tile(tf.range(num_passages) * shape[1] * shape[2], [num_examples])  # [B * K]
    pieces += tf.stack([before, tf.zeros_like(before)], axis=1)[:, None]
    pieces = tf.where(real[:, None, None] & (pieces[..., 1:] > 0), pieces, 0)
    alone = subwords.separate(question)
    result = {
        "question_encoder_ids": alone["encoder_ids"],
        "question_pieces": alone["pieces"],
        "passage_pieces": tf.reshape(pieces, [num_examples, num_passages, -1, 2]),
    }
    ids = folded(read["encoder_ids"], subwords.pad_id)
    if reading == "separate":
        return result | {"passage_encoder_ids": ids}
    return result | {"encoder_ids": ids, "segment_ids": folded(read["segment_ids"], 0)}

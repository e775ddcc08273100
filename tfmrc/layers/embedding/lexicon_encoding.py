"""Lexicon encoding of SAN: features of individual words."""

import keras
from keras import ops

from tfmrc.layers.base import Layer
from tfmrc.layers.embedding.aligned_embedding import AlignedEmbedding
from tfmrc.layers.encoders.feed_forward import FeedForward


@keras.saving.register_keras_serializable(package="tfmrc")
class LexiconEncoding(Layer):
    """Projects word vectors and lexical features of passage and question to one width.

    A passage word is `[word; f_align; exact match; POS; NER]`, where the last three are optional. A
    question word is its vector. Two position-wise networks `W_2 ReLU(W_1 x + b_1) + b_2`, one per
    side, project both to the width `units`.

    Padding: padded question words are excluded from the alignment. Outputs at padded words are
    undefined.

    Args:
        units: int. Width of both outputs.
        intermediate_dim: int. Inner width of the two networks; None for `units`. Default: None.
        align_dim: int. Width of the alignment; 0 for no alignment. Default: 280.
        num_pos: int. Number of part-of-speech tags; 0 for no feature. Ids start at 1; 0 is none.
            Default: 0.
        pos_dim: int. Width of the part-of-speech embedding. Default: 9.
        num_ner: int. Number of entity types; 0 for no feature. Ids start at 1; 0 is none.
            Default: 0.
        ner_dim: int. Width of the entity embedding. Default: 8.
        initializer: float, str or initializer. That of the networks' initial weights; a float is
            the standard deviation of a normal one. Default: 0.05.

    Call arguments:
        passage: word vectors `[B, n, w]`.
        question: word vectors `[B, m, w]`.
        question_mask: boolean `[B, m]`, True = real.
        exact_match: `[B, n, k]`, 0 or 1; None for no feature (see
            `tfmrc.preprocessing.SANPreprocessor`).
        pos_ids: int `[B, n]`, required if `num_pos` is above 0.
        ner_ids: int `[B, n]`, required if `num_ner` is above 0.

    Returns:
        Passage `[B, n, units]` and question `[B, m, units]`.

    Raises:
        ValueError: If tags are missing, or given without `num_pos` or `num_ner`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import LexiconEncoding
        >>> layer = LexiconEncoding(units=4, align_dim=3)
        >>> words, match = np.ones((2, 5, 6), "float32"), np.ones((2, 5, 2), "float32")
        >>> passage, question = layer(words, words[:, :3], np.ones((2, 3), bool), match)
        >>> tuple(passage.shape), tuple(question.shape)
        ((2, 5, 4), (2, 3, 4))

    Reference: Liu et al. 2018 (SAN), section 2, lexicon encoding layer: san-01 to san-04.
    """

    AXES = {"passage": "B n w", "question": "B m w", "question_mask": "B m", "exact_match": "B n k"}

    def __init__(
        self,
        units,
        intermediate_dim=None,
        align_dim=280,
        num_pos=0,
        pos_dim=9,
        num_ner=0,
        ner_dim=8,
        initializer=0.05,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.align_dim = align_dim
        self.num_pos = num_pos
        self.num_ner = num_ner
        dtype = self.dtype_policy

        self.passage_network, self.question_network = (
            FeedForward(intermediate_dim or units, initializer, units, "relu", dtype=dtype, name=n)
            for n in ("passage_network", "question_network")
        )
        self.alignment = None
        if align_dim:
            self.alignment = AlignedEmbedding(align_dim, dtype=dtype, name="alignment")
        # Row 0 is for words without a tag.
        self.tables = {
            name: keras.layers.Embedding(count + 1, width, dtype=dtype, name=f"{name}_embedding")
            for name, count, width in (("pos", num_pos, pos_dim), ("ner", num_ner, ner_dim))
            if count
        }

    def build(
        self,
        passage_shape,
        question_shape,
        question_mask_shape=None,
        exact_match_shape=None,
        pos_ids_shape=None,
        ner_ids_shape=None,
    ):
        width = passage_shape[-1] + self.align_dim
        width += 0 if exact_match_shape is None else exact_match_shape[-1]
        if self.alignment is not None:
            self.alignment.build(passage_shape, question_shape)
        for table in self.tables.values():
            table.build()
            width += table.output_dim
        self.passage_network.build((*passage_shape[:-1], width))
        self.question_network.build(question_shape)

    def call(
        self, passage, question, question_mask=None, exact_match=None, pos_ids=None, ner_ids=None
    ):
        parts = [passage]
        if self.alignment is not None:
            parts.append(self.alignment(passage, question, question_mask=question_mask))
        if exact_match is not None:
            parts.append(ops.cast(exact_match, passage.dtype))
        for name, ids in (("pos", pos_ids), ("ner", ner_ids)):
            if (ids is None) == (name in self.tables):
                raise ValueError(
                    f"`{name}_ids` must be given if and only if `num_{name}` is above 0. "
                    f"Received: num_{name}={getattr(self, f'num_{name}')}, {name}_ids={ids}"
                )
            if ids is not None:
                parts.append(self.tables[name](ids))
        passage = self.passage_network(ops.concatenate(parts, axis=-1))  # [B, n, units]
        return passage, self.question_network(question)

    def compute_output_shape(self, passage_shape, question_shape, *other_shapes, **named):
        return (*passage_shape[:-1], self.units), (*question_shape[:-1], self.units)

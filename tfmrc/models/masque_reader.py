"""Masque's reader: question and passages to all that the decoder reads."""

import keras
from keras import ops

from tfmrc.models.composite import Composite
from tfmrc.ops.ids import PAD

# The true relevance of a passage that does not matter, in place of 0: a reference word that only
# such a passage holds stays possible, and where no passage matters all are read alike.
GOLD_FLOOR = 1e-12


@keras.saving.register_keras_serializable(package="tfmrc")
class MasqueReader(Composite):
    """Reads a question with all its passages, ranks the passages, and decides on answerability.

    Word embedding, highway and projection; the blocks that question and passages share; dual
    attention; modelling blocks of each. The ranker and the classifier read the passages alone. The
    question is modelled only if there is a decoder to read it.

    Args:
        word_embedding: Layer. Ids to `[..., word_dim]`.
        contextual_embedding: Layer or None. `layer(ids, mask)` to `[..., n, dim]`.
        highway: Layer on the embedded words.
        projection: Layer to `hidden_dim`.
        positions: Layer or None. Adds positions after the projection.
        shared_encoder: Blocks of question and passages, `block(x, padding_mask=mask)`.
        dual_attention: Layer `(passages, question, passage_mask, question_mask)` to
            `(passages, question)`.
        passage_projection: Layer to `hidden_dim`.
        local_context: Layer or None. `layer(passages, passage_mask)`.
        passage_encoder: Blocks of the passages.
        join_words: Layer. `[B, K, L]` to `[B, K L]`.
        join_passages: Layer. `[B, K, L, d]` to `[B, K L, d]`.
        passage_ranker: Layer or None. `layer(passages, passage_mask)` to logits `[B, K]`.
        answer_possibility: Layer or None. Likewise to logits `[B]`.
        question_projection: Layer or None. None where there is no decoder.
        question_encoder: Blocks of the question.
        combined_attention: bool. Whether the memory holds the passages' relevance for the decoder.
        gold_relevance: bool. Whether that is the input `relevance_gold`, not the ranker's.

    Call arguments:
        inputs: dict. `question_ids` `[B, J]`, `passage_ids` `[B, K, L]`, `extended_ids`
            `[B, J + K L]`, `style_ids` `[B]`, and with `gold_relevance` also `relevance_gold`
            `[B, K]`.

    Returns:
        A dict, the memory: `ranker` `[B, K]` and `classifier` `[B]`, logits, where there are the
        layers; and for a decoder `question` `[B, J, d]`, `passages` `[B, K L, d]`, their masks,
        `extended_ids`, `source_ids`, `source_words` `[B, J + K L, word_dim]` and, with
        `combined_attention`, `log_relevance` `[B, K L]`.

    Reference: Nishida et al. 2019, sections 3.1 to 3.3, masque-01 to masque-12.
    """

    def __init__(
        self,
        *,
        word_embedding,
        contextual_embedding,
        highway,
        projection,
        positions,
        shared_encoder,
        dual_attention,
        passage_projection,
        local_context,
        passage_encoder,
        join_words,
        join_passages,
        passage_ranker,
        answer_possibility,
        question_projection=None,
        question_encoder=(),
        combined_attention=True,
        gold_relevance=False,
        **options,
    ):
        super().__init__(**options)
        self.word_embedding = word_embedding
        self.contextual_embedding = contextual_embedding
        self.highway = highway
        self.projection = projection
        self.positions = positions
        self.shared_encoder = shared_encoder
        self.dual_attention = dual_attention
        self.passage_projection = passage_projection
        self.local_context = local_context
        self.passage_encoder = passage_encoder
        self.join_words = join_words
        self.join_passages = join_passages
        self.passage_ranker = passage_ranker
        self.answer_possibility = answer_possibility
        self.question_projection = question_projection
        self.question_encoder = question_encoder
        self.combined_attention = combined_attention
        self.gold_relevance = gold_relevance

    def call(self, inputs):
        question_ids, passage_ids = inputs["question_ids"], inputs["passage_ids"]
        question_mask = ops.not_equal(question_ids, PAD)  # [B, J]
        passage_mask = ops.not_equal(passage_ids, PAD)  # [B, K, L]
        question_words = self.word_embedding(question_ids)
        passage_words = self.word_embedding(passage_ids)
        question = self.embed(question_words, question_ids, question_mask)  # [B, J, d]
        passages = self.embed(passage_words, passage_ids, passage_mask)  # [B, K, L, d]
        for block in self.shared_encoder:  # masque-01
            question = block(question, padding_mask=question_mask)
            passages = block(passages, padding_mask=passage_mask)
        # masque-02 to masque-10
        passages, question = self.dual_attention(passages, question, passage_mask, question_mask)
        passages = self.passage_projection(passages)
        if self.local_context is not None:
            passages = self.local_context(passages, passage_mask)
        for block in self.passage_encoder:
            passages = block(passages, padding_mask=passage_mask)

        memory = {"style_ids": inputs["style_ids"]}
        if self.passage_ranker is not None:
            memory["ranker"] = self.passage_ranker(passages, passage_mask)  # masque-11
        if self.answer_possibility is not None:
            memory["classifier"] = self.answer_possibility(passages, passage_mask)  # masque-12
        if self.question_projection is None:
            return memory
        question = self.question_projection(question)
        for block in self.question_encoder:
            question = block(question, padding_mask=question_mask)
        source_ids = ops.concatenate([question_ids, self.join_words(passage_ids)], axis=1)
        memory |= {
            "question": question,
            "passages": self.join_passages(passages),  # [B, K L, d]
            "question_mask": question_mask,
            "passage_mask": self.join_words(passage_mask),  # [B, K L]
            "extended_ids": inputs["extended_ids"],
            "source_ids": source_ids,
            "source_words": self.word_embedding(source_ids),  # [B, S, word_dim]
        }
        if self.combined_attention:
            if self.gold_relevance:
                log_relevance = ops.log(ops.maximum(inputs["relevance_gold"], GOLD_FLOOR))
            else:
                log_relevance = ops.log_sigmoid(memory["ranker"])
            # Each word has its passage's relevance: [B, K] to [B, K L].
            # A product, no sum: Keras takes a right side [1, K, 1] of `+` for a bias of K features.
            words = ops.ones_like(passage_ids, dtype="float32") * log_relevance[..., None]
            memory["log_relevance"] = self.join_words(words)  # masque-21
        return memory

    def embed(self, words, ids, mask):
        """Word vectors `[..., n, word_dim]` and ids `[..., n]` to `[..., n, d]`."""
        if self.contextual_embedding is not None:
            words = ops.concatenate([words, self.contextual_embedding(ids, mask)], axis=-1)
        x = self.projection(self.highway(words))
        return x if self.positions is None else self.positions(x)

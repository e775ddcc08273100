"""Masque's reader: question and passages to all that the decoder reads."""

import keras
from keras import ops

from tfmrc.models.composite import Composite
from tfmrc.models.configuration import contextual_reads
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
        contextual_embedding: Layer or None. `layer(ids, mask)` to `[..., n, dim]`, or
            `layer(characters, mask)`, see `tfmrc.models.Masque`.
        highway: Layer on the embedded words; None for none.
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
        encoder: Layer or None, see `tfmrc.models.Masque`. With `encoder_use` "reader" `highway`
            and `positions` are None and `shared_encoder` is empty.
        encoder_use: "reader", "embedding" or "contextual"; None without an encoder.
        reading: "joint" or "separate".
        join_pieces: Layer. `[B, K, L, 2]` to `[B, K L, 2]`; None without an encoder.
        split_passages: Layer. `[B, K L, e]` to `[B, K, L, e]`; None without an encoder.

    Call arguments:
        inputs: dict. `question_ids` `[B, J]`, `passage_ids` `[B, K, L]`, `extended_ids`
            `[B, J + K L]`, `style_ids` `[B]`, with an encoder its inputs, with
            `gold_relevance` also `relevance_gold` `[B, K]`, and with features of the words
            `question_features` `[B, J, F]` and `passage_features` `[B, K, L, F]`.

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
        encoder=None,
        encoder_use=None,
        reading="joint",
        join_pieces=None,
        split_passages=None,
        **options,
    ):
        super().__init__(**options)
        self.word_embedding = word_embedding
        self.contextual_embedding = contextual_embedding
        self.reads_characters = contextual_reads(contextual_embedding) == "characters"
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
        self.encoder = encoder
        self.encoder_use = encoder_use
        self.reading = reading
        self.join_pieces = join_pieces
        self.split_passages = split_passages

    def call(self, inputs):
        question_ids, passage_ids = inputs["question_ids"], inputs["passage_ids"]
        question_mask = ops.not_equal(question_ids, PAD)  # [B, J]
        passage_mask = ops.not_equal(passage_ids, PAD)  # [B, K, L]
        question_words, passage_words = self.words(inputs)
        spelled = "characters" if self.reads_characters else "ids"
        question = self.embed(  # [B, J, d]
            question_words,
            inputs[f"question_{spelled}"],
            question_mask,
            inputs.get("question_features"),
        )
        passages = self.embed(  # [B, K, L, d]
            passage_words,
            inputs[f"passage_{spelled}"],
            passage_mask,
            inputs.get("passage_features"),
        )
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

    def words(self, inputs):
        """Vectors of the words of question and passages, `[B, J, e]` and `[B, K, L, e]`."""
        read = () if self.encoder is None else self.encoder_words(inputs)
        if self.encoder_use in ("reader", "embedding"):
            return read
        ids = inputs["question_ids"], inputs["passage_ids"]
        words = [self.word_embedding(text) for text in ids]
        if self.encoder_use == "contextual":
            pairs = zip(words, read, strict=True)
            words = [ops.concatenate(pair, axis=-1) for pair in pairs]
        return words

    def encoder_words(self, inputs):
        """The encoder's vectors of the words of question and passages, likewise."""
        encoder = self.encoder
        asked = encoder(inputs["question_encoder_ids"])
        if self.reading == "joint":
            states = encoder(inputs["encoder_ids"], inputs["segment_ids"])
        else:
            states = encoder(inputs["passage_encoder_ids"])
        passages = encoder.words(states, self.join_pieces(inputs["passage_pieces"]))
        return encoder.words(asked, inputs["question_pieces"]), self.split_passages(passages)

    def embed(self, words, spelled, mask, features=None):
        """Word vectors `[..., n, word_dim]` and ids or characters of the words to `[..., n, d]`."""
        if self.contextual_embedding is not None:
            words = ops.concatenate([words, self.contextual_embedding(spelled, mask)], axis=-1)
        x = words if self.highway is None else self.highway(words)
        if features is not None:
            x = ops.concatenate([x, ops.cast(features, x.dtype)], axis=-1)
        x = self.projection(x)
        return x if self.positions is None else self.positions(x)

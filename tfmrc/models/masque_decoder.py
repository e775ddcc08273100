"""Masque's decoder: writes an answer in a style, generating and copying words."""

import keras
from keras import ops

from tfmrc.models.composite import Composite
from tfmrc.models.configuration import contextual_reads
from tfmrc.models.generation import input_characters, input_ids
from tfmrc.ops.ids import BOS
from tfmrc.ops.sizes import sizes


@keras.saving.register_keras_serializable(package="tfmrc")
class MasqueDecoder(Composite):
    """Writes an answer word by word, with attention to what `MasqueReader` read.

    The first word is the style. Each word is generated or copied from the question or the passages.

    Args:
        word_embedding: Layer. Ids to `[..., word_dim]`; scores the generated words too unless there
            is an `output_embedding`.
        contextual_embedding: Layer or None, see `tfmrc.models.Masque`.
        style_embedding: Layer. Styles `[B]` to vectors as wide as the embedded words.
        highway: Layer on the embedded words.
        projection: Layer to `hidden_dim`.
        positions: Layer or None. Adds positions after the projection.
        blocks: Decoder blocks, see `tfmrc.layers.TransformerDecoderBlock`.
        output_projection: Layer to `word_dim`.
        source_vocabulary: Layer, see `tfmrc.layers.SourceVocabulary`.
        output_embedding: Layer or None. `[..., word_dim]` to logits of the generable words.
        pointer_generator: Layer, see `tfmrc.layers.PointerGenerator`.
        num_generable: int. The number of words that can be generated.
        hidden_dim: int. Width of the blocks.
        combined_attention: bool. Whether the passages' relevance weighs the copy attention.

    Call arguments:
        memory: dict. What the reader returned.
        answer_ids: int `[B, T]`. Input ids of the words before each target.
        target_ids: int `[B, T]`. Extended ids of the targets.
        answer_characters: int `[B, T, c]`. Characters of the words before each target, for a
            contextual embedding that reads characters.

    Returns:
        A dict: `log_probability` `[B, T]` of the targets and the other parts of
        `tfmrc.layers.PointerGenerator`.

    Reference: Nishida et al. 2019, section 3.4, masque-13 to masque-21.
    """

    def __init__(
        self,
        *,
        word_embedding,
        contextual_embedding,
        style_embedding,
        highway,
        projection,
        positions,
        blocks,
        output_projection,
        source_vocabulary,
        output_embedding,
        pointer_generator,
        num_generable,
        hidden_dim,
        combined_attention=True,
        **options,
    ):
        super().__init__(**options)
        self.word_embedding = word_embedding
        self.contextual_embedding = contextual_embedding
        self.reads_characters = contextual_reads(contextual_embedding) == "characters"
        self.style_embedding = style_embedding
        self.highway = highway
        self.projection = projection
        self.positions = positions
        self.blocks = blocks
        self.output_projection = output_projection
        self.source_vocabulary = source_vocabulary
        self.output_embedding = output_embedding
        self.pointer_generator = pointer_generator
        self.num_generable = num_generable
        self.hidden_dim = hidden_dim
        self.combined_attention = combined_attention

    def call(self, memory, answer_ids, target_ids, answer_characters=None):
        words = self.word_embedding(answer_ids)
        if self.contextual_embedding is not None:
            previous = answer_characters if self.reads_characters else answer_ids
            words = ops.concatenate([words, self.contextual_embedding.forward(previous)], axis=-1)
        style = self.style_embedding(memory["style_ids"])[:, None]
        words = ops.concatenate([style, words[:, 1:]], axis=1)  # the style is the first word
        x = self.projection(self.highway(words))
        x = x if self.positions is None else self.positions(x)
        memories = [memory["question"], memory["passages"]]
        masks = [memory["question_mask"], memory["passage_mask"]]
        projected = memory.get("projected", [None] * len(self.blocks))
        for block, block_projected in zip(self.blocks, projected, strict=True):
            x = block(x, memories, masks, projected=block_projected)
        return self.distribute(memory, x, target_ids=target_ids)

    def distribute(self, memory, states, target_ids=None):
        """Decoder states `[B, T, d]` to the parts of the next words' distribution."""
        extended_ids = memory["extended_ids"]
        hidden = self.output_projection(states)
        source_logits, source_generable = self.source_vocabulary(
            hidden,
            memory["source_words"],
            memory["source_ids"],
            extended_ids,
            columns=memory.get("source_columns"),
        )
        if self.output_embedding is None:
            # masque-13: the word embedding scores the generated words
            common_logits = self.word_embedding(
                hidden, num_rows=self.num_generable, rows=memory.get("output_rows")
            )
        else:
            common_logits = self.output_embedding(hidden)
            source_generable = ops.zeros_like(source_generable)
        log_priors = [None, memory["log_relevance"]] if self.combined_attention else None
        return self.pointer_generator(  # masque-14 to masque-21
            states,
            [memory["question"], memory["passages"]],
            source_ids=extended_ids,
            common_logits=common_logits,
            source_logits=source_logits,
            source_generable=source_generable,
            log_priors=log_priors,
            target_ids=target_ids,
            projected=memory.get("copy_projected"),
        )

    # === Decoding step by step ===

    def project(self, memory):
        """Computes what all steps of decoding read from the memory.

        Returns:
            A dict: the memory, `projected` for the blocks, `copy_projected` for the copying,
            `source_columns` for the scores of the sources' words, and `output_rows` `[G, d]` if the
            word embedding scores the generated words.
        """
        memories = [memory["question"], memory["passages"]]
        masks = [memory["question_mask"], memory["passage_mask"]]
        tied = self.output_embedding is None
        rows = {"output_rows": self.word_embedding.first_rows(self.num_generable)} if tied else {}
        return {
            **memory,
            **rows,
            "projected": [block.project(memories, masks) for block in self.blocks],
            "copy_projected": self.pointer_generator.project(memories),
            "source_columns": self.source_vocabulary.project(memory["source_words"]),
        }

    def init_cache(self, memory, num_beams, max_length):
        """Returns an empty cache for `max_length` steps of `num_beams` beams."""
        batch_size = sizes(memory["style_ids"])[0]
        cache = {
            "blocks": [
                block.init_cache(batch_size, num_beams, max_length, self.hidden_dim)
                for block in self.blocks
            ]
        }
        if self.contextual_embedding is not None:
            cache["contextual"] = self.contextual_embedding.init_cache(batch_size, num_beams)
        return cache

    def decode_step(self, memory, cache, ids, t):
        """Computes one step of decoding, see `tfmrc.models.Masque.decode_step`."""
        cache = dict(cache)
        first = ops.equal(t, 0)
        previous = ids
        ids = ops.where(first, BOS, input_ids(memory, ids, self.num_generable))
        words = self.word_embedding(ids)  # [B, W, word_dim]
        if self.contextual_embedding is not None:
            contextual = self.contextual_embedding
            if self.reads_characters:
                spelled = input_characters(memory, previous, self.num_generable)
                previous = ops.where(first, memory["generable_characters"][BOS], spelled)
            else:
                previous = ids
            forward, cache["contextual"] = contextual.decode_step(previous, cache["contextual"])
            words = ops.concatenate([words, forward], axis=-1)
        style = self.style_embedding(memory["style_ids"])[:, None]
        words = ops.where(first, style, words)
        x = self.projection(self.highway(words))
        x = x if self.positions is None else self.positions(x, position=t)
        block_caches = []
        for block, block_cache, projected in zip(
            self.blocks, cache["blocks"], memory["projected"], strict=True
        ):
            x, block_cache = block.decode_step(x, block_cache, t, projected)
            block_caches.append(block_cache)
        cache["blocks"] = block_caches
        parts = self.distribute(memory, x)
        return self.pointer_generator.distribution(parts, memory["extended_ids"]), cache

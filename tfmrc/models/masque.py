"""Masque: answers from several passages, in a chosen style."""

import keras
from keras import ops

from tfmrc.layers import (
    AnswerPossibility,
    DualAttention,
    Highway,
    LocalConvolution,
    PassageRanker,
    PointerGenerator,
    PositionEmbedding,
    RecurrentDecoderBlock,
    RecurrentEncoderBlock,
    SourceVocabulary,
    TransformerDecoderBlock,
    TransformerEncoderBlock,
    WordEmbedding,
    linear,
)
from tfmrc.layers.encoders.linear import normal
from tfmrc.models.base import Model
from tfmrc.models.generation import GenerationMixin
from tfmrc.ops.ids import BOS, PAD

# The true relevance of a passage that does not matter, in place of 0: a reference word that only
# such a passage holds stays possible, and where no passage matters all are read alike.
GOLD_FLOOR = 1e-12

BLOCKS = {
    "transformer": (TransformerEncoderBlock, TransformerDecoderBlock),
    "lstm": (RecurrentEncoderBlock, RecurrentDecoderBlock),
}


@keras.saving.register_keras_serializable(package="tfmrc")
class Masque(GenerationMixin, Model):
    """Multi-style abstractive summarisation model for question answering.

    A reader brings the question and all passages together; a ranker and a classifier say which
    passages matter and whether an answer is possible; a decoder writes the answer in the style
    that its first token names, generating words and copying them from the question and the
    passages. A functional Keras model: train it with `compile` and `fit`, take it apart by its
    layers.

    Without a contextual embedding (ELMo in the paper) nothing tells the reader the order of words.
    Then `PositionEmbedding` layers, which the paper does not have, follow the two linear maps to
    `hidden_dim`. A contextual embedding is a Keras layer with `forward_dim`, `layer(ids, mask)`
    `[..., n, dim]`, `layer.forward(ids)` `[B, T, forward_dim]` (which must not look ahead),
    `layer.init_cache(batch_size, num_beams)` and `layer.decode_step(ids, cache)` for one word per
    beam.

    Passages that are missing (all PAD) are never attended to or copied from, get a relevance of
    zero and give zeros to the classifier.

    Args:
        vocabulary_size: rows of the word embedding: special rows, words, unknown-word buckets.
        num_styles: number of answer styles.
        num_passages: number of passages K.
        word_dim: width of the word vectors.
        hidden_dim: width d of all blocks.
        num_heads: attention heads of each block.
        intermediate_dim: inner width of the feed-forward networks.
        num_shared_blocks: encoder blocks shared by question and passages.
        num_question_blocks: modelling encoder blocks of the question.
        num_passage_blocks: modelling encoder blocks of the passages.
        num_decoder_blocks: decoder blocks.
        generation_vocabulary_size: how many of the first rows can be generated anywhere.
        num_oov_buckets: how many of the last rows stand for unknown words; they can be copied and
            not generated.
        dropout: rate of highways, residual changes and attention weights.
        ranker: True, False, or "gold" (the true relevance weighs the attention; the paper's upper
            bound), which asks for the input `relevance_gold` `[B, K]`.
        classifier: whether the answer possibility is learned.
        decoder: whether there is a decoder (without one: the ranker alone).
        combined_attention: whether the passages' relevance weighs the attention that copies.
        tie_output_embedding: whether the word embedding scores the generated words (the paper).
            If not, the generable words have output weights of their own and the other words of
            the sources can only be copied.
        block: "transformer", or "lstm" (the paper's "w/o Transformer").
        embeddings_trainable: whether the words' rows are trained. The papers do not say.
        similarity_init: initial mean of the product's weights in the similarity of question and
            passages (`DualAttention`); 0 as in the paper. With 1 a model without pre-trained word
            vectors finds the question's words in the passages from the start.
        local_window: width of the window in which the passages' words see their neighbours
            between dual attention and modelling (`LocalConvolution`); 0: none, as in the paper.
            Where nothing else gives words their surroundings, a small model learns far sooner
            with it which of several unknown words answers; earlier in the reader it hides which
            words are equal.
        contextual_embedding: a layer as above, or None.
        initializer_stddev: standard deviation of the initial weights.

    Call arguments (a dict; what `tfmrc.preprocessing.MasquePreprocessor` makes):
        question_ids: int `[B, J]` input ids.
        passage_ids: int `[B, K, L]` input ids, BOS first.
        extended_ids: int `[B, J + K L]` extended ids of question and passages, PAD where there is
            no word.
        style_ids: int `[B]`.
        answer_ids: int `[B, T]` input ids of the words before each target.
        target_ids: int `[B, T]` extended ids.
        relevance_gold: `[B, K]`, only with `ranker="gold"`.
        Every variant takes the same inputs, so that one dataset trains them all.

    Returns:
        A dict of what the model has: `decoder` `[B, T]`, the log-probabilities of the targets;
        `ranker` `[B, K]` and `classifier` `[B]`, logits. All float32.

    Raises:
        ValueError: an argument is none of its choices.

    Example:
        >>> import numpy as np
        >>> from tfmrc.models import Masque
        >>> model = Masque(
        ...     vocabulary_size=20, num_styles=2, num_passages=2, word_dim=8, hidden_dim=8,
        ...     num_heads=2, intermediate_dim=8, num_shared_blocks=1, num_question_blocks=1,
        ...     num_passage_blocks=1, num_decoder_blocks=1, generation_vocabulary_size=10,
        ... )
        >>> batch = {
        ...     "question_ids": np.array([[5, 12]]),
        ...     "passage_ids": np.array([[[2, 12, 6], [2, 7, 0]]]),
        ...     "extended_ids": np.array([[5, 11, 0, 11, 6, 0, 7, 0]]),
        ...     "style_ids": np.array([1]),
        ...     "answer_ids": np.array([[2, 12]]),
        ...     "target_ids": np.array([[11, 3]]),
        ... }
        >>> {name: tuple(value.shape) for name, value in sorted(model(batch).items())}
        {'classifier': (1,), 'decoder': (1, 2), 'ranker': (1, 2)}

    Reference: Nishida et al. 2019, "Multi-style Generative Reading Comprehension", masque-01 to
    masque-21.
    """

    def __init__(
        self,
        vocabulary_size,
        num_styles,
        num_passages=10,
        word_dim=300,
        hidden_dim=304,
        num_heads=8,
        intermediate_dim=256,
        num_shared_blocks=3,
        num_question_blocks=2,
        num_passage_blocks=5,
        num_decoder_blocks=8,
        generation_vocabulary_size=5000,
        num_oov_buckets=0,
        dropout=0.3,
        ranker=True,
        classifier=True,
        decoder=True,
        combined_attention=True,
        tie_output_embedding=True,
        block="transformer",
        embeddings_trainable=False,
        similarity_init=0.0,
        local_window=0,
        contextual_embedding=None,
        initializer_stddev=0.02,
        name="masque",
        dtype=None,
        **kwargs,
    ):
        if block not in BLOCKS:
            raise ValueError(f"`block` is one of {sorted(BLOCKS)}. Received: block={block!r}")
        if ranker not in (True, False, "gold"):
            raise ValueError(f'`ranker` is True, False or "gold". Received: ranker={ranker!r}')
        if not (ranker is True or classifier or decoder):
            raise ValueError(
                "A model needs a ranker, a classifier or a decoder. Received: "
                f"ranker={ranker!r}, classifier={classifier}, decoder={decoder}"
            )
        dtype = keras.dtype_policies.get(dtype or keras.config.dtype_policy())
        self._config = {
            "vocabulary_size": vocabulary_size,
            "num_styles": num_styles,
            "num_passages": num_passages,
            "word_dim": word_dim,
            "hidden_dim": hidden_dim,
            "num_heads": num_heads,
            "intermediate_dim": intermediate_dim,
            "num_shared_blocks": num_shared_blocks,
            "num_question_blocks": num_question_blocks,
            "num_passage_blocks": num_passage_blocks,
            "num_decoder_blocks": num_decoder_blocks,
            "generation_vocabulary_size": generation_vocabulary_size,
            "num_oov_buckets": num_oov_buckets,
            "dropout": dropout,
            "ranker": ranker,
            "classifier": classifier,
            "decoder": decoder,
            "combined_attention": combined_attention,
            "tie_output_embedding": tie_output_embedding,
            "block": block,
            "embeddings_trainable": embeddings_trainable,
            "similarity_init": similarity_init,
            "local_window": local_window,
            "initializer_stddev": initializer_stddev,
        }
        self.num_passages = num_passages
        self.num_styles = num_styles
        self.hidden_dim = hidden_dim
        # Extended ids begin after the generable words; a table cannot generate more than it has.
        num_known = vocabulary_size - num_oov_buckets
        self.num_generable = min(generation_vocabulary_size, num_known)
        self.gold_ranker = ranker == "gold"
        self.combined_attention = combined_attention and ranker is not False
        self.tie_output_embedding = tie_output_embedding
        self.contextual_embedding = contextual_embedding

        # === Layers ===
        options = {"stddev": initializer_stddev, "dtype": dtype}
        encoder_block, decoder_block = BLOCKS[block]
        block_sizes = (num_heads, intermediate_dim)

        def encoders(count, name):
            return [
                encoder_block(*block_sizes, dropout=dropout, name=f"{name}_{i + 1}", **options)
                for i in range(count)
            ]

        has_positions = contextual_embedding is None
        self.word_embedding = WordEmbedding(
            vocabulary_size, word_dim, embeddings_trainable, name="word_embedding", **options
        )
        self.reader_highway = Highway(2, dropout, name="reader_highway", **options)
        self.reader_projection = linear(hidden_dim, name="reader_projection", **options)
        self.reader_positions = (
            PositionEmbedding(name="reader_positions", dtype=dtype) if has_positions else None
        )
        self.shared_encoder = encoders(num_shared_blocks, "shared_encoder")
        self.dual_attention = DualAttention(
            similarity_init=similarity_init, name="dual_attention", **options
        )
        self.passage_projection = linear(hidden_dim, name="passage_projection", **options)
        self.local_context = (
            LocalConvolution(local_window, name="local_context", **options)
            if local_window
            else None
        )
        self.passage_encoder = encoders(num_passage_blocks, "passage_modelling")
        self.join_words = keras.layers.Reshape((-1,), name="join_words", dtype="float32")
        self.join_passages = keras.layers.Reshape(
            (-1, hidden_dim), name="join_passages", dtype=dtype
        )
        self.passage_ranker = (
            PassageRanker(name="passage_ranker", **options) if ranker is True else None
        )
        self.answer_possibility = (
            AnswerPossibility(name="answer_possibility", **options) if classifier else None
        )
        self.has_decoder = decoder
        if decoder:  # the ranker and the classifier read the passages alone
            self.question_projection = linear(hidden_dim, name="question_projection", **options)
            self.question_encoder = encoders(num_question_blocks, "question_modelling")
            self.style_embedding = keras.layers.Embedding(
                num_styles,
                word_dim + (contextual_embedding.forward_dim if contextual_embedding else 0),
                embeddings_initializer=normal(initializer_stddev),
                name="style_embedding",
                dtype=dtype,
            )
            self.decoder_highway = Highway(2, dropout, name="decoder_highway", **options)
            self.decoder_projection = linear(hidden_dim, name="decoder_projection", **options)
            self.decoder_positions = (
                PositionEmbedding(name="decoder_positions", dtype=dtype) if has_positions else None
            )
            self.decoder_blocks = [
                decoder_block(
                    *block_sizes, num_memories=2, dropout=dropout, name=f"decoder_{i + 1}",
                    **options,
                )
                for i in range(num_decoder_blocks)
            ]  # fmt: skip
            self.output_projection = linear(word_dim, name="output_projection", **options)
            self.source_vocabulary = SourceVocabulary(
                self.num_generable, num_known, name="source_vocabulary", dtype=dtype
            )
            if not tie_output_embedding:
                self.output_embedding = linear(
                    self.num_generable, use_bias=False, name="output_embedding", **options
                )
            self.pointer_generator = PointerGenerator(2, name="pointer_generator", **options)

        # === Functional model ===
        inputs = {
            "question_ids": keras.Input((None,), dtype="int32", name="question_ids"),
            "passage_ids": keras.Input((num_passages, None), dtype="int32", name="passage_ids"),
            "extended_ids": keras.Input((None,), dtype="int32", name="extended_ids"),
            "style_ids": keras.Input((), dtype="int32", name="style_ids"),
            "answer_ids": keras.Input((None,), dtype="int32", name="answer_ids"),
            "target_ids": keras.Input((None,), dtype="int32", name="target_ids"),
        }
        if self.gold_ranker:
            inputs["relevance_gold"] = keras.Input(
                (num_passages,), dtype="float32", name="relevance_gold"
            )
        memory = self._read(inputs)
        outputs = {part: memory[part] for part in ("ranker", "classifier") if part in memory}
        if decoder:
            parts = self._write(memory, inputs["answer_ids"], inputs["target_ids"])
            outputs["decoder"] = parts["log_probability"]
        super().__init__(inputs=inputs, outputs=outputs, name=name, **kwargs)
        self.dtype_policy = dtype

    # === The reader, the ranker and the classifier ===

    def _read(self, inputs):
        """From ids to the memory: all that the decoder reads."""
        question_ids, passage_ids = inputs["question_ids"], inputs["passage_ids"]
        question_mask = ops.not_equal(question_ids, PAD)  # [B, J]
        passage_mask = ops.not_equal(passage_ids, PAD)  # [B, K, L]
        question_words = self.word_embedding(question_ids)
        passage_words = self.word_embedding(passage_ids)
        question = self._embed(question_words, question_ids, question_mask)  # [B, J, d]
        passages = self._embed(passage_words, passage_ids, passage_mask)  # [B, K, L, d]
        for block in self.shared_encoder:
            question = block(question, padding_mask=question_mask)
            passages = block(passages, padding_mask=passage_mask)
        passages, question = self.dual_attention(passages, question, passage_mask, question_mask)
        passages = self.passage_projection(passages)
        if self.local_context is not None:
            passages = self.local_context(passages, passage_mask)
        for block in self.passage_encoder:
            passages = block(passages, padding_mask=passage_mask)

        memory = {"style_ids": inputs["style_ids"]}
        if self.passage_ranker is not None:
            memory["ranker"] = self.passage_ranker(passages, passage_mask)
        if self.answer_possibility is not None:
            memory["classifier"] = self.answer_possibility(passages, passage_mask)
        if not self.has_decoder:
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
            if self.gold_ranker:
                log_relevance = ops.log(ops.maximum(inputs["relevance_gold"], GOLD_FLOOR))
            else:
                log_relevance = ops.log_sigmoid(memory["ranker"])
            # Each word has its passage's relevance: [B, K] to [B, K L].
            # A product, no sum: Keras takes a right side [1, K, 1] of `+` for a bias of K features.
            words = ops.ones_like(passage_ids, dtype="float32") * log_relevance[..., None]
            memory["log_relevance"] = self.join_words(words)
        return memory

    def _embed(self, words, ids, mask):
        if self.contextual_embedding is not None:
            words = ops.concatenate([words, self.contextual_embedding(ids, mask)], axis=-1)
        x = self.reader_projection(self.reader_highway(words))
        return x if self.reader_positions is None else self.reader_positions(x)

    # === The decoder ===

    def _write(self, memory, answer_ids, target_ids):
        """All steps at once (teacher forcing): the parts of the targets' distribution."""
        words = self.word_embedding(answer_ids)
        if self.contextual_embedding is not None:
            words = ops.concatenate([words, self.contextual_embedding.forward(answer_ids)], axis=-1)
        style = self.style_embedding(memory["style_ids"])[:, None]
        words = ops.concatenate([style, words[:, 1:]], axis=1)  # the style is the first word
        x = self.decoder_projection(self.decoder_highway(words))
        x = x if self.decoder_positions is None else self.decoder_positions(x)
        memories = [memory["question"], memory["passages"]]
        masks = [memory["question_mask"], memory["passage_mask"]]
        for block in self.decoder_blocks:
            x = block(x, memories, masks)
        return self._distribute(memory, x, target_ids=target_ids)

    def _distribute(self, memory, states, target_ids=None, projected=None):
        extended_ids = memory["extended_ids"]
        hidden = self.output_projection(states)
        source_logits, source_generable = self.source_vocabulary(
            hidden, memory["source_words"], memory["source_ids"], extended_ids
        )
        if self.tie_output_embedding:
            common_logits = self.word_embedding(hidden, num_rows=self.num_generable)
        else:
            common_logits = self.output_embedding(hidden)
            source_generable = ops.zeros_like(source_generable)
        log_priors = [None, memory["log_relevance"]] if self.combined_attention else None
        return self.pointer_generator(
            states,
            [memory["question"], memory["passages"]],
            source_ids=extended_ids,
            common_logits=common_logits,
            source_logits=source_logits,
            source_generable=source_generable,
            log_priors=log_priors,
            target_ids=target_ids,
            projected=projected,
        )

    # === Decoding step by step ===

    def encode(self, inputs):
        """All that does not change from step to step, computed once.

        Args:
            inputs: the model's inputs but for `answer_ids` and `target_ids`.

        Returns:
            A dict whose tensors have the batch first; `ranker` and `classifier` among them.
        """
        memory = self._read(inputs)
        if self.has_decoder:
            memories = [memory["question"], memory["passages"]]
            memory["projected"] = [block.project(memories) for block in self.decoder_blocks]
            memory["copy_projected"] = self.pointer_generator.project(memories)
        return memory

    def init_cache(self, memory, num_beams, max_length):
        """An empty cache for `max_length` steps of `num_beams` beams: leaves `[B, W, ...]`."""
        batch_size = ops.shape(memory["style_ids"])[0]
        cache = {
            "blocks": [
                block.init_cache(batch_size, num_beams, max_length, self.hidden_dim)
                for block in self.decoder_blocks
            ]
        }
        if self.contextual_embedding is not None:
            cache["contextual"] = self.contextual_embedding.init_cache(batch_size, num_beams)
        return cache

    def decode_step(self, memory, cache, ids, t):
        """One step of decoding.

        Args:
            memory: what `encode` gave.
            cache: what `init_cache` or the step before gave.
            ids: int `[B, W]` extended ids of each beam's previous word; at `t = 0` the style's
                token takes their place.
            t: the step, a scalar from 0.

        Returns:
            Log-probabilities `[B, W, G + S]` of all extended ids, and the new cache.
        """
        cache = dict(cache)
        ids = ops.where(ops.equal(t, 0), BOS, self._input_ids(memory, ids))
        words = self.word_embedding(ids)  # [B, W, word_dim]
        if self.contextual_embedding is not None:
            contextual = self.contextual_embedding
            forward, cache["contextual"] = contextual.decode_step(ids, cache["contextual"])
            words = ops.concatenate([words, forward], axis=-1)
        style = self.style_embedding(memory["style_ids"])[:, None]
        words = ops.where(ops.equal(t, 0), style, words)
        x = self.decoder_projection(self.decoder_highway(words))
        x = x if self.decoder_positions is None else self.decoder_positions(x, position=t)
        masks = [memory["question_mask"], memory["passage_mask"]]
        block_caches = []
        for block, block_cache, projected in zip(
            self.decoder_blocks, cache["blocks"], memory["projected"], strict=True
        ):
            x, block_cache = block.decode_step(x, block_cache, t, projected, masks)
            block_caches.append(block_cache)
        cache["blocks"] = block_caches
        parts = self._distribute(memory, x, projected=memory["copy_projected"])
        return self.pointer_generator.distribution(parts, memory["extended_ids"]), cache

    def attribute(self, memory, target_ids):
        """Where each word of an answer comes from: one pass over given words.

        Args:
            memory: what `encode` gave.
            target_ids: int `[B, T]` extended ids of the answer, PAD after its end.

        Returns:
            A dict: `log_probability` `[B, T]`; `mixture` `[B, T, 3]`, the weights of the
            vocabulary, the question and the passages (masque-20); `log_parts` `[B, T, 3]`, the log
            of each one's share in the word's probability; `question_attention` `[B, T, J]` and
            `passage_attention` `[B, T, K L]`, the copy attention (masque-15, masque-21).
        """
        previous = self._input_ids(memory, target_ids)[:, :-1]
        answer_ids = ops.pad(previous, [[0, 0], [1, 0]], constant_values=BOS)
        parts = self._write(memory, answer_ids, target_ids)
        question_attention, passage_attention = map(ops.exp, parts["log_attentions"])
        return {
            "log_probability": parts["log_probability"],
            "mixture": ops.exp(parts["log_mixture"]),
            "log_parts": parts["log_parts"],
            "question_attention": question_attention,
            "passage_attention": passage_attention,
        }

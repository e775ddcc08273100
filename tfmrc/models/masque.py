"""Masque: answers from several passages, in a chosen style."""

from typing import Any, Literal

import keras
from keras import ops

from tfmrc.encoders.elmo.elmo import MAX_CHARACTERS
from tfmrc.encoders.layer_of import layer_of
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
    linear,
)
from tfmrc.layers.encoders.linear import initial
from tfmrc.layers.recording import record
from tfmrc.models import presets
from tfmrc.models.base import Model, check_output
from tfmrc.models.configuration import check_contextual, contextual_reads, symbolic_inputs
from tfmrc.models.generation import GenerationMixin, input_characters, input_ids, previous_ids
from tfmrc.ops.ids import BOS, PAD
from tfmrc.ops.sizes import sizes

BLOCKS = {
    "transformer": (TransformerEncoderBlock, TransformerDecoderBlock),
    "lstm": (RecurrentEncoderBlock, RecurrentDecoderBlock),
}
ENCODER_INPUTS = {
    "joint": ("encoder_ids", "segment_ids", "question_encoder_ids"),
    "separate": ("question_encoder_ids", "passage_encoder_ids"),
}
# The true relevance of a passage that does not matter, in place of 0: a reference word that only
# such a passage holds stays possible, and where no passage matters all are read alike.
GOLD_FLOOR = 1e-12


@keras.saving.register_keras_serializable(package="tfmrc")
class Masque(GenerationMixin, Model):
    """Multi-style abstractive summarisation model for question answering.

    A reader brings the question and all passages together; a ranker and a classifier say which
    passages matter and whether an answer is possible; a decoder writes the answer in the style
    that its first token names, generating words and copying them from the question and the
    passages. It is a functional Keras model that is trained with `compile` and `fit`.

    Without a contextual embedding (ELMo in the paper) the reader would not know the order of words.
    Then `PositionEmbedding` layers, which the paper does not have, follow the two linear maps to
    `hidden_dim`. A contextual embedding is a Keras layer with `forward_dim`, `layer(ids, mask)`
    `[..., n, dim]`, `layer.forward(ids)` `[B, T, forward_dim]` (which must not look ahead),
    `layer.init_cache(batch_size, num_beams)` and `layer.decode_step(ids, cache)` for one word per
    beam. With the attribute `reads = "characters"`, as ELMo (`tfmrc.encoders.load_elmo`), it is
    given character ids `[..., 50]` in place of ids, which `MasquePreprocessor(characters=True)`
    makes from the spelling of each text. A generated word is spelled as in the vocabulary, and a
    copied one as in its source.

    With `num_word_features` the reader's projection reads features of each word beside its vector,
    after the highway network: exact match with the other text, capitals, digits. The paper has
    none: its ELMo reads characters, and its vectors know the case. Fixed vectors that are looked up
    in lower case tell neither a name from a noun nor which words question and passage share. The
    decoder does not read them, since a word that is generated has no spelling.

    With a pretrained encoder (`tfmrc.encoders`) the reader has three designs, selected by
    `encoder_use`:

    - "reader": the encoder's word vectors replace the word embedding, the highway network and the
      shared encoder blocks; the projection, dual attention and the modelling blocks follow.
    - "embedding": they replace the word vectors before the highway network.
    - "contextual": they are concatenated with the word vectors, as ELMo in the paper.

    The encoder knows the order of words, so the reader adds no positions. In all designs the
    encoder reads the question alone; with `reading="joint"` it reads each passage as one sequence
    with the question. Before dual attention neither the question nor a passage therefore depends on
    other passages, and a passage's relevance never does, as in the paper. The `BOS` of a passage,
    which the ranker and the classifier read, has the vector of the sequence's first subword
    ([CLS]). In all designs the decoder embeds words by the word embedding.

    Passages that are missing (all PAD) are never attended to or copied from, get a relevance of
    zero and give zeros to the classifier.

    Each part is created by a method `build_*`. A subclass that is registered with Keras replaces a
    part by overriding its method, and is saved, loaded and exported like any other model.

    Args:
        vocabulary_size: int. Rows of the word embedding: special rows, words, unknown-word buckets.
        num_styles: int. Number of answer styles.
        num_passages: int. Number of passages K. Default: 10.
        word_dim: int. Width of the word vectors. Default: 300.
        hidden_dim: int. Width d of all blocks. Default: 304.
        num_heads: int. Attention heads of each block. Default: 8.
        intermediate_dim: int. Inner width of the feed-forward networks. Default: 256.
        num_shared_blocks: int. Encoder blocks shared by question and passages. Default: 3.
        num_question_blocks: int. Modelling encoder blocks of the question. Default: 2.
        num_passage_blocks: int. Modelling encoder blocks of the passages. Default: 5.
        num_decoder_blocks: int. Decoder blocks. Default: 8.
        generation_vocabulary_size: int. How many of the first rows can be generated anywhere.
            Default: 5000.
        num_oov_buckets: int. How many of the last rows stand for unknown words; they can be copied
            and not generated. Default: 0.
        dropout: float. Rate of highways, residual changes and attention weights. Default: 0.3.
        ranker: bool or str. True, False, or "gold" (the true relevance weighs the attention; the
            paper's upper bound), which asks for the input `relevance_gold` `[B, K]`. Default: True.
        classifier: bool. Whether the answer possibility is learned. Default: True.
        decoder: bool. Whether there is a decoder, or only the ranker and the classifier.
            Default: True.
        combined_attention: bool. Whether the passages' relevance weighs the attention that copies.
            Default: True.
        copy_attention: str. Attention of the copying: "additive" (the paper) or "multiplicative",
            which compares states with words from the first step on. Default: "additive".
        tie_output_embedding: bool. Whether the word embedding scores the generated words (the
            paper). If not, the generable words have separate output weights and the other words of
            the sources can only be copied. Default: True.
        block: str. "transformer", or "lstm" (the paper's "w/o Transformer"), whose recurrent
            weights and forget biases are not drawn from N(0, 0.02) (see `BidirectionalLSTM`).
            Default: "transformer".
        word_scale: float. Factor of the vectors of words and styles where they are read. Rows of a
            pretrained encoder have a length of about 1, beside its states and the decoder's
            positions of 8 to 10; GloVe's have 5 to 7. Default: 1.0.
        embeddings_trainable: bool. Whether the words' rows are trained. The papers do not say.
            Default: False.
        similarity_init: float. Initial mean of the product's weights in the similarity of question
            and passages (`DualAttention`); 0 as in the paper. With 1 a model without pre-trained
            word vectors finds the question's words in the passages from the start. Default: 0.0.
        local_window: int. Width of the window in which the passages' words see their neighbours
            between dual attention and modelling (`LocalConvolution`); 0: none, as in the paper.
            Where nothing else gives words their surroundings, a small model learns far sooner with
            it which of several unknown words answers; earlier in the reader it hides which words
            are equal. Default: 0.
        num_word_features: int. Number of features of a word that the reader is given; 0 for none.
            Default: 0.
        contextual_embedding: layer or None. A layer as above, or None. Default: None.
        encoder: `Encoder` or layer or None. What `tfmrc.encoders.from_preset` returns, or its
            layer; None for none. Default: None.
        encoder_use: str. "reader", "embedding" or "contextual", as above. Default: "reader".
        reading: str. What the encoder reads: "joint", each passage as one sequence with the
            question, or "separate". That of the preprocessor. Default: "joint".
        initializer_stddev: float. Standard deviation of the initial weights. Default: 0.02.
        seed: int or None. Seed of all dropout. Default: None.

    Call arguments:
        inputs: dict, made by `tfmrc.preprocessing.MasquePreprocessor`.
        question_ids: int `[B, J]` input ids.
        passage_ids: int `[B, K, L]` input ids, BOS first.
        extended_ids: int `[B, J + K L]` extended ids of question and passages, PAD where there is
            no word.
        style_ids: int `[B]`.
        answer_ids: int `[B, T]` input ids of the words before each target.
        target_ids: int `[B, T]` extended ids.
        relevance_gold: `[B, K]`, only with `ranker="gold"`.
        question_encoder_ids: int `[B, V, Q]`, windows of subwords, with an encoder.
        encoder_ids, segment_ids: int `[B, K W, P]`, W windows of each passage, with an encoder
            that reads jointly; with one that does not `passage_encoder_ids` instead.
        question_characters, passage_characters, answer_characters: int `[B, J, 50]`,
            `[B, K, L, 50]`, `[B, T, 50]`, with a contextual embedding that reads characters;
            `encode` takes `generable_characters` `[G, 50]` in place of the last.
        question_features, passage_features: float `[B, J, F]`, `[B, K, L, F]`, with
            `num_word_features` F.
        question_pieces, passage_pieces: int `[B, J, 2]`, `[B, K, L, 2]`, the subwords of each
            word, with an encoder.

    Every variant takes the same inputs, so that one dataset trains them all.

    Returns:
        A dict of what the model has: `decoder` `[B, T]`, the log-probabilities of the targets;
        `ranker` `[B, K]` and `classifier` `[B]`, logits. All float32.

    Raises:
        ValueError: If both a contextual embedding and an encoder are given.

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

    PRESETS = presets.MASQUE
    ATTENTION = {
        "passage_to_question": ("dual_attention.a", "passage_ids", "question_ids"),  # masque-03
        "question_to_passage": ("dual_attention.b", "passage_ids", "question_ids"),  # masque-04
        "question_copy": ("copy_attention_0", "target_ids", "question_ids"),  # masque-15
        "passage_copy": ("copy_attention_1", "target_ids", "passage_ids"),  # masque-21
    }

    def __init__(
        self,
        *,
        vocabulary_size: int,
        num_styles: int,
        num_passages: int = 10,
        word_dim: int = 300,
        hidden_dim: int = 304,
        num_heads: int = 8,
        intermediate_dim: int = 256,
        num_shared_blocks: int = 3,
        num_question_blocks: int = 2,
        num_passage_blocks: int = 5,
        num_decoder_blocks: int = 8,
        generation_vocabulary_size: int = 5000,
        num_oov_buckets: int = 0,
        dropout: float = 0.3,
        ranker: Literal[True, False, "gold"] = True,
        classifier: bool = True,
        decoder: bool = True,
        combined_attention: bool = True,
        copy_attention: Literal["additive", "multiplicative"] = "additive",
        tie_output_embedding: bool = True,
        block: Literal["transformer", "lstm"] = "transformer",
        word_scale: float = 1.0,
        embeddings_trainable: bool = False,
        similarity_init: float = 0.0,
        local_window: int = 0,
        num_word_features: int = 0,
        contextual_embedding: keras.layers.Layer | None = None,
        encoder: Any = None,
        encoder_use: Literal["reader", "embedding", "contextual"] = "reader",
        reading: Literal["joint", "separate"] = "joint",
        initializer_stddev: float = 0.02,
        seed: int | None = None,
        name: str = "masque",
        dtype: str | keras.DTypePolicy | None = None,
    ):
        check_contextual(encoder, contextual_embedding)
        self.num_passages, self.num_styles = num_passages, num_styles
        # Extended ids begin after the generable words; a table cannot generate more than it has.
        self.num_generable = min(generation_vocabulary_size, vocabulary_size - num_oov_buckets)
        self.has_decoder = decoder
        self.gold_ranker = ranker == "gold"
        self.combined_attention = combined_attention and bool(ranker)
        self.contextual_embedding = contextual_embedding
        self.num_word_features = num_word_features
        self.reads_characters = contextual_reads(contextual_embedding) == "characters"
        self.encoder = layer_of(encoder)
        self.encoder_use = None if encoder is None else encoder_use

        # === Parts, in an order that decides the seeds of their initial weights ===
        embeds = self.encoder_use != "reader"  # else the encoder takes the place of the first parts
        needs_words = decoder or self.encoder_use in (None, "contextual")
        self.word_embedding: Any = self.build_word_embedding() if needs_words else None
        self.reader_highway = self.build_highway(name="reader_highway") if embeds else None
        self.reader_projection = self.build_projection(hidden_dim, name="reader_projection")
        self.reader_positions = None
        if self.encoder is None:
            self.reader_positions = self.build_positions(name="reader_positions")
        encoder_block, decoder_block = self.build_encoder_block, self.build_decoder_block
        self.shared_encoder = _blocks(encoder_block, "shared_encoder", embeds * num_shared_blocks)
        self.dual_attention = self.build_dual_attention()
        self.passage_projection = self.build_projection(hidden_dim, name="passage_projection")
        self.local_context = self.build_local_context()
        self.passage_encoder = _blocks(encoder_block, "passage_modelling", num_passage_blocks)
        self.passage_ranker = self.build_passage_ranker() if ranker and ranker != "gold" else None
        self.answer_possibility = self.build_answer_possibility() if classifier else None
        if decoder:  # the ranker and the classifier read the passages alone
            self.question_projection = self.build_projection(hidden_dim, name="question_projection")
            self.question_encoder = _blocks(
                encoder_block, "question_modelling", num_question_blocks
            )
            self.style_embedding = self.build_style_embedding()
            self.decoder_highway = self.build_highway(name="decoder_highway")
            self.decoder_projection = self.build_projection(hidden_dim, name="decoder_projection")
            self.decoder_positions = self.build_positions(name="decoder_positions")
            self.decoder_blocks = _blocks(decoder_block, "decoder", num_decoder_blocks)
            self.output_projection = self.build_projection(word_dim, name="output_projection")
            self.source_vocabulary = self.build_source_vocabulary()
            self.output_embedding = self.build_output_embedding()
            self.pointer_generator = self.build_pointer_generator()

        # === Functional model ===
        inputs = self._create_inputs()
        memory = self._read(inputs)
        outputs = {part: memory[part] for part in ("ranker", "classifier") if part in memory}
        if self.passage_ranker is not None:
            check_output(self, "build_passage_ranker", outputs["ranker"], num_passages)
        if classifier:
            check_output(self, "build_answer_possibility", outputs["classifier"])
        if decoder:
            answer = [inputs.get(f"answer_{part}") for part in ("ids", "characters")]
            parts = self._write(memory, inputs["target_ids"], *answer)
            outputs["decoder"] = parts["log_probability"]
            check_output(self, "build_pointer_generator", outputs["decoder"], None)
        super().__init__(inputs=inputs, outputs=outputs, name=name)

    def _create_inputs(self):
        """Returns the symbolic inputs by name."""
        passages, features = self.num_passages, self.num_word_features
        shapes = {
            "question_ids": (None,),
            "passage_ids": (passages, None),
            "extended_ids": (None,),
            "style_ids": (),
            "answer_ids": (None,),
            "target_ids": (None,),
        }
        if self.gold_ranker:
            shapes["relevance_gold"] = (passages,)
        if self.reads_characters:
            for text in ("question", "passage", "answer"):
                shapes[f"{text}_characters"] = (*shapes[f"{text}_ids"], MAX_CHARACTERS)
        if features:
            shapes["question_features"] = (None, features)
            shapes["passage_features"] = (passages, None, features)
        if self.encoder is not None:
            shapes |= dict.fromkeys(ENCODER_INPUTS[self.arguments.reading], (None, None))
            shapes["question_pieces"] = (None, 2)
            shapes["passage_pieces"] = (passages, None, 2)
        return symbolic_inputs(shapes)

    # === Parts: a subclass overrides these ===

    @property
    def _options(self):
        return {"initializer": self.arguments.initializer_stddev, "dtype": self.arguments.dtype}

    def build_highway(self, name):
        """Returns the highway network of the reader or the decoder: `layer(words)`."""
        return Highway(2, self.arguments.dropout, name=name, **self._options)

    def build_projection(self, units, name):
        """Returns one of the linear maps."""
        return linear(units, name=name, **self._options)

    def build_positions(self, name):
        """Returns the positions: `layer(words)`, in decoding `layer(words, position)`; or None."""
        if self.contextual_embedding is not None:
            return None
        return PositionEmbedding(name=name, dtype=self.arguments.dtype)

    def build_encoder_block(self, name):
        """Returns a block of the shared or modelling encoder: `layer(words, padding_mask=mask)`."""
        a = self.arguments
        encoder_block, _ = BLOCKS[a.block]
        return encoder_block(
            a.num_heads, a.intermediate_dim, dropout=a.dropout, name=name, **self._options
        )

    def build_dual_attention(self):
        """Returns `layer(passages, question, passage_mask, question_mask)` to new ones of both."""
        return DualAttention(
            similarity_init=self.arguments.similarity_init, name="dual_attention", **self._options
        )

    def build_local_context(self):
        """Returns the passages' convolution `layer(passages, mask)`, or None."""
        width = self.arguments.local_window
        return LocalConvolution(width, name="local_context", **self._options) if width else None

    def build_passage_ranker(self):
        """Returns the ranker: `layer(passages, passage_mask)` to logits `[B, K]`."""
        return PassageRanker(name="passage_ranker", **self._options)

    def build_answer_possibility(self):
        """Returns the classifier: `layer(passages, passage_mask)` to logits `[B]`."""
        return AnswerPossibility(name="answer_possibility", **self._options)

    def build_style_embedding(self):
        """Returns the layer from styles to vectors as wide as the decoder's embedded words."""
        a, contextual = self.arguments, self.contextual_embedding
        return keras.layers.Embedding(
            a.num_styles,
            a.word_dim + (contextual.forward_dim if contextual else 0),
            embeddings_initializer=initial(a.initializer_stddev),
            name="style_embedding",
            dtype=a.dtype,
        )

    def build_decoder_block(self, name):
        """Returns a block of the decoder; its `project(memories, masks)` is what all steps read."""
        a = self.arguments
        _, decoder_block = BLOCKS[a.block]
        return decoder_block(
            a.num_heads, a.intermediate_dim, num_memories=2, dropout=a.dropout, name=name,
            **self._options,
        )  # fmt: skip

    def build_source_vocabulary(self):
        """Returns the layer that finds the generable words of the sources."""
        a = self.arguments
        num_known = a.vocabulary_size - a.num_oov_buckets
        return SourceVocabulary(
            self.num_generable, num_known, name="source_vocabulary", dtype=a.dtype
        )

    def build_output_embedding(self):
        """Returns the output weights of the generable words; None for the word embedding's."""
        if self.arguments.tie_output_embedding:
            return None
        return linear(self.num_generable, use_bias=False, name="output_embedding", **self._options)

    def build_pointer_generator(self):
        """Returns the layer that mixes generation and the copying from question and passages."""
        a = self.arguments
        dim = a.hidden_dim if a.copy_attention == "multiplicative" else None
        return PointerGenerator(2, dim, name="pointer_generator", **self._options)

    # === Reader: question and passages to the memory ===

    def _read(self, inputs):
        """Computes from ids what the decoder reads, and the logits of ranker and classifier.

        Returns:
            A dict, the memory: `ranker` `[B, K]` and `classifier` `[B]`, logits; and for a decoder
            `question` `[B, J, d]`, `passages` `[B, K L, d]`, their masks, `extended_ids`,
            `source_ids`, `source_words` `[B, J + K L, word_dim]` and, with `combined_attention`,
            `log_relevance` `[B, K L]`.
        """
        question_ids, passage_ids = inputs["question_ids"], inputs["passage_ids"]
        question_mask = ops.not_equal(question_ids, PAD)  # [B, J]
        passage_mask = ops.not_equal(passage_ids, PAD)  # [B, K, L]
        question_words, passage_words = self._words(inputs)
        record("question_embedding", question_words)
        record("passage_embedding", passage_words)
        question = self._embed(question_words, "question", inputs, question_mask)  # [B, J, d]
        passages = self._embed(passage_words, "passage", inputs, passage_mask)  # [B, K, L, d]
        for block in self.shared_encoder:  # masque-01
            question = block(question, padding_mask=question_mask)
            passages = block(passages, padding_mask=passage_mask)
        # masque-02 to masque-10
        passages, question = self.dual_attention(passages, question, passage_mask, question_mask)
        passages = self.passage_projection(passages)  # [B, K, L, d]
        if self.local_context is not None:
            passages = self.local_context(passages, passage_mask)
        for block in self.passage_encoder:
            passages = block(passages, padding_mask=passage_mask)
        record("passage_encoding", passages)

        memory = {"style_ids": inputs["style_ids"]}
        if self.passage_ranker is not None:
            memory["ranker"] = self.passage_ranker(passages, passage_mask)  # masque-11
        if self.answer_possibility is not None:
            memory["classifier"] = self.answer_possibility(passages, passage_mask)  # masque-12
        if not self.has_decoder:
            return memory
        question = self.question_projection(question)  # [B, J, d]
        for block in self.question_encoder:
            question = block(question, padding_mask=question_mask)
        record("question_encoding", question)
        source_ids = ops.concatenate([question_ids, _joined(passage_ids)], axis=1)
        memory |= {
            "question": question,
            "passages": _joined(passages),  # [B, K L, d]
            "question_mask": question_mask,
            "passage_mask": _joined(passage_mask),  # [B, K L]
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
            # A product: for a sum Keras takes a right side [1, K, 1] for a bias of K features.
            words = ops.ones_like(passage_ids, dtype="float32") * log_relevance[..., None]
            memory["log_relevance"] = _joined(words)  # from [B, K, L], masque-21
        return memory

    def _words(self, inputs):
        """Returns vectors of the words of question and passages, `[B, J, e]` and `[B, K, L, e]`."""
        read = () if self.encoder is None else self._encoder_words(inputs)
        if self.encoder_use in ("reader", "embedding"):
            return read
        ids = [inputs[f"{text}_ids"] for text in ("question", "passage")]
        words = [self.word_embedding(each) * self.arguments.word_scale for each in ids]
        if self.encoder_use == "contextual":
            pairs = zip(words, read, strict=True)
            words = [ops.concatenate(pair, axis=-1) for pair in pairs]
        return words

    def _encoder_words(self, inputs):
        """Returns the pretrained encoder's vectors of the same words."""
        encoder = self.encoder
        question = encoder(inputs["question_encoder_ids"])
        if self.arguments.reading == "joint":
            passages = encoder(inputs["encoder_ids"], inputs["segment_ids"])
        else:
            passages = encoder(inputs["passage_encoder_ids"])
        question = encoder.words(question, inputs["question_pieces"])
        passages = encoder.words(passages, _joined(inputs["passage_pieces"]))  # [B, K L, e]
        return question, _reshaped(passages, (self.num_passages, -1, encoder.dim))

    def _embed(self, words, text, inputs, mask):
        """Embeds the words `[..., n, word_dim]` of a text: `[..., n, d]`."""
        if self.contextual_embedding is not None:
            spelled = inputs[f"{text}_{'characters' if self.reads_characters else 'ids'}"]
            words = ops.concatenate([words, self.contextual_embedding(spelled, mask)], axis=-1)
        x = words if self.reader_highway is None else self.reader_highway(words)
        if self.num_word_features:
            x = ops.concatenate([x, ops.cast(inputs[f"{text}_features"], x.dtype)], axis=-1)
        x = self.reader_projection(x)
        return x if self.reader_positions is None else self.reader_positions(x)

    # === Decoder: the memory to the words of an answer ===

    def _write(self, memory, target_ids, answer_ids, answer_characters=None):
        """Computes all steps at once (teacher forcing): the parts of the words' distribution.

        Args:
            memory: dict. What `_read` returned.
            target_ids: int `[B, T]` extended ids of the targets.
            answer_ids: int `[B, T]` input ids of the words before each target.
            answer_characters: int `[B, T, c]` of the same words, for a contextual embedding that
                reads characters.
        """
        words = self.word_embedding(answer_ids) * self.arguments.word_scale  # [B, T, word_dim]
        if self.contextual_embedding is not None:
            previous = answer_characters if self.reads_characters else answer_ids
            words = ops.concatenate([words, self.contextual_embedding.forward(previous)], axis=-1)
        style = self._style(memory)
        words = ops.concatenate([style, words[:, 1:]], axis=1)  # the style is the first word
        x = self.decoder_projection(self.decoder_highway(words))  # [B, T, d]
        x = x if self.decoder_positions is None else self.decoder_positions(x)
        memories = [memory["question"], memory["passages"]]
        masks = [memory["question_mask"], memory["passage_mask"]]
        projected = memory.get("projected", [None] * len(self.decoder_blocks))
        for block, block_projected in zip(self.decoder_blocks, projected, strict=True):
            x = block(x, memories, masks, projected=block_projected)
        return self._distribute(memory, x, target_ids=target_ids)

    def _style(self, memory):
        """Returns the vector of the style, which is the first word, `[B, 1, e]`."""
        return self.style_embedding(memory["style_ids"])[:, None] * self.arguments.word_scale

    def _distribute(self, memory, states, target_ids=None):
        """Computes the parts of the next words' distribution from decoder states `[B, T, d]`."""
        extended_ids = memory["extended_ids"]
        hidden = self.output_projection(states)  # [B, T, word_dim]
        source_logits, source_generable = self.source_vocabulary(  # [B, T, S], [B, S]
            hidden,
            memory["source_words"],
            memory["source_ids"],
            extended_ids,
            columns=memory.get("source_columns"),
        )
        if self.output_embedding is None:
            # masque-13: the word embedding scores the generated words
            common_logits = self.word_embedding(  # [B, T, G]
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

    def encode(self, inputs):
        """Computes once what does not change from step to step.

        Args:
            inputs: dict. The model's inputs but for `answer_ids` and `target_ids`.

        Returns:
            A dict, the memory, `ranker` and `classifier` among it. Its tensors have the batch
            first, but for `output_rows`, `generable_characters` and the joined weights in
            `projected`.
        """
        memory = self._read(inputs)
        if not self.has_decoder:
            return memory
        if self.reads_characters:
            passages = inputs["passage_characters"]  # [B, K, L, 50]
            spelled = [inputs["question_characters"], _joined(passages)]
            memory["source_characters"] = ops.concatenate(spelled, axis=1)
            memory["generable_characters"] = inputs["generable_characters"]
        if self.output_embedding is None:
            memory["output_rows"] = self.word_embedding.first_rows(self.num_generable)  # [G, d]
        memories = [memory["question"], memory["passages"]]
        masks = [memory["question_mask"], memory["passage_mask"]]
        memory["projected"] = [block.project(memories, masks) for block in self.decoder_blocks]
        memory["copy_projected"] = self.pointer_generator.project(memories)
        memory["source_columns"] = self.source_vocabulary.project(memory["source_words"])
        return memory

    def init_cache(self, memory, num_beams, max_length):
        """Returns an empty cache for `max_length` steps of `num_beams` beams: `[B, W, ...]`."""
        batch_size = sizes(memory["style_ids"])[0]
        hidden_dim = self.arguments.hidden_dim
        blocks = [
            block.init_cache(batch_size, num_beams, max_length, hidden_dim)
            for block in self.decoder_blocks
        ]
        if self.contextual_embedding is None:
            return {"blocks": blocks}
        contextual = self.contextual_embedding.init_cache(batch_size, num_beams)
        return {"blocks": blocks, "contextual": contextual}

    def decode_step(self, memory, cache, ids, t):
        """Computes one step of decoding.

        Args:
            memory: dict. What `encode` returned.
            cache: What `init_cache` or the step before returned.
            ids: int `[B, W]`. Extended ids of each beam's previous word; at `t = 0` the style's
                token takes their place.
            t: int scalar. The step, from 0.

        Returns:
            Log-probabilities `[B, W, G + S]` of all extended ids, and the new cache.
        """
        cache = dict(cache)
        first = ops.equal(t, 0)
        previous = ops.where(first, BOS, input_ids(memory, ids, self.num_generable))
        words = self.word_embedding(previous) * self.arguments.word_scale  # [B, W, word_dim]
        if self.contextual_embedding is not None:
            if self.reads_characters:
                spelled = input_characters(memory, ids, self.num_generable)
                previous = ops.where(first, memory["generable_characters"][BOS], spelled)
            forward, cache["contextual"] = self.contextual_embedding.decode_step(
                previous, cache["contextual"]
            )
            words = ops.concatenate([words, forward], axis=-1)
        style = self._style(memory)
        words = ops.where(first, style, words)  # [B, W, e]
        x = self.decoder_projection(self.decoder_highway(words))  # [B, W, d]
        x = x if self.decoder_positions is None else self.decoder_positions(x, position=t)
        block_caches = []
        for block, block_cache, projected in zip(
            self.decoder_blocks, cache["blocks"], memory["projected"], strict=True
        ):
            x, block_cache = block.decode_step(x, block_cache, t, projected)
            block_caches.append(block_cache)
        cache["blocks"] = block_caches
        parts = self._distribute(memory, x)
        return self.pointer_generator.distribution(parts, memory["extended_ids"]), cache

    def attribute(self, memory, target_ids):
        """Computes the source of each of the given words, in one pass.

        Args:
            memory: dict. What `encode` returned.
            target_ids: int `[B, T]`. Extended ids of the answer, PAD after its end.

        Returns:
            A dict: `log_probability` `[B, T]`; `mixture` `[B, T, 3]`, the weights of the
            vocabulary, the question and the passages (masque-20); `log_parts` `[B, T, 3]`, the log
            of each one's share in the word's probability; `question_attention` `[B, T, J]` and
            `passage_attention` `[B, T, K L]`, the copy attention (masque-15, masque-21).
        """
        answer_ids, characters = previous_ids(memory, target_ids, self.num_generable), None
        if self.reads_characters:
            spelled = input_characters(memory, target_ids[:, :-1], self.num_generable)
            begin = ops.zeros_like(spelled[:, :1]) + memory["generable_characters"][BOS]
            characters = ops.concatenate([begin, spelled], axis=1)
        parts = self._write(memory, target_ids, answer_ids, characters)
        question_attention, passage_attention = map(ops.exp, parts["log_attentions"])
        return {
            "log_probability": parts["log_probability"],
            "mixture": ops.exp(parts["log_mixture"]),
            "log_parts": parts["log_parts"],
            "question_attention": question_attention,
            "passage_attention": passage_attention,
        }


def _blocks(build, name, count):
    return [build(name=f"{name}_{i + 1}") for i in range(count)]


def _joined(x):
    """Joins the passages: `[B, K, L, ...]` to `[B, K L, ...]`."""
    return _reshaped(x, (-1, *x.shape[3:]))


def _reshaped(x, shape):
    """A layer, since `ops.reshape` takes no two unknown sizes while a graph is symbolic."""
    return keras.layers.Reshape(shape, autocast=False)(x)

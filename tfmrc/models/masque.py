"""Masque: answers from several passages, in a chosen style."""

from typing import Any, ClassVar

import keras
from keras import ops

from tfmrc.encoders.elmo import MAX_CHARACTERS
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
    WordEmbedding,
    linear,
)
from tfmrc.layers.encoders.linear import normal
from tfmrc.models import presets
from tfmrc.models.base import Model
from tfmrc.models.configuration import (
    check_choice,
    check_contextual,
    contextual_reads,
    num_generable,
)
from tfmrc.models.generation import GenerationMixin, input_characters, input_ids
from tfmrc.models.masque_decoder import MasqueDecoder
from tfmrc.models.masque_reader import MasqueReader
from tfmrc.models.parts import check_output
from tfmrc.ops.checks import check_positions
from tfmrc.ops.ids import BOS
from tfmrc.ops.sizes import sizes
from tfmrc.utils.arguments import check_whole_numbers

BLOCKS = {
    "transformer": (TransformerEncoderBlock, TransformerDecoderBlock),
    "lstm": (RecurrentEncoderBlock, RecurrentDecoderBlock),
}
ENCODER_INPUTS = {
    "joint": ("encoder_ids", "segment_ids", "question_encoder_ids"),
    "separate": ("question_encoder_ids", "passage_encoder_ids"),
}
ENCODER_USES = ("reader", "embedding", "contextual")


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

    Each part is made by a method `build_*`. A subclass that is registered with Keras replaces a
    part by overriding its method, and is saved, loaded and exported like any other model.

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
        num_word_features: number of features of a word that the reader is given; 0 for none.
        contextual_embedding: a layer as above, or None.
        encoder: what `tfmrc.encoders.from_preset` returns, or its layer; None for none.
        encoder_use: "reader", "embedding" or "contextual", as above.
        reading: what the encoder reads: "joint", each passage as one sequence with the question,
            or "separate". That of the preprocessor.
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
        ValueError: an argument is none of its choices, or there are both a contextual embedding
            and an encoder.

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
    BUILT_BY: ClassVar[dict[str, str]] = {
        "shared_encoder": "build_encoder_block",
        "passage_encoder": "build_encoder_block",
        "question_encoder": "build_encoder_block",
        "decoder_blocks": "build_decoder_block",
        "reader_highway": "build_highway",
        "decoder_highway": "build_highway",
        "reader_projection": "build_projection",
        "passage_projection": "build_projection",
        "question_projection": "build_projection",
        "decoder_projection": "build_projection",
        "output_projection": "build_projection",
        "reader_positions": "build_positions",
        "decoder_positions": "build_positions",
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
        ranker: bool | str = True,
        classifier: bool = True,
        decoder: bool = True,
        combined_attention: bool = True,
        tie_output_embedding: bool = True,
        block: str = "transformer",
        embeddings_trainable: bool = False,
        similarity_init: float = 0.0,
        local_window: int = 0,
        num_word_features: int = 0,
        contextual_embedding: keras.layers.Layer | None = None,
        encoder: Any = None,
        encoder_use: str = "reader",
        reading: str = "joint",
        initializer_stddev: float = 0.02,
        name: str = "masque",
        dtype: Any = None,
    ):
        if block not in BLOCKS:
            raise ValueError(f"`block` is one of {sorted(BLOCKS)}. Received: block={block!r}")
        check_whole_numbers(1, num_passages=num_passages)
        if not (isinstance(ranker, bool) or ranker == "gold"):  # 1 is not True in what follows
            raise ValueError(f'`ranker` is True, False or "gold". Received: ranker={ranker!r}')
        if not (ranker is True or classifier or decoder):
            raise ValueError(
                "A model needs a ranker, a classifier or a decoder. Received: "
                f"ranker={ranker!r}, classifier={classifier}, decoder={decoder}"
            )
        check_choice("encoder_use", encoder_use, ENCODER_USES)
        check_choice("reading", reading, ENCODER_INPUTS)
        check_contextual(encoder, contextual_embedding, reads=("ids", "characters"))
        self.num_passages = num_passages
        self.num_styles = num_styles
        # Extended ids begin after the generable words; a table cannot generate more than it has.
        self.num_generable = num_generable(
            generation_vocabulary_size, vocabulary_size, num_oov_buckets
        )
        self.has_decoder = decoder
        self.gold_ranker = ranker == "gold"
        self.num_word_features = num_word_features
        self.contextual_embedding = contextual_embedding
        self.reads_characters = contextual_reads(contextual_embedding) == "characters"
        self.encoder = layer_of(encoder)
        self.encoder_use = None if encoder is None else encoder_use
        self.reading = reading
        combined_attention = combined_attention and ranker is not False

        # === Parts, in an order that decides the seeds of their initial weights ===
        reads_words = self.encoder_use in (None, "contextual")
        encodes = self.encoder_use != "reader"
        self.word_embedding = self.build_word_embedding() if decoder or reads_words else None
        self.reader_highway = self.build_highway(name="reader_highway") if encodes else None
        self.reader_projection = self.build_projection(hidden_dim, name="reader_projection")
        self.reader_positions = None
        if self.encoder is None:
            self.reader_positions = self.build_positions(name="reader_positions")
        self.shared_encoder = [
            self.build_encoder_block(name=f"shared_encoder_{i + 1}")
            for i in range(num_shared_blocks if encodes else 0)
        ]
        self.dual_attention = self.build_dual_attention()
        self.passage_projection = self.build_projection(hidden_dim, name="passage_projection")
        self.local_context = self.build_local_context()
        self.passage_encoder = [
            self.build_encoder_block(name=f"passage_modelling_{i + 1}")
            for i in range(num_passage_blocks)
        ]
        policy = self.arguments.dtype
        join_words = keras.layers.Reshape((-1,), name="join_words", dtype="float32")
        join_passages = keras.layers.Reshape((-1, hidden_dim), name="join_passages", dtype=policy)
        join_pieces = split_passages = None
        if self.encoder is not None:
            join_pieces = keras.layers.Reshape((-1, 2), name="join_pieces", dtype="float32")
            split_passages = keras.layers.Reshape(
                (num_passages, -1, self.encoder.dim), name="split_passages", dtype=policy
            )
        self.passage_ranker = self.build_passage_ranker() if ranker is True else None
        self.answer_possibility = self.build_answer_possibility() if classifier else None
        self.question_projection, self.question_encoder = None, []
        if decoder:  # the ranker and the classifier read the passages alone
            self.question_projection = self.build_projection(hidden_dim, name="question_projection")
            self.question_encoder = [
                self.build_encoder_block(name=f"question_modelling_{i + 1}")
                for i in range(num_question_blocks)
            ]
        self.reader = MasqueReader(
            word_embedding=self.word_embedding,
            contextual_embedding=contextual_embedding,
            highway=self.reader_highway,
            projection=self.reader_projection,
            positions=self.reader_positions,
            shared_encoder=self.shared_encoder,
            dual_attention=self.dual_attention,
            passage_projection=self.passage_projection,
            local_context=self.local_context,
            passage_encoder=self.passage_encoder,
            join_words=join_words,
            join_passages=join_passages,
            passage_ranker=self.passage_ranker,
            answer_possibility=self.answer_possibility,
            question_projection=self.question_projection,
            question_encoder=self.question_encoder,
            combined_attention=combined_attention,
            gold_relevance=self.gold_ranker,
            encoder=self.encoder,
            encoder_use=self.encoder_use,
            reading=reading,
            join_pieces=join_pieces,
            split_passages=split_passages,
            name="reader",
            dtype=policy,
        )
        self.decoder: Any = None
        if decoder:
            self.style_embedding = self.build_style_embedding()
            self.decoder_highway = self.build_highway(name="decoder_highway")
            self.decoder_projection = self.build_projection(hidden_dim, name="decoder_projection")
            self.decoder_positions = self.build_positions(name="decoder_positions")
            self.decoder_blocks = [
                self.build_decoder_block(name=f"decoder_{i + 1}") for i in range(num_decoder_blocks)
            ]
            self.output_projection = self.build_projection(word_dim, name="output_projection")
            self.source_vocabulary = self.build_source_vocabulary()
            self.output_embedding = self.build_output_embedding()
            self.pointer_generator = self.build_pointer_generator()
            self.decoder = MasqueDecoder(
                word_embedding=self.word_embedding,
                contextual_embedding=contextual_embedding,
                style_embedding=self.style_embedding,
                highway=self.decoder_highway,
                projection=self.decoder_projection,
                positions=self.decoder_positions,
                blocks=self.decoder_blocks,
                output_projection=self.output_projection,
                source_vocabulary=self.source_vocabulary,
                output_embedding=self.output_embedding,
                pointer_generator=self.pointer_generator,
                num_generable=self.num_generable,
                hidden_dim=hidden_dim,
                combined_attention=combined_attention,
                name="decoder",
                dtype=policy,
            )

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
        if self.reads_characters:
            for text in ("question", "passage", "answer"):
                ids = inputs[f"{text}_ids"]
                inputs[f"{text}_characters"] = keras.Input(
                    (*ids.shape[1:], MAX_CHARACTERS), dtype="int32", name=f"{text}_characters"
                )
        if num_word_features:
            for text in ("question", "passage"):
                shape = (*inputs[f"{text}_ids"].shape[1:], num_word_features)
                inputs[f"{text}_features"] = keras.Input(shape, name=f"{text}_features")
        if self.encoder is not None:
            for part in ENCODER_INPUTS[reading]:
                inputs[part] = keras.Input((None, None), dtype="int32", name=part)
            inputs["question_pieces"] = keras.Input(
                (None, 2), dtype="int32", name="question_pieces"
            )
            inputs["passage_pieces"] = keras.Input(
                (num_passages, None, 2), dtype="int32", name="passage_pieces"
            )
        # `call`, not `__call__`: the parts are the model's layers, by their names in the summary.
        memory = self.reader.call(inputs)
        outputs = {part: memory[part] for part in ("ranker", "classifier") if part in memory}
        if self.decoder is not None:
            parts = self.decoder.call(
                memory,
                inputs["answer_ids"],
                inputs["target_ids"],
                inputs.get("answer_characters"),
            )
            outputs["decoder"] = parts["log_probability"]
            check_output(self, "build_pointer_generator", outputs["decoder"], None)
        if self.passage_ranker is not None:
            check_output(self, "build_passage_ranker", outputs["ranker"], num_passages)
        if self.answer_possibility is not None:
            check_output(self, "build_answer_possibility", outputs["classifier"])
        super().__init__(inputs=inputs, outputs=outputs, name=name)
        self.dtype_policy = policy

    # === Parts: a subclass overrides these ===

    @property
    def _options(self):
        return {"stddev": self.arguments.initializer_stddev, "dtype": self.arguments.dtype}

    def build_word_embedding(self):
        """Returns the layer from ids to word vectors, which also scores the generated words."""
        a = self.arguments
        return WordEmbedding(
            a.vocabulary_size, a.word_dim, a.embeddings_trainable, name="word_embedding",
            **self._options,
        )  # fmt: skip

    def build_highway(self, name):
        """Returns the highway network of the reader or the decoder."""
        return Highway(2, self.arguments.dropout, name=name, **self._options)

    def build_projection(self, units, name):
        """Returns one of the linear maps."""
        return linear(units, name=name, **self._options)

    def build_positions(self, name):
        """Returns the positions of the reader or the decoder; None with a contextual embedding."""
        if self.contextual_embedding is not None:
            return None
        return PositionEmbedding(name=name, dtype=self.arguments.dtype)

    def build_encoder_block(self, name):
        """Returns one block of the shared encoder, or of the question's or passages' modelling."""
        a = self.arguments
        encoder_block, _ = BLOCKS[a.block]
        return encoder_block(
            a.num_heads, a.intermediate_dim, dropout=a.dropout, name=name, **self._options
        )

    def build_dual_attention(self):
        """Returns the layer `(passages, question, passage_mask, question_mask)` to both again."""
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
            embeddings_initializer=normal(a.initializer_stddev),
            name="style_embedding",
            dtype=a.dtype,
        )

    def build_decoder_block(self, name):
        """Returns one block of the decoder."""
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
        return PointerGenerator(2, name="pointer_generator", **self._options)

    # === Decoding step by step ===

    def encode(self, inputs):
        """Computes once what does not change from step to step.

        Args:
            inputs: dict. The model's inputs but for `answer_ids` and `target_ids`.

        Returns:
            A dict, the memory, `ranker` and `classifier` among it. Its tensors have the batch
            first, but for `output_rows`, `generable_characters` and the joined weights in
            `projected`.

        Raises:
            ValueError: An input has rows without any position.
        """
        check_positions(inputs)
        memory = self.reader.call(inputs)
        if self.decoder is None:
            return memory
        if self.reads_characters:
            passages = inputs["passage_characters"]  # [B, K, L, 50]
            passages = ops.reshape(passages, (sizes(passages)[0], -1, MAX_CHARACTERS))
            memory |= {
                "source_characters": ops.concatenate(
                    [inputs["question_characters"], passages], axis=1
                ),
                "generable_characters": inputs["generable_characters"],
            }
        return self.decoder.project(memory)

    def init_cache(self, memory, num_beams, max_length):
        """Returns an empty cache for `max_length` steps of `num_beams` beams: `[B, W, ...]`.

        Raises:
            ValueError: The model has no decoder.
        """
        if self.decoder is None:
            raise ValueError(
                "A model without a decoder does not generate answers. Received: decoder=False"
            )
        return self.decoder.init_cache(memory, num_beams, max_length)

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
        return self.decoder.decode_step(memory, cache, ids, t)

    def attribute(self, memory, target_ids):
        """Tells where each word of an answer comes from, in one pass over given words.

        Args:
            memory: dict. What `encode` returned.
            target_ids: int `[B, T]`. Extended ids of the answer, PAD after its end.

        Returns:
            A dict: `log_probability` `[B, T]`; `mixture` `[B, T, 3]`, the weights of the
            vocabulary, the question and the passages (masque-20); `log_parts` `[B, T, 3]`, the log
            of each one's share in the word's probability; `question_attention` `[B, T, J]` and
            `passage_attention` `[B, T, K L]`, the copy attention (masque-15, masque-21).
        """
        previous = input_ids(memory, target_ids, self.num_generable)[:, :-1]
        answer_ids = ops.pad(previous, [[0, 0], [1, 0]], constant_values=BOS)
        characters = None
        if self.reads_characters:
            spelled = input_characters(memory, target_ids[:, :-1], self.num_generable)
            begin = ops.zeros_like(spelled[:, :1]) + memory["generable_characters"][BOS]
            characters = ops.concatenate([begin, spelled], axis=1)
        parts = self.decoder.call(memory, answer_ids, target_ids, characters)
        question_attention, passage_attention = map(ops.exp, parts["log_attentions"])
        return {
            "log_probability": parts["log_probability"],
            "mixture": ops.exp(parts["log_mixture"]),
            "log_parts": parts["log_parts"],
            "question_attention": question_attention,
            "passage_attention": passage_attention,
        }

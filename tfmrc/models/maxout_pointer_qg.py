"""Questions about a given answer, asked from a passage."""

from typing import Any, Literal

import keras
from keras import ops

from tfmrc.encoders.layer_of import layer_of
from tfmrc.layers import (
    AnswerTagEmbedding,
    BidirectionalLSTM,
    Dropout,
    GatedSelfAttention,
    InputFeedingDecoder,
    MaxoutPointer,
)
from tfmrc.layers.encoders.dense import Dense
from tfmrc.layers.recording import record
from tfmrc.models import presets
from tfmrc.models.base import Model, check_output
from tfmrc.models.configuration import symbolic_inputs
from tfmrc.models.generation import GenerationMixin, input_ids, previous_ids
from tfmrc.ops.coverage import coverage_overlap
from tfmrc.ops.ids import BOS, PAD, UNK
from tfmrc.ops.masking import masked_softmax
from tfmrc.ops.words import first_positions


@keras.saving.register_keras_serializable(package="tfmrc")
class MaxoutPointerQG(GenerationMixin, Model):
    """Question generation with a maxout pointer and gated self-attention.

    A bidirectional LSTM reads the passage, whose words carry tags that say where the answer is;
    gated self-attention brings the whole passage to every word; an LSTM with Luong attention and
    input feeding writes the question, generating words and copying them from the passage under
    one softmax. It is a functional Keras model that is trained with `compile` and `fit`.

    The last states of each encoder layer, both directions concatenated, are projected to the
    initial state of the decoder layer of the same number, with separate affine maps for `h` and
    `c`. The initial weights are those of Keras' layers; the paper does not state any.

    An example whose passage has no word has no attention, and does not affect the others.

    With a pretrained encoder (`tfmrc.encoders`), which reads answer and passage, `encoder_use`
    selects one of two designs:

    - "embedding": the encoder's vectors of the passage's words, each with its answer tag, replace
      their word vectors.
    - "contextual": they are concatenated with the word vectors.

    The rest is the paper's. The decoder embeds words by the word embedding, whose rows can be
    initialized with the encoder's vectors of single words (`Encoder.word_vectors`).

    Each part is created by a method `build_*`. A subclass that is registered with Keras replaces a
    part by overriding its method, and is saved, loaded and exported like any other model.

    Args:
        vocabulary_size: int. Rows of the word embedding: special rows, words, unknown-word buckets.
        word_dim: int. Width of the word vectors. Default: 300.
        tag_dim: int. Width of the answer tags' vectors. Default: 3.
        hidden_dim: int. Width of the decoder and of each direction of the encoder. Default: 600.
        num_layers: int. LSTM layers of the encoder, and of the decoder. Default: 2.
        generation_vocabulary_size: int. How many of the first rows can be generated. Default:
            45000.
        num_oov_buckets: int. How many of the last rows stand for unknown words; they can be copied
            and not generated. Default: 0.
        dropout: float. Rate between the layers of encoder and decoder. Default: 0.3.
        attention: bool. Whether the decoder sees the passage's words, and not only its last state.
            Default: True.
        answer_tagging: bool. Whether the passage's words say if they belong to the answer. Default:
            True.
        copy: str or None. "max" (the maxout pointer), "sum" (the basic copy mechanism) or None.
            Without copying, a target that only the passage holds counts as UNK. Default: "max".
        self_attention: bool. Whether there is gated self-attention. Default: True.
        coverage: bool. Whether there is an output for the coverage loss of See et al. 2017. Their
            further input of the attention, the coverage vector, is not part of this. Default:
            False.
        embeddings_trainable: bool. Whether the words' rows are trained (the paper: no). Default:
            False.
        initializer_stddev: float. Standard deviation of the initial word and tag vectors. Default:
            0.1.
        seed: int or None. Seed of all dropout. Default: None.
        encoder: `Encoder` or layer or None. What `tfmrc.encoders.from_preset` returns, or its
            layer; None for none. Default: None.
        encoder_use: str. "embedding" or "contextual", as above. Default: "embedding".

    Call arguments:
        inputs: dict, made by `tfmrc.preprocessing.MaxoutPointerQGPreprocessor`.
        passage_ids: int `[B, M]` input ids, PAD after the end.
        answer_tags: int `[B, M]`, 1 at the answer's words and 0 elsewhere.
        extended_ids: int `[B, M]` extended ids, PAD where there is no word.
        question_ids: int `[B, T]` input ids of the words before each target, BOS first.
        target_ids: int `[B, T]` extended ids.
        encoder_ids, segment_ids: int `[B, W, P]`, with an encoder.
        passage_pieces: int `[B, M, 2]`, with an encoder.

    Every variant takes the same inputs, so that one dataset trains them all.

    Returns:
        A dict: `decoder` `[B, T]`, the log-probabilities of the targets; with `coverage` also
        `coverage` `[B, T]`, the overlap of each step's attention with all before it. float32.

    Raises:
        ValueError: If `copy` or `encoder_use` is not among its choices, or copying, self-attention
            or coverage is asked for without attention.

    Example:
        >>> import numpy as np
        >>> from tfmrc.models import MaxoutPointerQG
        >>> model = MaxoutPointerQG(
        ...     vocabulary_size=20, word_dim=8, hidden_dim=8, generation_vocabulary_size=10
        ... )
        >>> batch = {
        ...     "passage_ids": np.array([[5, 12, 6, 12]]),
        ...     "answer_tags": np.array([[0, 0, 1, 0]]),
        ...     "extended_ids": np.array([[5, 11, 6, 11]]),
        ...     "question_ids": np.array([[2, 12]]),
        ...     "target_ids": np.array([[11, 3]]),
        ... }
        >>> tuple(model(batch)["decoder"].shape)
        (1, 2)

    Reference: Zhao et al. 2018, "Paragraph-level Neural Question Generation with Maxout Pointer
    and Gated Self-attention Networks", qg-01 to qg-14.
    """

    PRESETS = presets.MAXOUT_POINTER_QG
    ATTENTION = {
        "gated_self_attention": ("gated_self_attention", "passage_ids", "passage_ids"),  # qg-02
        "attention": ("decoder", "target_ids", "passage_ids"),  # qg-10
    }
    PENALTIES = ("coverage",)

    def __init__(
        self,
        *,
        vocabulary_size: int,
        word_dim: int = 300,
        tag_dim: int = 3,
        hidden_dim: int = 600,
        num_layers: int = 2,
        generation_vocabulary_size: int = 45_000,
        num_oov_buckets: int = 0,
        dropout: float = 0.3,
        attention: bool = True,
        answer_tagging: bool = True,
        copy: Literal["max", "sum", None] = "max",
        self_attention: bool = True,
        coverage: bool = False,
        embeddings_trainable: bool = False,
        initializer_stddev: float = 0.1,
        seed: int | None = None,
        encoder: Any = None,
        encoder_use: Literal["embedding", "contextual"] = "embedding",
        name: str = "maxout_pointer_qg",
        dtype: str | keras.DTypePolicy | None = None,
    ):
        if not attention and (copy or self_attention or coverage):
            raise ValueError(
                "Copying, self-attention and coverage need attention. Received: "
                f"attention={attention}, copy={copy!r}, self_attention={self_attention}, "
                f"coverage={coverage}"
            )
        # Extended ids begin after the generable words; a table cannot generate more than it has.
        self.num_generable = min(generation_vocabulary_size, vocabulary_size - num_oov_buckets)
        self.has_attention = attention
        self.answer_tagging = answer_tagging
        self.copy = copy
        self.has_coverage = coverage
        self.encoder = layer_of(encoder)

        # === Parts, in an order that decides the seeds of their initial weights ===
        self.word_embedding = self.build_word_embedding()
        self.answer_tags = self.build_answer_tags() if answer_tagging else None
        self.passage_encoder = [
            self.build_encoder_layer(name=f"encoder_{i + 1}") for i in range(num_layers)
        ]
        self.between = Dropout(dropout, name="between_encoders", dtype=self.arguments.dtype)
        self.bridge = [
            self.build_bridge(name=f"bridge_{state}_{i + 1}")
            for i in range(num_layers)
            for state in ("hidden", "cell")
        ]
        self.gated_self_attention: Any = None
        if self_attention:
            self.gated_self_attention = self.build_gated_self_attention()
        self.decoder = self.build_decoder()
        self.generator = self.build_generator()
        self.pointer = self.build_pointer()

        # === Functional model ===
        names = ("passage_ids", "answer_tags", "extended_ids", "question_ids", "target_ids")
        shapes: dict[str, Any] = dict.fromkeys(names, (None,))
        if self.encoder is not None:
            shapes |= {"encoder_ids": (None, None), "segment_ids": (None, None)}
            shapes["passage_pieces"] = (None, 2)
        inputs = symbolic_inputs(shapes)
        parts = self._write(self._read(inputs), inputs["question_ids"], inputs["target_ids"])
        outputs = {"decoder": parts["log_probability"]}
        check_output(self, "build_pointer", outputs["decoder"], None)
        if coverage:
            outputs["coverage"] = coverage_overlap(parts["attention"])
        super().__init__(inputs=inputs, outputs=outputs, name=name)

    # === Parts: a subclass overrides these ===

    def build_answer_tags(self):
        """Returns the layer `(words, answer_tags)` to words that know the answer."""
        a = self.arguments
        return AnswerTagEmbedding(
            a.tag_dim, a.initializer_stddev, name="answer_tagging", dtype=a.dtype
        )

    def build_encoder_layer(self, name):
        """Returns `layer(words, padding_mask=mask)` to words and last states (hidden, cell)."""
        a = self.arguments
        return BidirectionalLSTM(a.hidden_dim, return_state=True, name=name, dtype=a.dtype)

    def build_bridge(self, name):
        """Returns a map from the last state of an encoder layer to a decoder layer's first."""
        return Dense(self.arguments.hidden_dim, name=name, dtype=self.arguments.dtype)

    def build_gated_self_attention(self):
        """Returns the layer `(words, mask)` to words that have seen the whole passage."""
        return GatedSelfAttention(name="gated_self_attention", dtype=self.arguments.dtype)

    def build_decoder(self):
        """Returns the decoder: `InputFeedingDecoder`."""
        a = self.arguments
        return InputFeedingDecoder(
            a.hidden_dim, a.num_layers, a.dropout, a.attention, name="decoder", dtype=a.dtype
        )

    def build_generator(self):
        """Returns the layer from the decoder's states to logits of the generable words."""
        return Dense(self.num_generable, name="generator", dtype=self.arguments.dtype)

    def build_pointer(self):
        """Returns the copy mechanism: `MaxoutPointer`."""
        return MaxoutPointer(self.arguments.copy, name="pointer", dtype=self.arguments.dtype)

    # === The encoder ===

    def _read(self, inputs):
        """Computes the memory, which the decoder reads, from ids."""
        passage_ids, extended_ids = inputs["passage_ids"], inputs["extended_ids"]
        mask = ops.not_equal(passage_ids, PAD)  # [B, M]
        words, state = self._encode_words(inputs, mask)
        memory = {
            "state": state,
            "mask": mask,
            "source_ids": passage_ids,
            "extended_ids": extended_ids,
        }
        if self.has_attention:
            if self.gated_self_attention is not None:
                words = self.gated_self_attention(words, mask)
            memory["words"] = record("passage_encoding", words)  # [B, M, 2 d]
        if self.copy:
            memory["first_positions"] = first_positions(extended_ids)
        return memory

    def _embed_words(self, inputs):
        """Embeds the passage's words: their rows, the pretrained encoder's vectors, or both."""
        if self.encoder is None:
            return self.word_embedding(inputs["passage_ids"])
        states = self.encoder(inputs["encoder_ids"], inputs["segment_ids"])
        words = self.encoder.words(states, inputs["passage_pieces"])  # [B, M, e]
        if self.arguments.encoder_use == "embedding":
            return words
        return ops.concatenate([self.word_embedding(inputs["passage_ids"]), words], axis=-1)

    def _encode_words(self, inputs, mask):
        """Encodes the words, `[B, M, 2 d]`, and computes the decoder's initial state."""
        words, state = record("passage_embedding", self._embed_words(inputs)), []
        if self.answer_tags is not None:
            words = self.answer_tags(words, inputs["answer_tags"])  # [B, M, w + tag_dim]
        for number, layer in enumerate(self.passage_encoder):
            words = self.between(words) if number else words
            words, hidden, cell = layer(words, padding_mask=mask)  # [B, M, 2 d], [B, 2 d], qg-01
            to_hidden, to_cell = self.bridge[2 * number : 2 * number + 2]
            state += [to_hidden(hidden), to_cell(cell)]  # [B, d] each
        return words, state

    # === The decoder ===

    def _write(self, memory, question_ids, target_ids):
        """Computes all steps at once (teacher forcing): the parts of the distribution."""
        words = self.word_embedding(question_ids)  # [B, T, w]
        outputs = self.decoder(words, memory["state"], **self._attended(memory))
        if not self.copy:  # what can only be copied is unknown
            target_ids = ops.where(target_ids < self.num_generable, target_ids, UNK)
        parts = dict(self._distribute(memory, outputs, target_ids))
        if self.has_attention:
            mask = memory["mask"][:, None, :]
            parts["attention"] = masked_softmax(outputs["scores"], mask)  # [B, T, M]
        return parts

    def _attended(self, memory):
        if not self.has_attention:
            return {}
        mask, keys = memory["mask"], memory.get("keys")
        return {"memory": memory["words"], "memory_mask": mask, "keys": keys}

    def _distribute(self, memory, outputs, target_ids=None):
        logits = self.generator(outputs["states"])  # [B, T, G], qg-08
        if not self.copy:
            return self.pointer(logits, target_ids=target_ids)
        scores, positions = outputs["scores"], memory["first_positions"]
        return self.pointer(logits, scores, memory["extended_ids"], target_ids, positions=positions)

    # === Decoding step by step ===

    def encode(self, inputs):
        """Computes once what does not change from step to step.

        Args:
            inputs: the model's inputs but for `question_ids` and `target_ids`.

        Returns:
            A dict whose tensors have the batch first.
        """
        memory = self._read(inputs)
        if self.has_attention:
            memory["keys"] = self.decoder.project(memory["words"])  # [B, M, d]
        return memory

    def init_cache(self, memory, num_beams, max_length):
        """Returns the state before the first word of `num_beams` beams: `[B, W, d]` each."""
        beams = [ops.repeat(x[:, None], num_beams, axis=1) for x in memory["state"]]
        return self.decoder.init_cache(beams)

    def decode_step(self, memory, cache, ids, t):
        """Computes one step of decoding.

        Args:
            memory: dict. What `encode` returned.
            cache: What `init_cache` or the step before returned.
            ids: int `[B, W]` extended ids of each beam's previous word; anything at `t = 0`.
            t: the step, a scalar from 0.

        Returns:
            Log-probabilities `[B, W, G + M]` of all extended ids, and the new cache.
        """
        log_probabilities, _, cache = self.decode_step_with_attention(memory, cache, ids, t)
        return log_probabilities, cache

    def decode_step_with_attention(self, memory, cache, ids, t):
        """Computes one step of decoding and its attention.

        Returns:
            Log-probabilities `[B, W, G + M]`, attention weights `[B, W, M]` (None for a model
            without attention), and the new cache.
        """
        ids = ops.where(ops.equal(t, 0), BOS, input_ids(memory, ids, self.num_generable))
        words = self.word_embedding(ids)  # [B, W, w]
        outputs, cache = self.decoder.decode_step(words, cache, **self._attended(memory))
        attention = None
        if self.has_attention:
            attention = masked_softmax(outputs["scores"], memory["mask"][:, None, :])  # [B, W, M]
        parts, positions = self._distribute(memory, outputs), memory.get("first_positions")
        log_probabilities = self.pointer.distribution(parts, memory["extended_ids"], positions)
        return log_probabilities, attention, cache

    def attribute(self, memory, target_ids):
        """Computes the source of each of the given words, in one pass.

        Args:
            memory: dict. What `encode` returned.
            target_ids: int `[B, T]` extended ids of the question, PAD after its end.

        Returns:
            A dict: `log_probability` `[B, T]`; `log_parts` `[B, T, 2]`, the log-probabilities of
            generating and of copying the word; with attention also `attention` `[B, T, M]`.
        """
        question_ids = previous_ids(memory, target_ids, self.num_generable)
        parts = self._write(memory, question_ids, target_ids)
        names = ("log_probability", "log_parts", "attention")
        return {name: parts[name] for name in names if name in parts}

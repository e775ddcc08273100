"""SAN: the answer as a span of one passage, predicted in several steps."""

from typing import Any, Literal

import keras
from keras import ops

from tfmrc.encoders.layer_of import layer_of
from tfmrc.layers import (
    AveragedAnswer,
    LastStepAnswer,
    LexiconEncoding,
    LinearAnswer,
    MemoryGeneration,
    OneStepAnswer,
    ReasoNetAnswer,
    StackedBiLSTM,
    StochasticAnswer,
    WordEmbedding,
)
from tfmrc.layers.recording import record
from tfmrc.models import presets
from tfmrc.models.base import Model, check_output
from tfmrc.models.configuration import check_contextual, contextual_reads, symbolic_inputs
from tfmrc.ops.ids import PAD
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.ops.spans import best_spans

ANSWERS = {
    "stochastic": StochasticAnswer,
    "one_step": OneStepAnswer,
    "last_step": LastStepAnswer,
    "average": AveragedAnswer,
    "reasonet": ReasoNetAnswer,
    "linear": LinearAnswer,
}
ENCODER_INPUTS = {
    "joint": ("encoder_ids", "segment_ids"),
    "separate": ("question_encoder_ids", "passage_encoder_ids"),
}


@keras.saving.register_keras_serializable(package="tfmrc")
class SAN(Model):
    """Stochastic answer network: finds the span of a passage that answers a question.

    Four layers: lexicon encoding (word vectors, exact match, alignment, tags), contextual encoding
    (bidirectional LSTMs with maxout, shared by question and passage), memory generation (question
    attention, self-attention, LSTM) and the answer module. It is a functional Keras model that is
    trained with `compile` and `fit`.

    A contextual embedding (CoVe in the paper, `tfmrc.encoders.load_cove`) is a Keras layer
    `layer(ids, mask)` `[B, n, dim]`, or `layer(word_vectors, mask)` if it has the attribute
    `reads = "vectors"`; both layers of the contextual encoding read it. CoVe's authors give zeros
    to words without a vector; here such words have their rows of the word embedding.

    With a pretrained encoder (`tfmrc.encoders`), `encoder_use` selects one of three designs:

    - "answer": the answer module reads the encoder's word vectors of question and passage. Nothing
      else is built, and word features are ignored. This is the design of SAN's authors in MT-DNN,
      for `reading="joint"`.
    - "embedding": the encoder's word vectors replace the word embedding.
    - "contextual": they are used in addition to it, as CoVe in the paper.

    The paper does not give the inner width of the two position-wise networks: here it is `units`,
    as that of their outputs. It does not say whether word vectors are trained: see
    `embeddings_trainable`.

    Each part is created by a method `build_*`. A subclass that is registered with Keras replaces a
    part by overriding its method, and is saved, loaded and exported like any other model.

    Args:
        vocabulary_size: int. Number of rows of the word embedding.
        word_dim: int. Width of the word vectors. Default: 300.
        units: int. Width d of each direction of every LSTM. Default: 128.
        num_layers: int. Number of LSTMs of the contextual encoding. Default: 2.
        align_dim: int. Width of the aligned question embedding; 0 for none. Default: 280.
        num_exact_match: int. Number of forms in which a word may match the question: 2 (as written,
            lower case), 3 (also lemma, which needs a tagger), or 0 for none. Default: 2.
        num_word_features: int. Number of features of a passage word beyond its exact match, which
            need no tagger; 0 for none. Default: 0.
        num_pos: int. Number of part-of-speech tags, ids from 1; 0 for none (no tagger). Default: 0.
        num_ner: int. Number of entity types, ids from 1; 0 for none (no tagger). Default: 0.
        answer: str. "stochastic" (the paper's), "one_step", "last_step", "average" or "reasonet":
            the rows of Table 1; or "linear", the standard head on a pretrained encoder.
            Default: "stochastic".
        num_steps: int. T of the answer module; no effect with "one_step" and "linear". Default: 5.
        prediction_dropout: float. Dropout rate of predictions of the stochastic answer module.
            Default: 0.4.
        dropout: float. Dropout rate of the LSTMs' inputs, the attention weights and the answer
            module's inputs. Default: 0.4.
        embeddings_trainable: bool. Whether the words' rows are trained. Default: False.
        contextual_embedding: `keras.layers.Layer` or None. A layer as above. Default: None.
        encoder: Result of `tfmrc.encoders.from_preset`, its layer, or None. Default: None.
        encoder_use: str. "answer", "embedding" or "contextual", as above. Default: "answer".
        reading: str. "joint" if the encoder reads question and passage as one sequence, or
            "separate"; that of the preprocessor. Default: "joint".
        tagger: str or None. Name and version of the tagger of the training data, saved with the
            model so that others are not used by mistake. Default: None.
        seed: int or None. Seed of all dropout. Default: None.

    Call arguments:
        inputs: dict, made by `tfmrc.preprocessing.SANPreprocessor`.
        question_ids: int `[B, m]`.
        passage_ids: int `[B, n]`.
        exact_match: float32 `[B, n, num_exact_match + num_word_features]`, if that is above 0.
        pos_ids: int `[B, n]`, with `num_pos`.
        ner_ids: int `[B, n]`, with `num_ner`.
        encoder_ids, segment_ids: int `[B, W, P]`, with an encoder that reads jointly.
        question_encoder_ids, passage_encoder_ids: int `[B, W, P]`, with one that does not.
        question_pieces, passage_pieces: int `[B, m, 2]`, `[B, n, 2]`, with an encoder.

    Returns:
        A dict: `begin` and `end` float32 `[B, n]`, the log-probabilities that the answer begins
        and ends with each word; `LOG_ZERO` at padding.

    Raises:
        ValueError: If an argument has an unknown value.

    Example:
        >>> import numpy as np
        >>> from tfmrc.models import SAN
        >>> model = SAN(vocabulary_size=20, word_dim=8, units=4, align_dim=4, num_exact_match=2)
        >>> batch = {
        ...     "question_ids": np.array([[5, 12]]),
        ...     "passage_ids": np.array([[12, 6, 0]]),
        ...     "exact_match": np.array([[[1, 1], [0, 0], [0, 0]]], "float32"),
        ... }
        >>> begin = np.exp(model(batch)["begin"])
        >>> begin.shape, round(float(begin.sum()), 4), float(begin[0, 2])
        ((1, 3), 1.0, 0.0)

    Reference: Liu et al. 2018, "Stochastic Answer Networks for Machine Reading Comprehension",
    san-01 to san-16.
    """

    PRESETS = presets.SAN
    ATTENTION = {
        "aligned_embedding": ("alignment", "passage_ids", "question_ids"),  # san-04
        "question_attention": ("memory_generation.question", "passage_ids", "question_ids"),
        "self_attention": ("memory_generation.self", "passage_ids", "passage_ids"),  # san-07
        "memory_attention": ("answer_module", "step", "passage_ids"),  # san-10
    }

    def __init__(
        self,
        *,
        vocabulary_size: int,
        word_dim: int = 300,
        units: int = 128,
        num_layers: int = 2,
        align_dim: int = 280,
        num_exact_match: Literal[0, 2, 3] = 2,
        num_word_features: int = 0,
        num_pos: int = 0,
        num_ner: int = 0,
        answer: Literal[
            "stochastic", "one_step", "last_step", "average", "reasonet", "linear"
        ] = "stochastic",
        num_steps: int = 5,
        prediction_dropout: float = 0.4,
        dropout: float = 0.4,
        embeddings_trainable: bool = False,
        contextual_embedding: keras.layers.Layer | None = None,
        encoder: Any = None,
        encoder_use: Literal["answer", "embedding", "contextual"] = "answer",
        reading: Literal["joint", "separate"] = "joint",
        tagger: str | None = None,
        seed: int | None = None,
        name: str = "san",
        dtype: str | keras.DTypePolicy | None = None,
    ):
        check_contextual(encoder, contextual_embedding)
        self.num_exact_match = num_exact_match
        self.num_word_features = num_word_features
        self.num_pos = num_pos
        self.num_ner = num_ner
        self.tagger = tagger
        self.contextual_embedding = contextual_embedding
        self.encoder = layer_of(encoder)
        self.encoder_use = None if encoder is None else encoder_use
        self.reading = reading

        # === Parts, in an order that determines the seeds of their initial weights ===
        if self.encoder_use not in ("answer", "embedding"):
            self.word_embedding = self.build_word_embedding()
        if self.encoder_use != "answer":
            self.lexicon_encoding = self.build_lexicon_encoding()
            self.contextual_encoding = self.build_contextual_encoding()
            self.memory_generation = self.build_memory_generation()
        self.answer_module = self.build_answer_module()

        # === Functional model ===
        shapes: dict[str, Any] = {"question_ids": (None,), "passage_ids": (None,)}
        if num_features := num_exact_match + num_word_features:
            shapes["exact_match"] = (None, num_features)
        shapes |= {"pos_ids": (None,)} if num_pos else {}
        shapes |= {"ner_ids": (None,)} if num_ner else {}
        if self.encoder is not None:
            shapes |= dict.fromkeys(ENCODER_INPUTS[reading], (None, None))
            shapes |= dict.fromkeys(("question_pieces", "passage_pieces"), (None, 2))
        inputs = symbolic_inputs(shapes)
        memory = self._read(inputs)
        record("question_encoding", memory["question"])
        record("passage_encoding", memory["memory"])
        outputs = self._answer(memory)
        for part in ("begin", "end"):
            check_output(self, "build_answer_module", outputs[part], None)
        super().__init__(inputs=inputs, outputs=outputs, name=name)

    # === Parts: a subclass overrides these ===

    def _seed(self, number):
        seed = self.arguments.seed
        return None if seed is None else seed + 100 * number

    def build_word_embedding(self):
        """Returns the layer from ids to word vectors."""
        a = self.arguments
        return WordEmbedding(
            a.vocabulary_size, a.word_dim, a.embeddings_trainable, 0.1, name="word_embedding",
            dtype=a.dtype,
        )  # fmt: skip

    def build_lexicon_encoding(self):
        """Returns the layer from word vectors and features to `(passage, question)`."""
        a = self.arguments
        return LexiconEncoding(
            a.units, align_dim=a.align_dim, num_pos=a.num_pos, num_ner=a.num_ner,
            name="lexicon_encoding", dtype=a.dtype,
        )  # fmt: skip

    def build_contextual_encoding(self):
        """Returns the encoder of question and passage: `layer(words, padding_mask=mask)`."""
        a = self.arguments
        return StackedBiLSTM(
            a.units, a.num_layers, a.dropout, seed=self._seed(1), name="contextual_encoding",
            dtype=a.dtype,
        )  # fmt: skip

    def build_memory_generation(self):
        """Returns the layer `(passage, question, passage_mask, question_mask)` to the memory."""
        a = self.arguments
        return MemoryGeneration(
            a.units, dropout=a.dropout, seed=self._seed(2), name="memory_generation", dtype=a.dtype
        )

    def build_answer_module(self):
        """Returns the answer module, to a dict of `begin` and `end` `[B, n]`: `AnswerModule`."""
        a = self.arguments
        options = {} if a.answer in ("one_step", "linear") else {"num_steps": a.num_steps}
        if a.answer == "stochastic":
            options["prediction_dropout"] = a.prediction_dropout
        return ANSWERS[a.answer](
            dropout=a.dropout, seed=self._seed(3), name="answer_module", **options, dtype=a.dtype
        )

    # === From ids to probabilities ===

    def _read(self, inputs):
        """Computes the inputs of the answer module from ids."""
        question_ids, passage_ids = inputs["question_ids"], inputs["passage_ids"]
        question_mask = ops.not_equal(question_ids, PAD)  # [B, m]
        passage_mask = ops.not_equal(passage_ids, PAD)  # [B, n]
        masks = {"question_mask": question_mask, "memory_mask": passage_mask}
        read = {} if self.encoder is None else self._encoder_words(inputs)
        if self.encoder_use == "answer":
            return {"question": read["question"], "memory": read["passage"], **masks}
        if self.encoder_use == "embedding":
            passage_words, question_words = read.pop("passage"), read.pop("question")
        else:
            passage_words = self.word_embedding(passage_ids)
            question_words = self.word_embedding(question_ids)
        record("question_embedding", question_words)
        record("passage_embedding", passage_words)
        passage, question = self.lexicon_encoding(
            passage_words,
            question_words,
            question_mask=question_mask,
            **{name: inputs[name] for name in ("exact_match", "pos_ids", "ner_ids")
               if name in inputs},
        )  # fmt: skip
        if self.contextual_embedding is not None:
            read = {
                "question": self._contextual(question_words, question_ids, question_mask),
                "passage": self._contextual(passage_words, passage_ids, passage_mask),
            }
        question = self._encode(question, question_mask, read.get("question"))  # [B, m, h]
        passage = self._encode(passage, passage_mask, read.get("passage"))  # [B, n, h]
        memory = self.memory_generation(  # [B, n, 2 units]
            passage, question, passage_mask=passage_mask, question_mask=question_mask
        )
        return {"question": question, "memory": memory, **masks}

    def _encoder_words(self, inputs):
        """Returns the encoder's word vectors of question and passage, `[B, m, e]`, `[B, n, e]`."""
        texts, encoder = ("question", "passage"), self.encoder
        if self.reading == "joint":
            states = [encoder(inputs["encoder_ids"], inputs["segment_ids"])] * 2  # [B, W P, e]
        else:
            states = [encoder(inputs[f"{text}_encoder_ids"]) for text in texts]
        return {
            text: encoder.words(read, inputs[f"{text}_pieces"])
            for text, read in zip(texts, states, strict=True)
        }

    def _contextual(self, words, ids, mask):
        layer: Any = self.contextual_embedding
        return layer(words if contextual_reads(layer) == "vectors" else ids, mask)

    def _encode(self, x, mask, contextual):
        if contextual is None:
            return self.contextual_encoding(x, padding_mask=mask)
        return self.contextual_encoding(x, padding_mask=mask, contextual=contextual)

    def _answer(self, memory, **options):
        return self.answer_module(
            memory["question"],
            memory["memory"],
            question_mask=memory["question_mask"],
            memory_mask=memory["memory_mask"],
            **options,
        )

    def find(self, inputs, num_steps=None, return_steps=False):
        """Computes the model's outputs outside training, with any number of steps.

        Args:
            inputs: dict. The model's inputs.
            num_steps: int or None. T, which may differ from that of training (the paper's Table 6),
                unless the model was made with one step; None for the same. Default: None.
            return_steps: bool. Whether each step's prediction is also returned. Default: False.

        Returns:
            `begin`, `end` `[B, n]`; with `return_steps` also `step_begin`, `step_end` `[B, T, n]`
            and `step_weights` `[B, T]` (see `tfmrc.layers.AnswerModule`).

        Raises:
            ValueError: If `num_steps` is above 1 and the answer module has one step only.
        """
        return self._answer(
            self._read(inputs), num_steps=num_steps, return_steps=return_steps, training=False
        )

    def check_parts(self, inputs):
        outputs = self.find(inputs, num_steps=1, return_steps=True)
        padding = ops.equal(inputs["passage_ids"], PAD)
        for name in ("begin", "end"):
            if ops.any(ops.logical_and(padding, outputs[name] > LOG_ZERO / 2)):
                raise ValueError(f"`{name}` must be LOG_ZERO at padding and in an empty passage.")

    def spans(self, outputs, max_length=15, num_spans=1):
        """Returns the best spans of the outputs; see `tfmrc.ops.best_spans`."""
        return best_spans(outputs["begin"], outputs["end"], max_length, num_spans)

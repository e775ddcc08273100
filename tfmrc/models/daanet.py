"""DAANET: one model that answers and asks."""

from collections.abc import Sequence
from typing import Any, Literal

import keras
from keras import ops

from tfmrc.encoders.layer_of import layer_of
from tfmrc.layers import (
    CharacterEmbedding,
    ConcatenatedEncoder,
    CopySwitch,
    Highway,
    MultiplicativeAttention,
    linear,
)
from tfmrc.layers.encoders.concatenated_encoder import BLOCKS
from tfmrc.layers.recording import record
from tfmrc.models import presets
from tfmrc.models.base import Model, check_output
from tfmrc.models.configuration import symbolic_inputs
from tfmrc.models.generation import GenerationMixin, input_characters, input_ids, previous_ids
from tfmrc.ops.coverage import coverage_overlap
from tfmrc.ops.ids import BOS, PAD
from tfmrc.ops.sizes import sizes

TASKS = ("answer", "ask")
GIVEN = {"answer": "question", "ask": "answer"}  # input of a task besides the passage
TARGET = {"answer": "answer", "ask": "question"}  # output of a task
ENCODER_INPUTS = {
    "joint": tuple(
        f"{text}_{part}"
        for text in ("question", "answer")
        for part in ("encoder_ids", "segment_ids", "passage_pieces")
    ),
    "separate": ("encoder_ids", "passage_pieces"),
}


@keras.saving.register_keras_serializable(package="tfmrc")
class DAANet(Model):
    """Dual ask-answer network: learns to answer and to ask from the same examples, in one model.

    Each task folds what it is given (the question for answering, the answer for asking) into the
    passage, folds that into the words written so far, and generates the next word or copies it
    from the passage. It is a functional Keras model: train it with `compile` and `fit`; decode with
    `model.answering` and `model.asking` (`encode`, `init_cache`, `decode_step`, `generate`,
    `attribute`).

    Both tasks share the embedding, the context encoder (which reads the passage), the question
    encoder (it reads the question for answering and writes it for asking), the answer encoder
    likewise, and the output projection. Each task has its own projections of its two folds,
    hidden layer before the output, and switch.

    Question and answer are read with BOS before them, which the paper does not say. Then the same
    outputs of an encoder serve as what is given (`Q`) and as what was written so far (`Q_<t`), so
    each encoder runs once per batch. The encoders of question and answer only look back.

    The encoders' outputs are `len(blocks) * hidden_dim` wide, 900 for the paper's sizes. Biases
    are vectors, printed as scalars. The initial weights are Glorot uniform, as in the paper, with
    two departures: the recurrent weights of the LSTMs are orthogonal, as in Keras, and word and
    character vectors are drawn from N(0, 0.1), since the width of the paper's distribution depends
    on the number of rows (see `CharacterEmbedding`).

    With a pretrained encoder (`tfmrc.encoders`), `encoder_use` selects one of two designs:

    - "embedding": the encoder's vectors of the passage's words replace their word vectors; those
      made of characters stay.
    - "contextual": they are concatenated with both.

    The encoder reads the passage by itself, or together with what the task is given (`reading`).
    Nothing else of question and answer enters the network through it, because in the paper one
    encoder reads a text where it is given and where it is written, and a written word must not see
    later ones. After joint reading the passage's vectors know what is given. Then
    `context_attention=False` leaves the first fold to the pretrained encoder: the second fold reads
    the passage's own vectors instead of mixtures of the given words.

    An example whose passage has no word copies nothing. What is given always has a word, BOS.

    Each part is created by a method `build_*`. A subclass that is registered with Keras replaces a
    part by overriding its method, and is saved, loaded and exported like any other model.

    Args:
        vocabulary_size: int. Rows of the word embedding: special rows, words, unknown-word buckets.
        num_characters: int. Rows of the character table, 0 for padding. Default: 256.
        word_dim: int. Width of the word vectors. Default: 256.
        character_dim: int. Width of a character's vector and of a word's vector made of them.
            Default: 200.
        hidden_dim: int. Width of the embedding's output and of each block of the encoders. Default:
            300.
        num_lstm_layers: int. LSTM layers of each encoder. Default: 3.
        num_heads: int. Heads of the encoders' self-attention. Default: 4.
        attention_dim: int or None. Width of the projections U and V of each fold; None for
            `hidden_dim`. Default: None.
        inner_dim: int. Width before the output projection. Default: 1024.
        generation_vocabulary_size: int. How many of the first rows can be generated. Default:
            90000.
        num_oov_buckets: int. How many of the last rows stand for unknown words; they can be copied
            and not generated. Default: 0.
        dropout: float. Rate in the encoders. Default: 0.1.
        tasks: sequence of str. "answer", "ask" or both; one alone is the paper's `mono`. Default:
            both.
        blocks: sequence of str. Blocks of the encoders, see `tfmrc.layers.ConcatenatedEncoder`.
            Default: all.
        in_series: bool. Whether each block reads the one before and not the embedding. Default:
            False.
        context_attention: bool. Whether what is given is folded into the passage (context-*
            attention). Default: True.
        keep_passage: bool. Whether the second fold reads the passage beside the first fold, as
            above; without `context_attention` it always reads the passage. Default: False.
        num_word_features: int. Number of features of a word of the passage; 0 for none. Default: 0.
        copy: bool. Whether words can be copied. If not, a target that only the passage holds is
            UNK. Default: True.
        share_encoders: bool. Whether question and answer each have one encoder for both tasks.
            Default: True.
        share_context_encoder: bool. Whether the tasks have one encoder of the passage. Default:
            True.
        share_output: bool. Whether the tasks have one output projection. Default: True.
        embeddings_trainable: bool. Whether the words' rows are trained (the paper: no). Default:
            False.
        initializer_stddev: float. Standard deviation of the initial word and character vectors.
            Default: 0.1.
        seed: int or None. Seed of all dropout. Default: None.
        encoder: `Encoder` or layer or None. What `tfmrc.encoders.from_preset` returns, or its
            layer; None for none. Default: None.
        encoder_use: str. "embedding" or "contextual", as above. Default: "embedding".
        reading: str. What the encoder reads: "joint", question and passage as one sequence for
            answering and answer and passage for asking, or "separate", the passage alone, once for
            both. That of the preprocessor. Default: "joint".

    Call arguments:
        inputs: dict, made by `tfmrc.preprocessing.DAANetPreprocessor`.
        passage_ids: int `[B, n]` input ids; passage_characters: int `[B, n, c]`.
        extended_ids: int `[B, n]` extended ids of the passage, PAD at padding.
        question_ids: int `[B, m]` input ids, BOS first; question_characters: int `[B, m, c]`.
        answer_ids: int `[B, k]` likewise; answer_characters: int `[B, k, c]`.
        question_target_ids, answer_target_ids: int `[B, m]`, `[B, k]` extended ids, EOS last.
        encoder_ids: int `[B, W, P]`, passage_pieces: int `[B, n, 2]`, with an encoder that reads
            the passage alone.
        question_encoder_ids, question_segment_ids: int `[B, W, P]`, question_passage_pieces: int
            `[B, n, 2]`, with one that reads jointly; the same for `answer`.
        question_passage_features, answer_passage_features: float `[B, n, F]`, features of the
            passage's words beside each, with `num_word_features` F.

    Every variant takes the same inputs, so that one dataset trains them all.

    Returns:
        A dict for the tasks there are: `answer` `[B, k]` and `ask` `[B, m]`, log-probabilities of
        the targets; `answer_coverage` and `ask_coverage`, the overlap of each step's attention
        with all before it (daanet-16). All float32.

    Raises:
        ValueError: If a task or a block is unknown, there is no task or no block, or an argument is
            not among its choices.

    Example:
        >>> import numpy as np
        >>> from tfmrc.models import DAANet
        >>> model = DAANet(vocabulary_size=12, word_dim=4, character_dim=4, hidden_dim=4,
        ...                num_lstm_layers=1, num_heads=2, inner_dim=4, num_characters=9)
        >>> ids = {"passage": [[5, 6, 7]], "question": [[2, 8]], "answer": [[2, 6]]}
        >>> batch = {f"{name}_ids": np.array(rows) for name, rows in ids.items()}
        >>> batch |= {f"{name}_characters": np.ones((1, len(rows[0]), 3), int)
        ...           for name, rows in ids.items()}
        >>> batch["extended_ids"] = batch["passage_ids"]
        >>> batch["question_target_ids"] = np.array([[8, 3]])
        >>> batch["answer_target_ids"] = np.array([[6, 3]])
        >>> sorted(model(batch))
        ['answer', 'answer_coverage', 'ask', 'ask_coverage']

    Reference: Xiao et al. 2018, "Dual Ask-Answer Network for Machine Reading Comprehension",
    daanet-01 to daanet-16.
    """

    PRESETS = presets.DAANET
    ATTENTION = {
        "answer_first_fold": ("first_fold_answer", "passage_ids", "question_ids"),  # daanet-08
        "answer_second_fold": ("second_fold_answer", "answer_target_ids", "passage_ids"),
        "ask_first_fold": ("first_fold_ask", "passage_ids", "answer_ids"),  # daanet-07
        "ask_second_fold": ("second_fold_ask", "question_target_ids", "passage_ids"),
    }
    PENALTIES = tuple(f"{task}_coverage" for task in TASKS)

    def __init__(
        self,
        *,
        vocabulary_size: int,
        num_characters: int = 256,
        word_dim: int = 256,
        character_dim: int = 200,
        hidden_dim: int = 300,
        num_lstm_layers: int = 3,
        num_heads: int = 4,
        attention_dim: int | None = None,
        inner_dim: int = 1024,
        generation_vocabulary_size: int = 90_000,
        num_oov_buckets: int = 0,
        dropout: float = 0.1,
        tasks: Sequence[str] = TASKS,
        blocks: Sequence[str] = BLOCKS,
        in_series: bool = False,
        context_attention: bool = True,
        keep_passage: bool = False,
        num_word_features: int = 0,
        copy: bool = True,
        share_encoders: bool = True,
        share_context_encoder: bool = True,
        share_output: bool = True,
        embeddings_trainable: bool = False,
        initializer_stddev: float = 0.1,
        seed: int | None = None,
        encoder: Any = None,
        encoder_use: Literal["embedding", "contextual"] = "embedding",
        reading: Literal["joint", "separate"] = "joint",
        name: str = "daanet",
        dtype: str | keras.DTypePolicy | None = None,
    ):
        if not tasks or not set(tasks) <= set(TASKS):
            raise ValueError(f"`tasks` must be among {TASKS}. Received: tasks={tasks!r}")
        self.tasks = tuple(task for task in TASKS if task in tasks)
        # Extended ids begin after the generable words; a table cannot generate more than it has.
        self.num_generable = min(generation_vocabulary_size, vocabulary_size - num_oov_buckets)
        self.num_word_features = num_word_features
        self.encoder = layer_of(encoder)

        # === Parts, in an order that decides the seeds of their initial weights ===
        # Both tasks share these, unless an argument says otherwise:
        self.word_embedding = self.build_word_embedding()
        self.character_embedding = self.build_character_embedding()
        self.projection = self.build_projection(name="projection")
        if self.encoder is not None:
            self.passage_projection = self.build_projection(name="passage_projection")
        self.highway = self.build_highway()
        self.text_encoder = {
            "passage": self._of_tasks("context_encoder", shared=share_context_encoder),
            "question": self._of_tasks(
                "question_encoder", self.build_causal_encoder, shared=share_encoders
            ),
            "answer": self._of_tasks(
                "answer_encoder", self.build_causal_encoder, shared=share_encoders
            ),
        }
        self.output_projection = self._of_tasks("output_projection", shared=share_output)
        # Each task has its own:
        self.first_fold = {}
        if context_attention:
            self.first_fold = self._of_tasks("first_fold", self.build_fold)
        self.second_fold = self._of_tasks("second_fold", self.build_fold)
        self.inner = self._of_tasks("inner")
        self.switch = self._of_tasks("switch")
        if num_word_features:
            self.feature_projection = self.build_feature_projection()

        # === Functional model ===
        inputs = self._create_inputs()
        encoded: dict = {}
        outputs = {}
        for task in self.tasks:
            memory = self.read(task, inputs, encoded)
            written = self._encode(task, TARGET[task], inputs, encoded)
            targets = inputs[f"{TARGET[task]}_target_ids"]
            parts = self.distribute(task, memory, written, targets)
            outputs[task] = parts["log_probability"]
            check_output(self, "build_switch", outputs[task], None)
            outputs[f"{task}_coverage"] = coverage_overlap(ops.exp(parts["log_attentions"][0]))
        super().__init__(inputs=inputs, outputs=outputs, name=name)

    def _of_tasks(self, name, build=None, shared=False):
        """Returns the layer of each task by its name: the same one for all, or one for each."""
        build = build or getattr(self, f"build_{name}")
        if shared:
            return dict.fromkeys(self.tasks, build(name=name))
        return {task: build(name=f"{name}_{task}") for task in self.tasks}

    def _create_inputs(self):
        """Returns the symbolic inputs by name."""
        ids = ("extended_ids", "question_target_ids", "answer_target_ids")
        shapes: dict[str, tuple[int | None, ...]] = dict.fromkeys(ids, (None,))
        for text in ("passage", "question", "answer"):
            shapes |= {f"{text}_ids": (None,), f"{text}_characters": (None, None)}
        if self.encoder is not None:
            for part in ENCODER_INPUTS[self.arguments.reading]:
                shapes[part] = (None, 2 if part.endswith("pieces") else None)
        if self.num_word_features:
            names = [f"{text}_passage_features" for text in GIVEN.values()]
            shapes |= dict.fromkeys(names, (None, self.num_word_features))
        return symbolic_inputs(shapes)

    # === Parts: a subclass overrides these ===

    build_word_embedding = GenerationMixin.build_word_embedding

    def build_character_embedding(self):
        """Returns the layer from characters `[B, n, c]` to a vector per word."""
        a = self.arguments
        return CharacterEmbedding(
            a.num_characters, a.character_dim, a.character_dim, initializer=a.initializer_stddev,
            name="character_embedding", dtype=a.dtype,
        )  # fmt: skip

    def build_projection(self, name):
        """Returns the map from word and character vectors to `hidden_dim`."""
        a = self.arguments
        return linear(a.hidden_dim, initializer=None, name=name, dtype=a.dtype)

    def build_feature_projection(self):
        """Returns the map from the features of a word to `hidden_dim`."""
        a = self.arguments
        return linear(
            a.hidden_dim, initializer=None, use_bias=False, name="feature_projection", dtype=a.dtype
        )

    def build_highway(self):
        """Returns the highway network of the embedding."""
        return Highway(
            1, initializer=None, activation="linear", name="highway", dtype=self.arguments.dtype
        )

    def build_context_encoder(self, name):
        """Returns the encoder of the passage: `layer(words, padding_mask=mask)`."""
        return self._build_encoder(name, causal=False)

    def build_causal_encoder(self, name):
        """Returns the encoder of the question or the answer, which looks back only."""
        return self._build_encoder(name, causal=True)

    def _build_encoder(self, name, causal):
        a = self.arguments
        return ConcatenatedEncoder(
            a.hidden_dim, a.num_lstm_layers, a.num_heads, causal, a.blocks, a.in_series, a.dropout,
            name=name, dtype=a.dtype,
        )  # fmt: skip

    def build_output_projection(self, name):
        """Returns the map to logits of the generable words."""
        return linear(self.num_generable, initializer=None, name=name, dtype=self.arguments.dtype)

    def build_fold(self, name):
        """Returns a fold of a task, `layer(x, y, y_mask)`: `MultiplicativeAttention`."""
        a = self.arguments
        return MultiplicativeAttention(a.attention_dim or a.hidden_dim, name=name, dtype=a.dtype)

    def build_inner(self, name):
        """Returns the hidden layer before the output projection."""
        a = self.arguments
        return linear(a.inner_dim, initializer=None, activation="tanh", name=name, dtype=a.dtype)

    def build_switch(self, name):
        """Returns the copy mechanism: `CopySwitch`."""
        return CopySwitch(copy=self.arguments.copy, name=name, dtype=self.arguments.dtype)

    # === From ids to probabilities ===

    @property
    def answering(self):
        """Decoding of answers from questions and passages (`Direction`)."""
        return Direction(self, "answer")

    @property
    def asking(self):
        """Decoding of questions from answers and passages (`Direction`)."""
        return Direction(self, "ask")

    def check_parts(self, inputs):
        super().check_parts(inputs)
        for task in self.tasks:
            Direction(self, task)._try_steps(inputs, inputs[f"{TARGET[task]}_target_ids"])

    def embed(self, ids, characters, features=None, products=None):
        """Embeds words `[B, n]` and their characters `[B, n, c]`: `[B, n, hidden_dim]`.

        `products` is the result of `character_embedding.project()`, computed here if None.
        """
        # A layer that replaces the character embedding need not know `projected`.
        prepared = {} if products is None else {"projected": products}
        words = [self.word_embedding(ids), self.character_embedding(characters, **prepared)]
        projected = self.projection(ops.concatenate(words, axis=-1))  # [B, n, d], daanet-01
        return self._enter(projected, features)

    def _enter(self, projected, features):
        """Adds features to projected words and applies the highway network."""
        if features is not None:
            projected = projected + self.feature_projection(features)
        return self.highway(projected)  # daanet-02, daanet-03

    def embed_passage(self, task, inputs):
        """Embeds the passage's words as a task sees them: `[B, n, hidden_dim]`."""
        ids, characters = inputs["passage_ids"], inputs["passage_characters"]
        features = inputs.get(f"{GIVEN[task]}_passage_features")
        if self.encoder is None:
            return self.embed(ids, characters, features)
        if self.arguments.reading == "separate":
            states, pieces = self.encoder(inputs["encoder_ids"]), inputs["passage_pieces"]
        else:
            given = GIVEN[task]
            states = self.encoder(inputs[f"{given}_encoder_ids"], inputs[f"{given}_segment_ids"])
            pieces = inputs[f"{given}_passage_pieces"]
        words = [self.encoder.words(states, pieces), self.character_embedding(characters)]
        if self.arguments.encoder_use == "contextual":
            words = [self.word_embedding(ids), *words]
        projected = self.passage_projection(ops.concatenate(words, axis=-1))  # [B, n, d]
        return self._enter(projected, features)

    def writer(self, task):
        """Returns the encoder that reads what the task has written so far."""
        return self.text_encoder[TARGET[task]][task]

    def _encode(self, task, text, inputs, encoded):
        """Encodes one of the three texts, once for all tasks that see it alike."""
        encoder, ids = self.text_encoder[text][task], inputs[f"{text}_ids"]
        is_passage = text == "passage"
        # Read jointly or compared with what is given, the passage is another one for each task.
        jointly = self.encoder is not None and self.arguments.reading == "joint"
        own = task if is_passage and (jointly or self.num_word_features) else None
        name = text if own is None else f"{own}_{text}"
        if (text, own) not in encoded:
            if is_passage:
                encoded[text, own] = self.embed_passage(task, inputs)
            else:
                encoded[text, own] = self.embed(ids, inputs[f"{text}_characters"])
            record(f"{name}_embedding", encoded[text, own])
        if (encoder.name, own) not in encoded:
            mask = ops.not_equal(ids, PAD)  # [B, n]
            encoded[encoder.name, own] = encoder(encoded[text, own], padding_mask=mask)
            record(f"{name}_encoding", encoded[encoder.name, own])
        return encoded[encoder.name, own]

    def read(self, task, inputs, encoded):
        """Computes what the steps of a task read: the passage with the given text folded in.

        Args:
            task: "answer" or "ask".
            inputs: the model's inputs that the task has.
            encoded: a dict that keeps what both tasks read alike.
        """
        folded = passage = self._encode(task, "passage", inputs, encoded)
        if self.arguments.context_attention:
            given = self._encode(task, GIVEN[task], inputs, encoded)
            given_mask = ops.not_equal(inputs[f"{GIVEN[task]}_ids"], PAD)
            # daanet-07 (asking), daanet-08 (answering)
            _, folded = self.first_fold[task](passage, given, given_mask)  # [B, n, e]
            if self.arguments.keep_passage:
                folded = ops.concatenate([folded, passage, folded * passage], axis=-1)
        return {
            "folded": folded,  # [B, n, d], or 3d with `keep_passage`
            "mask": ops.not_equal(inputs["passage_ids"], PAD),
            "extended_ids": inputs["extended_ids"],
        }

    def distribute(self, task, memory, written, target_ids=None):
        """Computes the second fold and the parts of the next words' distribution.

        Args:
            task: "answer" or "ask".
            memory: dict. What `read` returned.
            written: the encoding of what was written before each word.
            target_ids: int `[B, T]` extended ids whose probability is asked for.
        """
        log_attention, folded = self.second_fold[task](  # [B, T, n], [B, T, e]
            written, memory["folded"], memory["mask"], projected=memory.get("keys")
        )  # daanet-09, daanet-10
        logits = self.output_projection[task](self.inner[task](folded))  # [B, T, G], daanet-11
        return self.switch[task](  # daanet-12 to daanet-14
            folded, written, logits, log_attention, memory["extended_ids"], target_ids=target_ids
        )


class Direction(GenerationMixin):
    """`model.answering` or `model.asking`: the steps of decoding for one task of `DAANet`.

    Args:
        model: The `tfmrc.models.DAANet`.
        task: str. "answer" or "ask".

    Example:
        >>> from tfmrc.models import DAANet
        >>> model = DAANet(vocabulary_size=9, word_dim=4, character_dim=4, hidden_dim=4,
        ...                num_lstm_layers=1, num_heads=2, inner_dim=4, num_characters=9)
        >>> model.asking.given, model.asking.target
        ('answer', 'question')

    Reference: Xiao et al. 2018 (DAANET), "Implementation Details": decoding separately for each.
    """

    def __init__(self, model, task):
        self.model = model
        self.task = task
        self.given = GIVEN[task]
        self.target = TARGET[task]
        self.num_generable = model.num_generable

    def encode(self, inputs):
        """Computes the tensors that do not change from step to step.

        Args:
            inputs: dict. `passage_ids`, `passage_characters`, `extended_ids`; `{given}_ids` and
                `{given}_characters` of the task's input; `generable_characters` `[G, c]`, the
                characters of the generable words; with a pretrained encoder, its inputs for this
                task.

        Returns:
            A dict of tensors with the batch as first axis, except `generable_characters` and
            `characters`, the products of all characters with the kernel of their embedding.
        """
        memory = self.model.read(self.task, inputs, {})
        memory["keys"] = self.model.second_fold[self.task].project(memory["folded"])
        project = getattr(self.model.character_embedding, "project", None)  # a part may be replaced
        memory["characters"] = project() if project else None
        return {
            **memory,
            "source_ids": inputs["passage_ids"],
            "source_characters": inputs["passage_characters"],
            "generable_characters": inputs["generable_characters"],
        }

    def init_cache(self, memory, num_beams, max_length):
        """Returns an empty cache for `max_length` steps of `num_beams` beams: `[B, W, ...]`."""
        batch_size = sizes(memory["extended_ids"])[0]
        writer = self.model.writer(self.task)
        return writer.init_cache(batch_size, num_beams, max_length)

    def decode_step(self, memory, cache, ids, t):
        """Computes one step of decoding.

        Args:
            memory: dict. Result of `encode`.
            cache: Result of `init_cache` or of the previous step.
            ids: int `[B, W]` extended ids of each beam's previous word; ignored at `t = 0`.
            t: int or scalar tensor. The step, from 0.

        Returns:
            Log-probabilities `[B, W, G + n]` of all extended ids, and the new cache.
        """
        first = ops.equal(t, 0)
        words = ops.where(first, BOS, input_ids(memory, ids, self.num_generable))  # [B, W]
        spelled = input_characters(memory, ids, self.num_generable)  # [B, W, c]
        characters = ops.where(first, 0, spelled)
        products = memory["characters"]
        embedded = self.model.embed(words, characters, products=products)  # [B, W, d]
        written, cache = self.model.writer(self.task).decode_step(embedded, cache, t)  # [B, W, e]
        parts = self.model.distribute(self.task, memory, written)
        return self.model.switch[self.task].distribution(parts, memory["extended_ids"]), cache

    def attribute(self, memory, target_ids):
        """Computes the source of each of the given words, in one pass.

        Args:
            memory: dict. Result of `encode`.
            target_ids: int `[B, T]` extended ids, PAD after the end.

        Returns:
            A dict: `log_probability` `[B, T]`; `mixture` and `log_parts` `[B, T, 2]`, the shares
            of the vocabulary and the passage (daanet-13) and the log of each one's part in the
            word's probability; `passage_attention` `[B, T, n]` (daanet-12).
        """
        ids = previous_ids(memory, target_ids, self.num_generable)
        spelled = input_characters(memory, target_ids, self.num_generable)[:, :-1]
        characters = ops.pad(spelled, [[0, 0], [1, 0], [0, 0]])  # [B, T, c], none for BOS
        embedded = self.model.embed(ids, characters)  # [B, T, d]
        written = self.model.writer(self.task)(embedded, padding_mask=ops.not_equal(ids, PAD))
        parts = self.model.distribute(self.task, memory, written, target_ids)
        return {
            "log_probability": parts["log_probability"],
            "mixture": ops.exp(parts["log_mixture"]),
            "log_parts": parts["log_parts"],
            "passage_attention": ops.exp(parts["log_attentions"][0]),
        }

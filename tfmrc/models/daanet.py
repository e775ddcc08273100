"""DAANET: one model that answers and asks."""

import keras
from keras import ops

from tfmrc.layers import (
    CharacterEmbedding,
    ConcatenatedEncoder,
    CopySwitch,
    Highway,
    MultiplicativeAttention,
    WordEmbedding,
    linear,
)
from tfmrc.layers.encoders.concatenated_encoder import BLOCKS
from tfmrc.models.base import Model
from tfmrc.models.daanet_task import GIVEN, MADE, Direction
from tfmrc.ops.coverage import coverage_overlap
from tfmrc.ops.ids import PAD

TASKS = ("answer", "ask")

# Table 3 of the paper, and `mono`, as arguments of `DAANet`.
VARIANTS = {
    "daanet": {},
    "no_lstm": {"blocks": ("feed_forward", "self_attention")},
    "no_self_attention": {"blocks": ("feed_forward", "lstm")},
    "no_context_attention": {"context_attention": False},
    "no_copy": {"copy": False},
    "unshared_encoders": {"share_encoders": False},
    "unshared_context_encoder": {"share_context_encoder": False},
    "unshared_output": {"share_output": False},
    "mono_answer": {"tasks": ("answer",)},
    "mono_ask": {"tasks": ("ask",)},
}


@keras.saving.register_keras_serializable(package="tfmrc")
class DAANet(Model):
    """Dual ask-answer network: learns to answer and to ask from the same examples, in one model.

    Each task folds what it is given (the question for answering, the answer for asking) into the
    passage, folds that into the words written so far, and generates the next word or copies it
    from the passage. A functional Keras model: train it with `compile` and `fit`; decode with
    `model.answering` and `model.asking` (`encode`, `init_cache`, `decode_step`, `generate`,
    `attribute`).

    Both tasks share the embedding, the context encoder (which reads the passage), the question
    encoder (it reads the question for answering and writes it for asking), the answer encoder
    likewise, and the output projection. Each task has its own projections of its two folds,
    hidden layer before the output, and switch.

    Question and answer are read with BOS before them, which the paper does not say: then the same
    outputs of an encoder serve as what is given (`Q`) and as what was written so far (`Q_<t`), and
    one batch runs each encoder once. Encoders of question and answer look back only.

    The encoders' outputs are `len(blocks) * hidden_dim` wide, 900 for the paper's sizes. Biases
    are vectors, printed as scalars. The weights start by Glorot's uniform law; those of the LSTM's
    recurrence are orthogonal, Keras' way.

    An example whose passage has no word generates alone; what is given is never without a word.

    Args:
        vocabulary_size: rows of the word embedding: special rows, words, unknown-word buckets.
        num_characters: rows of the character table, 0 for padding.
        word_dim: width of the word vectors.
        character_dim: width of a character's vector and of a word's vector made of them.
        hidden_dim: width of the embedding's output and of each block of the encoders.
        num_lstm_layers: LSTM layers of each encoder.
        num_heads: heads of the encoders' self-attention.
        attention_dim: width of the projections U and V of each fold; None for `hidden_dim`.
        inner_dim: width before the output projection.
        generation_vocabulary_size: how many of the first rows can be generated.
        num_oov_buckets: how many of the last rows stand for unknown words; they can be copied and
            not generated.
        dropout: rate in the encoders.
        tasks: "answer", "ask" or both; one alone is the paper's `mono`.
        blocks: blocks of the encoders, see `tfmrc.layers.ConcatenatedEncoder`.
        in_series: whether each block reads the one before and not the embedding.
        context_attention: whether what is given is folded into the passage (context-* attention).
        copy: whether words can be copied. If not, a target that only the passage holds is UNK.
        share_encoders: whether question and answer each have one encoder for both tasks.
        share_context_encoder: whether the tasks have one encoder of the passage.
        share_output: whether the tasks have one output projection.
        embeddings_trainable: whether the words' rows are trained (the paper: no).
        initializer_stddev: standard deviation of the initial word and character vectors.

    Call arguments (a dict; what `tfmrc.preprocessing.DAANetPreprocessor` makes):
        passage_ids: int `[B, n]` input ids; passage_characters: int `[B, n, c]`.
        extended_ids: int `[B, n]` extended ids of the passage, PAD at padding.
        question_ids: int `[B, m]` input ids, BOS first; question_characters: int `[B, m, c]`.
        answer_ids: int `[B, k]` likewise; answer_characters: int `[B, k, c]`.
        question_target_ids, answer_target_ids: int `[B, m]`, `[B, k]` extended ids, EOS last.
        Every variant takes the same inputs, so that one dataset trains them all.

    Returns:
        A dict for the tasks there are: `answer` `[B, k]` and `ask` `[B, m]`, log-probabilities of
        the targets; `answer_coverage` and `ask_coverage`, the overlap of each step's attention
        with all before it (daanet-16). All float32.

    Raises:
        ValueError: a task or block is unknown or there is none.

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

    def __init__(
        self,
        vocabulary_size,
        num_characters=256,
        word_dim=256,
        character_dim=200,
        hidden_dim=300,
        num_lstm_layers=3,
        num_heads=4,
        attention_dim=None,
        inner_dim=1024,
        generation_vocabulary_size=90_000,
        num_oov_buckets=0,
        dropout=0.1,
        tasks=TASKS,
        blocks=BLOCKS,
        in_series=False,
        context_attention=True,
        copy=True,
        share_encoders=True,
        share_context_encoder=True,
        share_output=True,
        embeddings_trainable=False,
        initializer_stddev=0.1,
        name="daanet",
        dtype=None,
        **kwargs,
    ):
        if not tasks or not set(tasks) <= set(TASKS):
            raise ValueError(f"`tasks` holds some of {TASKS}. Received: tasks={tasks!r}")
        dtype = keras.dtype_policies.get(dtype or keras.config.dtype_policy())
        self._config = {
            "vocabulary_size": vocabulary_size,
            "num_characters": num_characters,
            "word_dim": word_dim,
            "character_dim": character_dim,
            "hidden_dim": hidden_dim,
            "num_lstm_layers": num_lstm_layers,
            "num_heads": num_heads,
            "attention_dim": attention_dim,
            "inner_dim": inner_dim,
            "generation_vocabulary_size": generation_vocabulary_size,
            "num_oov_buckets": num_oov_buckets,
            "dropout": dropout,
            "tasks": list(tasks),
            "blocks": list(blocks),
            "in_series": in_series,
            "context_attention": context_attention,
            "copy": copy,
            "share_encoders": share_encoders,
            "share_context_encoder": share_context_encoder,
            "share_output": share_output,
            "embeddings_trainable": embeddings_trainable,
            "initializer_stddev": initializer_stddev,
        }
        self.tasks = tuple(task for task in TASKS if task in tasks)
        self.num_generable = min(generation_vocabulary_size, vocabulary_size - num_oov_buckets)
        self.context_attention = context_attention

        def of_tasks(make, name, shared=False, **options):
            """A layer for each task: the same one, or one of its own."""
            if shared:
                layer = make(name=name, **options)
                return {task: layer for task in self.tasks}
            return {task: make(name=f"{name}_{task}", **options) for task in self.tasks}

        def encoder(causal, **options):
            return ConcatenatedEncoder(
                hidden_dim, num_lstm_layers, num_heads, causal, blocks, in_series, dropout,
                dtype=dtype, **options,
            )  # fmt: skip

        def glorot(units, **options):
            return linear(units, stddev=None, dtype=dtype, **options)

        # === Shared by both tasks, unless an argument says otherwise ===
        self.word_embedding = WordEmbedding(
            vocabulary_size, word_dim, embeddings_trainable, initializer_stddev,
            name="word_embedding", dtype=dtype,
        )  # fmt: skip
        self.character_embedding = CharacterEmbedding(
            num_characters, character_dim, character_dim, stddev=initializer_stddev,
            name="character_embedding", dtype=dtype,
        )  # fmt: skip
        self.projection = glorot(hidden_dim, name="projection")
        self.highway = Highway(1, stddev=None, activation="linear", name="highway", dtype=dtype)
        self.encoder = {
            "passage": of_tasks(
                encoder, "context_encoder", shared=share_context_encoder, causal=False
            ),
            "question": of_tasks(encoder, "question_encoder", shared=share_encoders, causal=True),
            "answer": of_tasks(encoder, "answer_encoder", shared=share_encoders, causal=True),
        }
        self.output_projection = of_tasks(
            glorot, "output_projection", shared=share_output, units=self.num_generable
        )

        # === Of one task each ===
        fold = {"attention_dim": attention_dim or hidden_dim, "dtype": dtype}
        self.first_fold = (
            of_tasks(MultiplicativeAttention, "first_fold", **fold) if context_attention else {}
        )
        self.second_fold = of_tasks(MultiplicativeAttention, "second_fold", **fold)
        self.inner = of_tasks(glorot, "inner", units=inner_dim, activation="tanh")
        self.switch = of_tasks(CopySwitch, "switch", copy=copy, dtype=dtype)

        # === Functional model ===
        inputs = {
            "extended_ids": keras.Input((None,), dtype="int32", name="extended_ids"),
            "question_target_ids": keras.Input((None,), dtype="int32", name="question_target_ids"),
            "answer_target_ids": keras.Input((None,), dtype="int32", name="answer_target_ids"),
        }
        for text in ("passage", "question", "answer"):
            words, characters = f"{text}_ids", f"{text}_characters"
            inputs[words] = keras.Input((None,), dtype="int32", name=words)
            inputs[characters] = keras.Input((None, None), dtype="int32", name=characters)
        encoded: dict = {}
        outputs = {}
        for task in self.tasks:
            memory = self.read(task, inputs, encoded)
            written = self._encode(task, MADE[task], inputs, encoded)
            targets = inputs[f"{MADE[task]}_target_ids"]
            parts = self.distribute(task, memory, written, targets)
            outputs[task] = parts["log_probability"]
            outputs[f"{task}_coverage"] = coverage_overlap(ops.exp(parts["log_attentions"][0]))
        super().__init__(inputs=inputs, outputs=outputs, name=name, **kwargs)
        self.dtype_policy = dtype

    @property
    def answering(self):
        """Decoding of answers from questions and passages (`Direction`)."""
        return self._direction("answer")

    @property
    def asking(self):
        """Decoding of questions from answers and passages (`Direction`)."""
        return self._direction("ask")

    def _direction(self, task):
        if task not in self.tasks:
            raise ValueError(f"This model has not learned to {task}. Received: tasks={self.tasks}")
        return Direction(self, task)

    def embed(self, ids, characters):
        """Words `[B, n]` and their characters `[B, n, c]` to `[B, n, hidden_dim]`."""
        words = [self.word_embedding(ids), self.character_embedding(characters)]
        return self.highway(self.projection(ops.concatenate(words, axis=-1)))

    def writer(self, task):
        """The encoder that reads what the task has written so far."""
        return self.encoder[MADE[task]][task]

    def _encode(self, task, text, inputs, encoded):
        """The encoder's output for one of the three texts, computed once for all who share it."""
        encoder, ids = self.encoder[text][task], inputs[f"{text}_ids"]
        if text not in encoded:
            encoded[text] = self.embed(ids, inputs[f"{text}_characters"])
        if encoder.name not in encoded:
            mask = ops.not_equal(ids, PAD)
            encoded[encoder.name] = encoder(encoded[text], padding_mask=mask)
        return encoded[encoder.name]

    def read(self, task, inputs, encoded):
        """What the steps of a task read: the passage with what is given folded into it.

        Args:
            task: "answer" or "ask".
            inputs: the model's inputs that the task has.
            encoded: a dict that keeps what both tasks read alike.
        """
        folded = self._encode(task, "passage", inputs, encoded)
        if self.context_attention:
            given = self._encode(task, GIVEN[task], inputs, encoded)
            given_mask = ops.not_equal(inputs[f"{GIVEN[task]}_ids"], PAD)
            _, folded = self.first_fold[task](folded, given, given_mask)
        return {
            "folded": folded,  # [B, n, d]
            "mask": ops.not_equal(inputs["passage_ids"], PAD),
            "extended_ids": inputs["extended_ids"],
        }

    def distribute(self, task, memory, written, target_ids=None):
        """The second fold of `written` `[B, T, d]`, and the parts of the next words' distribution.

        Args:
            task: "answer" or "ask".
            memory: what `read` gave.
            written: the encoding of what was written before each word.
            target_ids: int `[B, T]` extended ids whose probability is asked for.
        """
        log_attention, folded = self.second_fold[task](
            written, memory["folded"], memory["mask"], projected=memory.get("keys")
        )
        logits = self.output_projection[task](self.inner[task](folded))
        return self.switch[task](
            folded, written, logits, log_attention, memory["extended_ids"], target_ids=target_ids
        )

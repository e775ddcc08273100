"""SAN: the answer as a span of one passage, predicted in several steps."""

import keras
from keras import ops

from tfmrc.layers import (
    AveragedAnswer,
    LastStepAnswer,
    LexiconEncoding,
    MemoryGeneration,
    OneStepAnswer,
    ReasoNetAnswer,
    StackedBiLSTM,
    StochasticAnswer,
    WordEmbedding,
)
from tfmrc.models.base import Model
from tfmrc.ops.ids import PAD
from tfmrc.ops.spans import best_spans

ANSWERS = {
    "stochastic": StochasticAnswer,
    "one_step": OneStepAnswer,
    "last_step": LastStepAnswer,
    "average": AveragedAnswer,
    "reasonet": ReasoNetAnswer,
}


@keras.saving.register_keras_serializable(package="tfmrc")
class SAN(Model):
    """Stochastic answer network: finds the span of a passage that answers a question.

    Four layers, one above the other: lexicon encoding (word vectors, exact match, alignment,
    tags), contextual encoding (bidirectional LSTMs with maxout, shared by question and passage),
    memory generation (question attention, self-attention, LSTM) and the answer module. A
    functional Keras model: train it with `compile` and `fit`, take it apart by its layers.

    A contextual embedding (CoVe in the paper) is a Keras layer `layer(ids, mask)` `[B, n, dim]`;
    both layers of the contextual encoding read it.

    The paper does not say how the two sides' inner networks are sized: they have `units`, as their
    outputs. Words' rows are trained or not by `embeddings_trainable`; the paper does not say.

    Args:
        vocabulary_size: rows of the word embedding.
        word_dim: width of the word vectors.
        units: width d of a direction of every LSTM.
        num_layers: LSTMs of the contextual encoding.
        align_dim: width of the aligned question embedding; 0 for none.
        num_exact_match: forms in which a word may match the question: 2 (as it stands, lower
            case), 3 (also by lemma, which needs a tagger), or 0 for none.
        num_pos: part-of-speech tags, ids from 1; 0 for none (no tagger).
        num_ner: types of named entities, ids from 1; 0 for none (no tagger).
        answer: "stochastic" (the paper's), "one_step", "last_step", "average" or "reasonet": the
            rows of Table 1.
        num_steps: T of the answer module; of no effect with "one_step".
        prediction_dropout: of the stochastic answer.
        dropout: of the LSTMs' inputs, the attention weights and the answer module's inputs.
        embeddings_trainable: whether the words' rows are trained.
        contextual_embedding: a layer as above, or None.
        tagger: name and version of what made the tags that the model was trained with; kept with
            the model so that nobody feeds it another one's.
        seed: of all dropout.

    Call arguments (a dict; what `tfmrc.preprocessing.SANPreprocessor` makes):
        question_ids: int `[B, m]`.
        passage_ids: int `[B, n]`.
        exact_match: float32 `[B, n, num_exact_match]`, if there is one.
        pos_ids: int `[B, n]`, with `num_pos`.
        ner_ids: int `[B, n]`, with `num_ner`.

    Returns:
        A dict: `begin` and `end` float32 `[B, n]`, the log-probabilities that the answer begins
        and ends with each word; `LOG_ZERO` at padding.

    Raises:
        ValueError: an argument is none of its choices.

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

    def __init__(
        self,
        vocabulary_size,
        word_dim=300,
        units=128,
        num_layers=2,
        align_dim=280,
        num_exact_match=2,
        num_pos=0,
        num_ner=0,
        answer="stochastic",
        num_steps=5,
        prediction_dropout=0.4,
        dropout=0.4,
        embeddings_trainable=False,
        contextual_embedding=None,
        tagger=None,
        seed=None,
        name="san",
        dtype=None,
        **kwargs,
    ):
        if answer not in ANSWERS:
            raise ValueError(f"`answer` is one of {sorted(ANSWERS)}. Received: answer={answer!r}")
        if num_exact_match not in (0, 2, 3):
            raise ValueError(
                "`num_exact_match` is 0, 2 (as it stands, lower case) or 3 (also lemma). "
                f"Received: num_exact_match={num_exact_match}"
            )
        dtype = keras.dtype_policies.get(dtype or keras.config.dtype_policy())
        self._config = {
            "vocabulary_size": vocabulary_size,
            "word_dim": word_dim,
            "units": units,
            "num_layers": num_layers,
            "align_dim": align_dim,
            "num_exact_match": num_exact_match,
            "num_pos": num_pos,
            "num_ner": num_ner,
            "answer": answer,
            "num_steps": num_steps,
            "prediction_dropout": prediction_dropout,
            "dropout": dropout,
            "embeddings_trainable": embeddings_trainable,
            "tagger": tagger,
            "seed": seed,
        }
        self.num_exact_match = num_exact_match
        self.num_pos = num_pos
        self.num_ner = num_ner
        self.tagger = tagger
        self.contextual_embedding = contextual_embedding

        def seeded(number):
            return None if seed is None else seed + 100 * number

        # === Layers ===
        options = {"dtype": dtype}
        self.word_embedding = WordEmbedding(
            vocabulary_size, word_dim, embeddings_trainable, 0.1, name="word_embedding", **options
        )
        self.lexicon_encoding = LexiconEncoding(
            units,
            align_dim=align_dim,
            num_pos=num_pos,
            num_ner=num_ner,
            name="lexicon_encoding",
            **options,
        )
        self.contextual_encoding = StackedBiLSTM(
            units, num_layers, dropout, seed=seeded(1), name="contextual_encoding", **options
        )
        self.memory_generation = MemoryGeneration(
            units, dropout=dropout, seed=seeded(2), name="memory_generation", **options
        )
        steps = {} if answer == "one_step" else {"num_steps": num_steps}
        if answer == "stochastic":
            steps["prediction_dropout"] = prediction_dropout
        self.answer_module = ANSWERS[answer](
            dropout=dropout, seed=seeded(3), name="answer_module", **steps, **options
        )

        # === Functional model ===
        inputs = {
            "question_ids": keras.Input((None,), dtype="int32", name="question_ids"),
            "passage_ids": keras.Input((None,), dtype="int32", name="passage_ids"),
        }
        if num_exact_match:
            inputs["exact_match"] = keras.Input((None, num_exact_match), name="exact_match")
        for part, count in (("pos_ids", num_pos), ("ner_ids", num_ner)):
            if count:
                inputs[part] = keras.Input((None,), dtype="int32", name=part)
        outputs = self._answer(self._read(inputs))
        super().__init__(inputs=inputs, outputs=outputs, name=name, **kwargs)
        self.dtype_policy = dtype

    def _read(self, inputs):
        """From ids to what the answer module reads."""
        question_ids, passage_ids = inputs["question_ids"], inputs["passage_ids"]
        question_mask = ops.not_equal(question_ids, PAD)
        passage_mask = ops.not_equal(passage_ids, PAD)
        passage, question = self.lexicon_encoding(
            self.word_embedding(passage_ids),
            self.word_embedding(question_ids),
            question_mask=question_mask,
            **{name: inputs[name] for name in ("exact_match", "pos_ids", "ner_ids")
               if name in inputs},
        )  # fmt: skip
        question = self._encode(question, question_ids, question_mask)
        passage = self._encode(passage, passage_ids, passage_mask)
        memory = self.memory_generation(
            passage, question, passage_mask=passage_mask, question_mask=question_mask
        )
        return {
            "question": question,
            "memory": memory,
            "question_mask": question_mask,
            "memory_mask": passage_mask,
        }

    def _encode(self, x, ids, mask):
        if self.contextual_embedding is None:
            return self.contextual_encoding(x, padding_mask=mask)
        contextual = self.contextual_embedding(ids, mask)
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
        """The model's outputs outside training, by as many steps as one likes.

        Args:
            inputs: the model's inputs.
            num_steps: T, which may differ from the one that was trained with (the paper's
                Table 6); None for the same.
            return_steps: whether each step's prediction is returned too.

        Returns:
            `begin`, `end` `[B, n]`; with `return_steps` also `step_begin`, `step_end` `[B, T, n]`
            and `step_weights` `[B, T]` (see `tfmrc.layers.AnswerModule`).
        """
        return self._answer(
            self._read(inputs), num_steps=num_steps, return_steps=return_steps, training=False
        )

    def spans(self, outputs, max_length=15, num_spans=1):
        """The best spans of what the model or `find` gave: see `tfmrc.ops.best_spans`."""
        return best_spans(outputs["begin"], outputs["end"], max_length, num_spans)

"""A fifth paper, made of tfmrc's public API alone: an answer is one word of the passage.

Each word of the passage is scored by how much its vector agrees with the mean vector of the
question. Nothing in tfmrc knows these classes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from tfmrc import data
from tfmrc.models.base import Model
from tfmrc.predictors import Predictor, Query, Result, Task
from tfmrc.preprocessing import Preprocessor
from tfmrc.training import register_training


@keras.saving.register_keras_serializable(package="toy")
class ToyPreprocessor(Preprocessor):
    """Ids of question and passage, and the index of the answer's first word."""

    def __init__(self, vocabulary, *, length: int = 20, styles: tuple[str, ...] = ("span",)):
        super().__init__(vocabulary, styles=styles, length=length)

    def source(self, question, passage):
        inputs = {}
        for name, texts in (("question", question), ("passage", passage)):
            tokens = self.tokenizer.tokenize(texts)
            ids = tf.RaggedTensor.from_row_splits(
                self.vocabulary.lookup(tokens.compared.values), tokens.compared.row_splits
            )
            inputs[f"{name}_ids"] = self._padded(ids, 0)
            if name == "passage":
                inputs["words"] = self._padded(tokens.surface, "")
                inputs["starts"] = self._padded(tokens.starts, -1)
        return inputs

    def _padded(self, rows, padding):
        """Adds a position of padding, so that a text without words has one, too."""
        rows = rows[:, : self.length].to_tensor(padding)
        return tf.pad(rows, [[0, 0], [0, 1]], constant_values=padding)

    def batch(self, records):
        source = self.source(records["question"], records["passages"][:, 0])
        x = {name: source[name] for name in ("question_ids", "passage_ids")}
        self.randomize_oov_buckets(x, records, tuple(x))
        found = source["starts"] == records["span"][:, 1:2]
        known = tf.reduce_any(found, axis=1) & (records["span"][:, 1] >= 0)
        position = tf.argmax(found, axis=1, output_type=tf.int32)
        return x, {"position": position}, {"position": tf.cast(known, tf.float32)}


@keras.saving.register_keras_serializable(package="toy")
class ToyModel(Model):
    """Log-probabilities of the passage's words."""

    def __init__(self, *, vocabulary_size, width=4, name="toy", dtype=None):
        self._config = {"vocabulary_size": vocabulary_size, "width": width}
        question = keras.Input((None,), dtype="int32", name="question_ids")
        passage = keras.Input((None,), dtype="int32", name="passage_ids")
        embed = keras.layers.Embedding(vocabulary_size, width, name="words")
        scores = keras.layers.Dot(axes=(2, 1), name="agreement")(
            [embed(passage), keras.layers.GlobalAveragePooling1D()(embed(question))]
        )
        masked = ops.where(ops.equal(passage, 0), -1e9, scores)
        outputs = {"position": keras.layers.Softmax(name="position")(masked)}
        super().__init__(
            {"question_ids": question, "passage_ids": passage}, outputs, name=name, dtype=dtype
        )


@dataclass(frozen=True)
class ToyOptions:
    """There is nothing to choose but the smallest probability of an answer."""

    least_probability: float = 0.0


@keras.saving.register_keras_serializable(package="toy")
class ToyPredictor(Predictor[Result]):
    """Answers with one word."""

    model_class = ToyModel
    preprocessor_class = ToyPreprocessor
    options_class = ToyOptions

    @property
    def tasks(self) -> tuple[Task, ...]:
        return (Task("answer", "answer", self.preprocessor.styles[0]),)

    def build_signatures(self, options: ToyOptions) -> dict[str, Any]:
        def answer(question, passages):
            passages = tf.pad(passages, [[0, 0], [0, 1]], constant_values="")  # at least one
            shape = tf.shape(passages)
            source = self.preprocessor.source(
                tf.repeat(question, shape[1]), tf.reshape(passages, [-1])
            )
            inputs = {name: source[name] for name in ("question_ids", "passage_ids")}
            chances = self.model(inputs)["position"]
            has_words = tf.reduce_any(inputs["passage_ids"] != 0, axis=1)
            chance = tf.where(has_words, tf.reduce_max(chances, axis=1), 0.0)
            words = tf.gather(source["words"], tf.argmax(chances, axis=1), batch_dims=1)
            chance, words = tf.reshape(chance, shape), tf.reshape(words, shape)
            passage = tf.argmax(chance, axis=1)  # of equal ones the first
            probability = tf.reduce_max(chance, axis=1)
            enough = probability >= options.least_probability
            words = tf.gather(words, passage, batch_dims=1)
            return {"answer": tf.where(enough, words, ""), "probability": probability}

        question = tf.TensorSpec([None], tf.string, name="question")
        passages = tf.TensorSpec([None, None], tf.string, name="passages")
        return {"serving_default": tf.function(answer, input_signature=[question, passages])}

    def predict_batch(
        self, queries: Sequence[Query], task: Task, options: Mapping[str, Any]
    ) -> Iterable[Result]:
        inputs = {
            "question": [query.question for query in queries],
            "passages": [query.passages for query in queries],
        }
        outputs = self.run("serving_default", inputs, **options)
        for answer, chance in zip(outputs["answer"], outputs["probability"], strict=True):
            yield Result(answer.decode(), probability=float(chance))

    def max_length(self, options: ToyOptions) -> int:
        return 1


@register_training(ToyModel)
def toy(*, model=None, steps, steps_per_epoch=None, learning_rate=0.1):
    """Training settings of the toy paper."""
    loss = {"position": keras.losses.SparseCategoricalCrossentropy()}
    return {"optimizer": keras.optimizers.Adam(learning_rate), "loss": loss}


NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
RECIPE = """
name: toy
imports: [tests.toy_paper]
sources:
- {format: examples, styles: [span], train: train.jsonl, test: test.jsonl, title: toy}
model: {name: ToyModel, width: 6}
preprocessor: {length: 12}
vocabulary: {num_oov_buckets: 4}
split: {by: example, validation_share: 0.3}
training: {epochs: 3, batch_size: 8, optimizer: {learning_rate: 0.2}}
evaluation: {meteor: false}
"""


def example(number: int) -> data.Example:
    """Who ran? The word before "ran", among other words."""
    name, other = NAMES[number % 8], NAMES[(number + 3) % 8]
    passage = f"{other} slept . {name} ran home ."
    start = passage.index(f"{name} ran")
    span = data.Span(0, start, start + len(name))
    question = f"Was it {name} who ran?"
    return data.Example(f"q{number}", question, (passage,), {"span": (name,)}, spans=(span,))

"""DAANET's predictor: answers to questions, and questions about answers, from one model."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import DualModel, DualTask
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.options import DecodingOptions
from tfmrc.predictors.results.generated import GeneratedText
from tfmrc.predictors.results.text_outputs import compiled, text_outputs
from tfmrc.predictors.task import Query, Task
from tfmrc.preprocessing.protocols import DualPreprocessor

TARGETS = {"answer": "answer", "ask": "question"}


@keras.saving.register_keras_serializable(package="tfmrc")
class DAANetPredictor(Predictor[GeneratedText]):
    """Answers questions and generates questions about answers.

    The tasks are those that the model has, `"answer"`, `"ask"` or both. Several passages of a
    question are read as one, with a space between them. The options are those of
    `tfmrc.predictors.DecodingOptions`.

    Args:
        model: A `tfmrc.models.DAANet`.
        preprocessor: The `tfmrc.preprocessing.DAANetPreprocessor` that it was trained with.

    Raises:
        ValueError: If model and preprocessor disagree on the vocabulary or the characters.

    Example:

    >>> import tfmrc
    >>> from tfmrc import models, preprocessing, text
    >>> words = text.Vocabulary("how high is it ?".split())
    >>> preprocessor = preprocessing.DAANetPreprocessor(words)
    >>> model = models.DAANet(vocabulary_size=9, word_dim=4, character_dim=4, hidden_dim=4,
    ...                       num_lstm_layers=1, num_heads=2, inner_dim=4)
    >>> predictor = tfmrc.Predictor(model, preprocessor)
    >>> passage = "It is 8,611 metres high."
    >>> answer = predictor.answer(question="How high is it?", passages=[passage], max_length=3)
    >>> question = predictor.ask(
    ...     passage=passage, answer="8,611", max_length=3, num_beams=2, num_return_sequences=2)
    >>> question.probability >= question.alternatives[0].probability
    True
    """

    model_class = models.DAANet
    preprocessor_class = preprocessing.DAANetPreprocessor
    model_protocol = DualModel
    preprocessor_protocol = DualPreprocessor
    options_class = DecodingOptions

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that the model has and was trained for."""
        styles = self.preprocessor.styles
        style = styles[0] if len(styles) == 1 else None
        return tuple(
            Task(name, TARGETS[name], style) for name in self.model.tasks if self.is_trained(name)
        )

    def build_signatures(self, options: DecodingOptions) -> dict[str, Any]:
        """Returns a `tf.function` on plain strings for each task.

        - `answer`: `question` string `[B]` and `passages` string `[B, K]`, which are joined.
          Outputs, N being `num_return_sequences`: `answer` string `[B]`, `answers` string `[B, N]`,
          best first, `probability` float32 `[B]`, and `passage` int32 `[B]`, always -1, because the
          model does not tell the sources of its words.
        - `ask`: `answer` and `passage` string `[B]`. Outputs: `question`, `questions` likewise.
        - `serving_default`: the first of these.

        Both return `probabilities` and `log_probabilities` float32 `[B, N]`, `finished` bool
        `[B, N]` (false for words that were cut at the greatest length) and `truncated` bool `[B]`
        as well.
        """
        directions = {"answer": self.model.answering, "ask": self.model.asking}
        signatures = {
            task.name: _signature(directions[task.name], self.preprocessor, options)
            for task in self.tasks
        }
        return {"serving_default": next(iter(signatures.values())), **signatures}

    def inputs_of(self, queries: Sequence[Query], task: Task) -> tuple[str, dict[str, list[Any]]]:
        """Returns the name of the task's signature, and its inputs for requests."""
        return task.name, super().inputs_of(queries, task)[1]

    def max_length(self, options: DecodingOptions) -> int:
        """Returns the greatest number of words of an answer or question, its end included."""
        longest = max(self.preprocessor.question_length, self.preprocessor.answer_length)
        return options.max_length or longest + 1


def _signature(
    direction: DualTask, preprocessor: DualPreprocessor, options: DecodingOptions
) -> Any:
    given, target = direction.given, direction.target
    lengths = {"question": preprocessor.question_length, "answer": preprocessor.answer_length}
    max_length = options.max_length or lengths[target] + 1

    def search(numbers: dict[str, tf.Tensor]) -> Any:
        return direction.generate(direction.encode(numbers), max_length, **options.search())

    search = compiled(search, options)

    def generate(text: tf.Tensor, passage: tf.Tensor) -> dict[str, tf.Tensor]:
        if target == "answer":
            passage = tf.strings.reduce_join(passage, axis=1, separator=" ")
        tf.debugging.assert_equal(
            tf.size(text),
            tf.size(passage),
            message=f"`{given}` and the passages must have as many rows.",
        )
        source = preprocessor.source(passage)
        numbers = {name: source[name] for name in preprocessor.passage_inputs}
        hypotheses = search(numbers | preprocessor.given(text, given, source))
        outputs, _ = text_outputs(preprocessor, hypotheses, source, target)
        if target == "answer":
            outputs["probability"] = outputs["probabilities"][:, 0]
            outputs["passage"] = tf.fill([tf.size(text)], -1)
        return outputs | {"truncated": source["truncated"]}

    passage = tf.TensorSpec([None], tf.string, name="passage")
    if target == "answer":
        passage = tf.TensorSpec([None, None], tf.string, name="passages")
    specs = [tf.TensorSpec([None], tf.string, name=given), passage]
    return tf.function(generate, input_signature=specs, autograph=False)

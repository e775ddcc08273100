"""DAANET's predictor: answers to questions, and questions about answers, from one model."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.ops.ids import EOS
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.generated import GeneratedQuestion, GeneratedText
from tfmrc.predictors.options import DecodingOptions
from tfmrc.predictors.task import Query, Task, refuse_start
from tfmrc.storage.warmup import ANSWER, PASSAGES, QUESTION

__all__ = ["DAANetPredictor", "daanet_signatures"]

TARGETS = {"answer": "answer", "ask": "question"}
WARMUP = {"answer": ("question", QUESTION), "ask": ("answer", ANSWER)}


@keras.saving.register_keras_serializable(package="tfmrc")
class DAANetPredictor(Predictor[GeneratedText]):
    """Answers questions and generates questions about answers.

    The tasks are those that the model has, `"answer"`, `"ask"` or both. Several passages are read
    as one, with a space between them. The options are those of
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
        """Returns the signatures of `daanet_signatures`."""
        tasks = [task.name for task in self.tasks]
        return daanet_signatures(self.model, self.preprocessor, options, tasks)

    def ask(
        self, *, passage: str, answer: str, answer_start: int | None = None, **options: Any
    ) -> GeneratedText:
        """Generates a question about an answer; see `Predictor.ask`.

        Raises:
            ValueError: If `answer_start` is given, which the model does not read.
        """
        refuse_start(answer_start)
        return super().ask(passage=passage, answer=answer, **options)

    def predict_batch(
        self, queries: Sequence[Query], task: Task, options: Mapping[str, Any]
    ) -> Iterable[GeneratedText]:
        """Returns one answer or question per request, with its alternatives."""
        passages = [query.joined_passages for query in queries]
        if task.target == "answer":
            inputs = {"passage": passages, "question": [query.question for query in queries]}
            outputs = self.run(task.name, inputs, **options)
            return [GeneratedText.from_outputs(outputs, row) for row in range(len(queries))]
        inputs = {"passage": passages, "answer": [query.answer for query in queries]}
        outputs = self.run(task.name, inputs, **options)
        return [
            GeneratedQuestion.about(outputs, row, query.answer) for row, query in enumerate(queries)
        ]

    def max_length(self, options: DecodingOptions) -> int:
        """Returns the greatest number of words of an answer or question, its end included."""
        longest = max(self.preprocessor.question_length, self.preprocessor.answer_length)
        length: int = options.max_length or longest + 1
        return length

    def warmup_request(self) -> dict[str, Any]:
        """Returns a passage with a question or an answer."""
        given, words = WARMUP[self.tasks[0].name]
        return {given: [words], "passage": [PASSAGES[0]]}


def daanet_signatures(
    model: Any, preprocessor: Any, options: DecodingOptions, tasks: Sequence[str] | None = None
) -> dict[str, Any]:
    """Returns the signatures of a dual model, `tf.function`s on plain strings, one per task.

    - `answer`: `question` and `passage` string `[B]`. Outputs, N being `num_return_sequences`:
      `answer` string `[B]`, `answers` string `[B, N]`, best first.
    - `ask`: `answer` and `passage` string `[B]`. Outputs: `question`, `questions` likewise.
    - `serving_default`: the first of these.

    All return `probabilities` and `log_probabilities` float32 `[B, N]`, `finished` bool `[B, N]`
    (false for words that were cut at the greatest length) and `truncated` bool `[B]` as well.

    Args:
        model: A `tfmrc.models.DAANet`.
        preprocessor: Its `tfmrc.preprocessing.DAANetPreprocessor`.
        options: `DecodingOptions`. Options of the search.
        tasks: list of str or None. The tasks of the signatures; None for all that the model has.
            Default: None.
    """
    directions = {"answer": "answering", "ask": "asking"}
    signatures = {
        task: _signature(getattr(model, directions[task]), preprocessor, options)
        for task in (model.tasks if tasks is None else tasks)
    }
    return {"serving_default": next(iter(signatures.values())), **signatures}


def _signature(direction: Any, preprocessor: Any, options: DecodingOptions) -> Any:
    given, target = direction.given, direction.target
    longest = {"question": preprocessor.question_length, "answer": preprocessor.answer_length}[
        target
    ]
    max_length = options.max_length or longest + 1

    def search(numbers: dict[str, tf.Tensor]) -> Any:
        return direction.generate(direction.encode(numbers), max_length, **options.search())

    if options.jit_compile:
        search = tf.function(search, jit_compile=True, autograph=False)

    def generate(text: tf.Tensor, passage: tf.Tensor) -> dict[str, tf.Tensor]:
        tf.debugging.assert_equal(
            tf.size(text),
            tf.size(passage),
            message=f"`{given}` must have as many rows as `passage`.",
        )
        source = preprocessor.source(passage)
        numbers = {name: source[name] for name in preprocessor.passage_inputs}
        hypotheses = search(numbers | preprocessor.given(text, given, source))
        texts, _ = preprocessor.detokenize(hypotheses.ids, source)
        real = hypotheses.lengths > 0
        log_probabilities = tf.cast(hypotheses.log_probability, tf.float32)
        return {
            target: texts[:, 0],
            f"{target}s": texts,
            "probabilities": tf.where(real, tf.exp(log_probabilities), 0.0),
            "log_probabilities": log_probabilities,
            "finished": tf.reduce_any(hypotheses.ids == EOS, axis=-1) | ~real,
            "truncated": source["truncated"],
        }

    specs = [tf.TensorSpec([None], tf.string, name=name) for name in (given, "passage")]
    return tf.function(generate, input_signature=specs, autograph=False)

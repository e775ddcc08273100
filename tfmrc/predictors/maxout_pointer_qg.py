"""The maxout pointer's predictor: questions about answers in passages."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import keras
import tensorflow as tf

from tfmrc import models, preprocessing
from tfmrc.models.protocols import Generator
from tfmrc.ops.masking import LOG_ZERO
from tfmrc.predictors.base import Predictor
from tfmrc.predictors.options import QuestionOptions
from tfmrc.predictors.results.generated import GeneratedText
from tfmrc.predictors.results.text_outputs import compiled, text_outputs
from tfmrc.predictors.task import Query, Task, stream_of_passages
from tfmrc.preprocessing.protocols import QuestionPreprocessor
from tfmrc.text.layout import spread
from tfmrc.text.words.answer_candidates import answer_candidates
from tfmrc.utils.batches import batches_of

_PASSAGE = tf.TensorSpec([None], tf.string, name="passage")
_ANSWER = tf.TensorSpec([None], tf.string, name="answer")
_START = tf.TensorSpec([None], tf.int32, name="answer_start")


@keras.saving.register_keras_serializable(package="tfmrc")
class MaxoutPointerQGPredictor(Predictor[GeneratedText]):
    """Generates questions about answers in passages.

    The options are those of `tfmrc.predictors.QuestionOptions`.

    Args:
        model: A `tfmrc.models.MaxoutPointerQG`, or a model with the same decoding methods.
        preprocessor: The `tfmrc.preprocessing.MaxoutPointerQGPreprocessor` that it was trained
            with.

    Raises:
        ValueError: If model and preprocessor disagree on the vocabulary.

    Example:

    >>> import tfmrc
    >>> from tfmrc import models, preprocessing, text
    >>> words = text.Vocabulary("how tall is k2 metres it stands high ?".split())
    >>> preprocessor = preprocessing.MaxoutPointerQGPreprocessor(words)
    >>> model = models.MaxoutPointerQG(vocabulary_size=13, word_dim=8, hidden_dim=8)
    >>> predictor = tfmrc.Predictor(model, preprocessor)
    >>> question = predictor.ask(
    ...     passage="K2 is 8,611 metres high.", answer="8,611 metres", max_length=4)
    >>> question.answer_start, 0 < question.probability < 1
    (6, True)
    """

    model_class = models.MaxoutPointerQG
    preprocessor_class = preprocessing.MaxoutPointerQGPreprocessor
    model_protocol = Generator
    preprocessor_protocol = QuestionPreprocessor
    options_class = QuestionOptions
    only_asks = True
    meanings = {
        "answer_start": "offset of the answer's first character (code point) in the passage",
        "generate_from_passage/answers": "the answer candidates, as the passage writes them",
        "answer_starts": "offset of each candidate; -1 where the passage has fewer",
        "generate_from_passage/questions": "the best question about each candidate",
    }

    def build_signatures(self, options: QuestionOptions) -> dict[str, Any]:
        """Returns the graphs on plain strings, each a `tf.function`.

        - `serving_default`: `passage` and `answer` string `[B]`, the answer taken at its first
          occurrence; `at`: also `answer_start` int32 `[B]`, -1 for the first occurrence. Outputs, N
          being `num_return_sequences`: `question` string `[B]`, `questions` string `[B, N]`,
          `probabilities` and `log_probabilities` float32 `[B, N]`, `finished` bool `[B, N]` (false
          for a question that was cut at the greatest length), `answer_start` int32 `[B]`,
          `truncated` bool `[B]`.
        - `generate_from_passage`, if the preprocessor has answers: `passage` alone. The answer
          candidates are names, numbers and phrases that people would ask about
          (`tfmrc.text.words.answer_candidates`), at most `options.max_answers`. Outputs, P being
          the most candidates of a passage of the batch: `answers`, `questions` string `[B, P]`,
          `answer_starts` int32 `[B, P]`, `probabilities` and `log_probabilities` float32 `[B, P]`,
          `finished` and `truncated` bool `[B, P]`; "", "", -1, 0, -1e9 and false where a passage
          has fewer.

        An answer that does not occur in its passage is an error of the request.
        """
        model: Generator = self.model
        preprocessor: QuestionPreprocessor = self.preprocessor

        def search(numbers: dict[str, tf.Tensor]) -> Any:
            return model.generate(
                model.encode(numbers), self.max_length(options), **options.search()
            )

        search = compiled(search, options)

        def ask(passage: tf.Tensor, answer: tf.Tensor, *start: tf.Tensor) -> dict[str, tf.Tensor]:
            source = preprocessor.source(passage, answer, *start)
            hypotheses = search({name: source[name] for name in preprocessor.model_inputs})
            outputs, _ = text_outputs(preprocessor, hypotheses, source, "question")
            return outputs | {name: source[name] for name in ("answer_start", "truncated")}

        def generate_from_passage(passage: tf.Tensor) -> dict[str, tf.Tensor]:
            candidates = answer_candidates(preprocessor.tokenizer, passage, options.max_answers)
            outputs = ask(tf.gather(passage, candidates.row), candidates.answers, candidates.starts)
            most = tf.reduce_max(tf.concat([candidates.number + 1, [0]], axis=0))  # P
            shape = (tf.size(passage), most)

            def by_passage(values: tf.Tensor) -> tf.Tensor:
                return spread(values, candidates.row, candidates.number, shape)  # [B, P]

            return {
                "answers": by_passage(candidates.answers),
                "answer_starts": by_passage(candidates.starts + 1) - 1,
                "questions": by_passage(outputs["question"]),
                "probabilities": by_passage(outputs["probabilities"][:, 0]),
                "log_probabilities": tf.where(
                    by_passage(tf.ones_like(candidates.row)) == 1,
                    by_passage(outputs["log_probabilities"][:, 0]),
                    LOG_ZERO,
                ),
                "finished": by_passage(tf.cast(outputs["finished"][:, 0], tf.int32)) == 1,
                "truncated": by_passage(tf.cast(outputs["truncated"], tf.int32)) == 1,
            }

        signatures: dict[str, Any] = {"serving_default": (ask, [_PASSAGE, _ANSWER])}
        if preprocessor.with_answers:
            signatures["at"] = (ask, [_PASSAGE, _ANSWER, _START])
            signatures["generate_from_passage"] = (generate_from_passage, [_PASSAGE])
        return {
            name: tf.function(function, input_signature=specs, autograph=False)
            for name, (function, specs) in signatures.items()
        }

    def inputs_of(self, queries: Sequence[Query], task: Task) -> tuple[str, dict[str, list[Any]]]:
        """Returns the name of the signature, and its inputs for requests: also the position."""
        signature, inputs = super().inputs_of(queries, task)
        if self.preprocessor.with_answers:
            signature, inputs["answer_start"] = "at", [query.answer_start for query in queries]
        return signature, inputs

    def generate_from_passage(
        self, passages: Iterable[str], *, batch_size: int = 8, **options: Any
    ) -> Iterator[list[GeneratedText]]:
        """Generates questions about names, numbers and phrases of passages.

        Args:
            passages: str or iterable of str. The passages, read as the results are taken.
            batch_size: int. Passages per batch; every candidate is a row of the search. Default: 8.
            **options: Fields of `QuestionOptions`; `max_answers` limits the candidates.

        Returns:
            An iterator: for each passage its candidates in their order, each with the best
            question.

        Raises:
            ValueError: If the model was trained without answers.
            TypeError: If an option is unknown.
        """
        if not self.preprocessor.with_answers:
            raise ValueError(
                "Answer candidates need a model that was trained with answers. "
                "Received: with_answers=False"
            )
        self.options(**options)
        stream = iter(stream_of_passages(passages))

        def results() -> Iterator[list[GeneratedText]]:
            for batch in batches_of(stream, batch_size):
                outputs = self.run("generate_from_passage", {"passage": batch}, **options)
                for row in range(len(batch)):
                    yield GeneratedText.of_candidates(outputs, row)

        return results()

    def max_length(self, options: QuestionOptions) -> int:
        """Returns the greatest number of words of a question, its end included."""
        return options.max_length or self.preprocessor.question_length + 1

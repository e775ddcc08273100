"""From a passage and an answer to questions in one graph: what is run and what is exported."""

from typing import Any

import tensorflow as tf

from tfmrc.ops.ids import EOS
from tfmrc.predictors.options import DecodingOptions
from tfmrc.text.answer_candidates import answer_candidates
from tfmrc.text.layout import spread

__all__ = ["MAX_ANSWERS", "maxout_pointer_qg_signatures"]

MAX_ANSWERS = 8

_PASSAGE = tf.TensorSpec([None], tf.string, name="passage")
_ANSWER = tf.TensorSpec([None], tf.string, name="answer")
_START = tf.TensorSpec([None], tf.int32, name="answer_start")


def maxout_pointer_qg_signatures(
    model: Any, preprocessor: Any, options: DecodingOptions, max_answers: int = MAX_ANSWERS
) -> dict[str, Any]:
    """The signatures of question generation, `tf.function`s on plain strings.

    - `serving_default`: `passage` and `answer` string `[B]`, the answer taken at its first
      occurrence; `at`: also `answer_start` int32 `[B]`, -1 for the first occurrence. Outputs, N
      being `num_return_sequences`: `question` string `[B]`, `questions` string `[B, N]`, `probabilities`
      and `log_probabilities` float32 `[B, N]`, `finished` bool `[B, N]` (false for a question that
      was cut at the greatest length), `answer_start` int32 `[B]`, `truncated` bool `[B]`.
    - `propose`, of preprocessor with answers: `passage` alone. The answers are numbers and names that
      the graph finds by their looks (`tfmrc.text.answer_candidates`), at most `max_answers`. Outputs, P
      being the most answers that a passage of the batch has: `answers`, `questions` string
      `[B, P]`, `answer_starts` int32 `[B, P]`, `probabilities` and `log_probabilities` float32
      `[B, P]`, `finished` bool `[B, P]`; "", -1, 0, 0 and false where a passage has fewer.

    An answer that does not stand in its passage is an error of the request, not a guess.

    Args:
        model: a `tfmrc.models.MaxoutPointerQG`, or one with the same decoding methods.
        preprocessor: the `tfmrc.preprocessing.MaxoutPointerQGPreprocessor` that it was trained with.
        options: how questions are searched for.
        max_answers: answers of a passage that `propose` asks about.
    """
    max_length = options.max_length or preprocessor.question_length + 1
    inputs = ("passage_ids", "answer_tags", "extended_ids")

    def search(numbers: dict[str, tf.Tensor]) -> Any:
        return model.generate(model.encode(numbers), max_length, **options.search())

    if options.jit_compile:
        search = tf.function(search, jit_compile=True, autograph=False)

    def ask_first(passage: tf.Tensor, answer: tf.Tensor) -> dict[str, tf.Tensor]:
        return ask(passage, answer, None)

    def ask(passage: tf.Tensor, answer: tf.Tensor, start: Any) -> dict[str, tf.Tensor]:
        source = preprocessor.source(passage, answer, start)
        found = search({name: source[name] for name in inputs})
        questions, _ = preprocessor.detokenize(found.ids, source)
        there = found.lengths > 0
        log_probabilities = tf.cast(found.log_probability, tf.float32)
        return {
            "question": questions[:, 0],
            "questions": questions,
            "probabilities": tf.where(there, tf.exp(log_probabilities), 0.0),
            "log_probabilities": log_probabilities,
            "finished": tf.reduce_any(found.ids == EOS, axis=-1) | ~there,
            "answer_start": source["answer_start"],
            "truncated": source["truncated"],
        }

    def propose(passage: tf.Tensor) -> dict[str, tf.Tensor]:
        found = answer_candidates(preprocessor.tokenizer, passage, max_answers)
        asked = ask(tf.gather(passage, found.row), found.answers, found.starts)
        most = tf.reduce_max(tf.concat([found.place + 1, [0]], axis=0))
        shape = (tf.size(passage), most)

        def by_passage(values: tf.Tensor) -> tf.Tensor:
            return spread(values, found.row, found.place, shape)

        return {
            "answers": by_passage(found.answers),
            "answer_starts": by_passage(found.starts + 1) - 1,
            "questions": by_passage(asked["question"]),
            "probabilities": by_passage(asked["probabilities"][:, 0]),
            "log_probabilities": by_passage(asked["log_probabilities"][:, 0]),
            "finished": by_passage(tf.cast(asked["finished"][:, 0], tf.int32)) == 1,
        }

    signatures: dict[str, Any] = {"serving_default": (ask_first, [_PASSAGE, _ANSWER])}
    if preprocessor.with_answers:
        signatures["at"] = (ask, [_PASSAGE, _ANSWER, _START])
        signatures["propose"] = (propose, [_PASSAGE])
    return {
        name: tf.function(function, input_signature=specs, autograph=False)
        for name, (function, specs) in signatures.items()
    }

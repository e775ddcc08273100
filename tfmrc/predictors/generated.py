"""Generated answers and questions."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from tfmrc.predictors.result import Result, row_of, string_of

__all__ = ["GeneratedQuestion", "GeneratedText"]

Text = TypeVar("Text", bound="GeneratedText")


@dataclass(frozen=True, kw_only=True)
class GeneratedText(Result):
    """A generated answer or question; `str(generated)` is its text."""

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, Any], row: int, **fields: Any) -> Self:
        """Returns one row of a signature's outputs: the best text, the others as alternatives.

        Args:
            outputs: dict. Outputs of the signature, by name.
            row: int. Index of the example in the batch.
            **fields: Further fields of every result.
        """
        column = row_of(outputs, row)
        texts = column["answers" if "answers" in column else "questions"]
        rows = zip(
            texts,
            *(column[name] for name in ("probabilities", "log_probabilities", "finished")),
            strict=True,
        )
        truncated = bool(column.get("truncated", False))
        return best_first(
            cls(
                string_of(text),
                probability=float(probability),
                log_probability=float(log_probability),
                finished=bool(finished),
                truncated=truncated,
                **fields,
            )
            for text, probability, log_probability, finished in rows
        )


@dataclass(frozen=True, kw_only=True)
class GeneratedQuestion(GeneratedText):
    """A generated question; `str(generated)` is its text.

    Attributes:
        answer: str. The answer that it asks about; `""` if the model was given none. Default: "".
        answer_start: int. Offset of the answer's first character (code point) in the caller's
            passage; -1 if the model does not locate it. Default: -1.
    """

    answer: str = ""
    answer_start: int = -1

    def details(self) -> Sequence[str]:
        """Returns a line with the answer.

        Example:

        >>> from tfmrc.predictors import GeneratedQuestion
        >>> question = GeneratedQuestion("How high is it?", answer="310 metres", answer_start=12)
        >>> print(question.describe())
        How high is it?
          about 310 metres (character 12)
        """
        if not self.answer:
            return ()
        position = f" (character {self.answer_start})" if self.answer_start >= 0 else ""
        return (f"  about {self.answer}{position}",)

    def html_rows(self) -> Sequence[tuple[str, str]]:
        """Returns the answer that the question is about."""
        if not self.answer:
            return ()
        position = f" (character {self.answer_start})" if self.answer_start >= 0 else ""
        return (("about", html.escape(self.answer) + position),)

    @classmethod
    def about(cls, outputs: Mapping[str, Any], row: int, answer: str) -> Self:
        """Returns one row of the outputs of a signature that asks about a given answer.

        Args:
            outputs: dict. Outputs of the signature, by name.
            row: int. Index of the example in the batch.
            answer: str. The given answer.
        """
        start = int(outputs["answer_start"][row]) if "answer_start" in outputs else -1
        return cls.from_outputs(outputs, row, answer=answer, answer_start=start)

    @classmethod
    def of_candidates(cls, outputs: Mapping[str, Any], row: int) -> list[Self]:
        """Returns one row of the outputs of `generate_from_passage`: a question per answer.

        Args:
            outputs: dict. Outputs of the signature, by name.
            row: int. Index of the passage in the batch.
        """
        names = (
            "questions",
            "answers",
            "answer_starts",
            "probabilities",
            "log_probabilities",
            "finished",
        )
        columns = [outputs[name][row] for name in names]
        # Exports of earlier versions do not tell.
        columns.append(
            outputs["truncated"][row] if "truncated" in outputs else [False] * len(columns[0])
        )
        return [
            cls(
                string_of(question),
                answer=string_of(answer),
                answer_start=int(start),
                probability=float(probability),
                log_probability=float(log_probability),
                finished=bool(finished),
                truncated=bool(truncated),
            )
            for question, answer, start, probability, log_probability, finished, truncated in zip(
                *columns, strict=True
            )
            if start >= 0
        ]


def best_first(texts: Iterable[Text]) -> Text:
    """Returns the first of several results with the others as its alternatives."""
    best, *others = texts
    return replace(best, alternatives=tuple(others))

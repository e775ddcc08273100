"""What models that write give back: answers, and questions about answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tfmrc.predictors.answer import string_of

__all__ = ["GeneratedQuestion", "GeneratedText"]


@dataclass(frozen=True)
class GeneratedText:
    """An answer or a question; `str(written)` is its text.

    Attributes:
        text: the words.
        probability: of the words.
        finished: False if it was cut at the greatest length.
        alternatives: the next best ones, best first, where they are kept with the best.
    """

    text: str
    probability: float
    finished: bool = True
    alternatives: tuple["GeneratedText", ...] = ()

    def __str__(self) -> str:
        return self.text

    def describe(self) -> str:
        """Several lines for people.

        Example:

        >>> from tfmrc.predictors import GeneratedText
        >>> print(GeneratedText("an owl", 0.5, alternatives=(GeneratedText("a bird", 0.25),)).describe())
        an owl
          probability 0.5
          or: a bird (0.25)
        """
        lines = [self.text or "(no words)", f"  probability {self.probability:.3g}"]
        lines += [f"  or: {other.text} ({other.probability:.3g})" for other in self.alternatives]
        if not self.finished:
            lines.append("  cut at the greatest length")
        return "\n".join(lines)

    @classmethod
    def from_outputs(cls, outputs: Mapping[str, Any], row: int) -> list["GeneratedText"]:
        """One row of the outputs of a dual model's signature, best first.

        Args:
            outputs: the arrays that the signature returns, by name.
            row: which example of the batch.
        """
        texts = outputs["answers" if "answers" in outputs else "questions"]
        columns = texts[row], outputs["probabilities"][row], outputs["finished"][row]
        return [
            cls(string_of(text), float(probability), bool(finished))
            for text, probability, finished in zip(*columns, strict=True)
        ]


@dataclass(frozen=True)
class GeneratedQuestion:
    """A question about an answer; `str(asked)` is the question.

    Attributes:
        question: the question.
        answer: the answer that it was asked about.
        answer_start: the answer's first character in the passage, -1 if the model was not told.
        probability: of the question's words.
        log_probability: its logarithm, which does not vanish with the length.
        finished: False if it was cut at the greatest length.
    """

    question: str
    answer: str
    answer_start: int
    probability: float
    log_probability: float
    finished: bool = True

    def __str__(self) -> str:
        return self.question

    def describe(self) -> str:
        """Two lines for people.

        Example:

        >>> from tfmrc.predictors import GeneratedQuestion
        >>> print(GeneratedQuestion("How high is it ?", "310 metres", 12, 0.25, -1.386).describe())
        How high is it ?
          310 metres (character 12), log-probability -1.4
        """
        place = f" (character {self.answer_start})" if self.answer_start >= 0 else ""
        about = f"{self.answer}{place}, " if self.answer else ""
        line = f"  {about}log-probability {self.log_probability:.1f}"
        cut = "" if self.finished else ", cut at the greatest length"
        return f"{self.question or '(no words)'}\n{line}{cut}"

    @classmethod
    def from_outputs(
        cls, outputs: Mapping[str, Any], row: int, answer: str | None = None
    ) -> list["GeneratedQuestion"]:
        """One row of the outputs of a signature that asks.

        Args:
            outputs: the arrays that the signature returns, by name.
            row: which example of the batch.
            answer: what was asked about: the questions about it, best first. None for the outputs
                of `propose`: the best question about each answer of the passage.
        """
        questions = outputs["questions"][row]
        if answer is None:
            answers, starts = outputs["answers"][row], outputs["answer_starts"][row]
        else:
            start = outputs["answer_start"][row] if "answer_start" in outputs else -1
            answers, starts = [answer] * len(questions), [start] * len(questions)
        names = ("probabilities", "log_probabilities", "finished")
        rows = zip(questions, answers, starts, *(outputs[name][row] for name in names), strict=True)
        return [
            cls(string_of(question), string_of(of), int(start), float(p), float(log_p), bool(done))
            for question, of, start, p, log_p, done in rows
            if answer is not None or start >= 0
        ]

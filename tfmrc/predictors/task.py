"""Tasks of a predictor and requests to it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """A task of a predictor: what it predicts and in which style.

    Attributes:
        name: str. Unique among the predictor's tasks.
        target: str. What is predicted: `"answer"` or `"question"`.
        style: str or None. The answer style, which selects reference answers; None for all.
            Default: None.
    """

    name: str
    target: str
    style: str | None = None


@dataclass(frozen=True)
class Query:
    """One request to a predictor.

    Attributes:
        question: str. The question to answer. Default: "".
        passages: tuple of str. The passages to answer from. Default: ().
        answer: str. The answer to ask about; `""` if there is none. Default: "".
        answer_passage: int. Index of the passage that holds the answer. Default: 0.
        answer_start: int. Offset of the answer's first character (code point); -1 for its first
            occurrence. Default: -1.
        relevance: list of bool or None. Which passages are relevant, for a model with
            `ranker="gold"`; None if unknown. Default: None.
    """

    question: str = ""
    passages: tuple[str, ...] = ()
    answer: str = ""
    answer_passage: int = 0
    answer_start: int = -1
    relevance: Sequence[bool] | None = None

    @classmethod
    def of(cls, example: Any, task: Task) -> "Query":
        """Converts an example to a request; reads its answer if a question is to be generated.

        Without a known position, the answer is in the first relevant passage that contains it, or
        else in the first one.

        Args:
            example: An object with `question` and `passages`, as `tfmrc.data.Example`; a task that
                asks about answers also reads `answers` and `spans`, a model with `ranker="gold"`
                `relevance`. Or a dict: `question` and `passages`, or `passage`, `answer` and
                optionally `answer_start`.
            task: `Task`. The task.

        Raises:
            ValueError: If a dict names another style than the task's.
        """
        if isinstance(example, Mapping) and example.get("style", task.style) != task.style:
            raise ValueError(
                "All examples of a call are answered in the style of `task`: choose it there. "
                f"Received: task={task.name!r} and an example with style={example['style']!r}"
            )
        if isinstance(example, Mapping) and task.target == "question":
            start = example.get("answer_start", -1)
            return cls("", (example["passage"],), example["answer"], answer_start=start)
        if isinstance(example, Mapping):
            return cls(example["question"], tuple(stream_of_passages(example["passages"])))
        passages = tuple(stream_of_passages(example.passages))
        relevance = getattr(example, "relevance", None)
        if task.target != "question":
            return cls(example.question, passages, relevance=relevance)
        answers = getattr(example, "answers", None) or {}
        references = answers.get(task.style) or next(iter(answers.values()), ())
        if not references:
            return cls(passages=passages)
        answer = references[0]
        for span in getattr(example, "spans", ()):
            if passages[span.passage][span.start : span.end] == answer:
                return cls("", passages, answer, span.passage, span.start)
        relevant = relevance or (False,) * len(passages)
        order = sorted(range(len(passages)), key=lambda number: not relevant[number])
        holding = next((number for number in order if answer in passages[number]), 0)
        return cls("", passages, answer, holding)

    @property
    def passage(self) -> str:
        """The passage that holds the answer; `""` if there is no passage."""
        return self.passages[self.answer_passage] if self.passages else ""


def stream_of_passages(passages: str | Iterable[str]) -> Iterable[str]:
    """Returns passages that are read one after the other; a single string is one passage."""
    return (passages,) if isinstance(passages, str) else passages

"""A predictor of an export, without the model's code."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NoReturn

from tfmrc.predictors.generated import GeneratedQuestion
from tfmrc.predictors.queries import answer_query, ask_query, check_finds_answers
from tfmrc.predictors.result import Result
from tfmrc.predictors.signature import SavedModel
from tfmrc.predictors.task import Task, stream_of_passages

__all__ = ["ExportedPredictor"]


class ExportedPredictor:
    """Answers and generates questions with an export of any `tfmrc.Predictor`.

    It needs TensorFlow and tensorflow-text. The options of the search are those of the export.

    Args:
        path: str or path. The folder of a version, or that of the versions (then the newest is
            taken).
        verify: bool. Whether every file is compared with its digest first. Default: True.

    Raises:
        FileNotFoundError: If the folder is no export.
        ValueError: If it is damaged.
    """

    def __init__(self, path: str | PathLike[str], *, verify: bool = True):
        self.saved_model = SavedModel(path, verify=verify)

    def __repr__(self) -> str:
        signatures = ", ".join(self.saved_model.signatures)
        return f"<ExportedPredictor {self.saved_model.path}: {signatures}>"

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the exported predictor; () for an export that tfmrc did not write."""
        return tuple(Task(**task) for task in self.saved_model.card.get("tasks") or ())

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(
            "The predictor of an export holds graphs and lookup tables, which cannot be copied or "
            "pickled. Load it again, or in the other process, with `tfmrc.load(folder)`. "
            f"Received: folder={str(self.saved_model.path)!r}"
        )

    def run(self, signature: str, inputs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Returns the arrays of a signature.

        Args:
            signature: str. Its name, such as `"serving_default"`.
            inputs: dict. For each input the values, one per example.

        Raises:
            ValueError: If the signature or an input is unknown, or the graph refuses a value.
        """
        return self.saved_model.signature(signature)(inputs)

    def answer(
        self,
        *,
        question: str,
        passages: str | Sequence[str],
        style: str | None = None,
        **options: Any,
    ) -> Result:
        """Answers one question; see `tfmrc.Predictor.answer`.

        For an export of a user's own predictor, the result is a plain `Result` of its outputs
        `answer` and `probability`.

        Args:
            question: str. The question.
            passages: str or list of str. One or more passages. SAN reads each alone, and the most
                probable span is the answer; for DAANET they are joined.
            style: str or None. The answer style; None for the first one. Only exports of Masque
                have styles. Default: None.
            **options: None; those of the search are fixed when the model is exported.

        Raises:
            ValueError: If the export does not answer questions, or has no such style.
            TypeError: If an option is given.
        """
        _check_options(options)
        chosen = self._first_style if style is None else style
        query = answer_query(self._inputs, question, passages, chosen)
        return query.read(self.run(query.signature, query.inputs))

    def ask(
        self, *, passage: str, answer: str, answer_start: int | None = None, **options: Any
    ) -> GeneratedQuestion:
        """Generates a question about an answer; see `tfmrc.Predictor.ask`.

        Args:
            passage: str. The passage.
            answer: str. The answer to ask about.
            answer_start: int or None. Offset of its first character in the passage; None for its
                first occurrence. Default: None.
            **options: None; those of the search are fixed when the model is exported.

        Raises:
            ValueError: If the export does not ask, or the answer does not occur in the passage.
            TypeError: If an option is given.
        """
        _check_options(options)
        query = ask_query(self._inputs, passage, answer, answer_start)
        return query.read(self.run(query.signature, query.inputs))

    def generate_from_passage(self, passages: Iterable[str]) -> Iterator[list[GeneratedQuestion]]:
        """Generates questions about answer candidates of each passage.

        Args:
            passages: str or iterable of str. The passages.

        Yields:
            For each passage its candidates in their order, each with the best question.

        Raises:
            ValueError: If the export does not find answers.
        """
        check_finds_answers(self._inputs)
        for passage in stream_of_passages(passages):
            outputs = self.run("generate_from_passage", {"passage": [passage]})
            yield GeneratedQuestion.of_candidates(outputs, 0)

    @property
    def _inputs(self) -> dict[str, Any]:
        return {name: each.inputs for name, each in self.saved_model.signatures.items()}

    def _first_style(self) -> str:
        style = self.tasks[0].style if self.tasks else None
        if style is None:
            raise ValueError("This export needs a style. Received: style=None")
        return style


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        raise TypeError(
            "The options of an export are fixed in it, by `predictor.export(path, NAME=VALUE)`. "
            f"Received: {name}={value!r:.80}"
        )

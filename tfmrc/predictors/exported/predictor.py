"""A predictor of an export, without the model's code."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

from tfmrc.predictors.exported.queries import answer_query, ask_query, check_finds_answers
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.predictors.openvino import Runtime
from tfmrc.predictors.process import NotPickled
from tfmrc.predictors.results.generated import GeneratedText
from tfmrc.predictors.results.result import Result
from tfmrc.predictors.task import Task, stream_of_passages


class ExportedPredictor(NotPickled):
    """Answers and generates questions with an export of any `tfmrc.Predictor`.

    It needs TensorFlow and tensorflow-text. The options of the search are those of the export.

    Args:
        path: str or path. The folder of a version, or that of the versions (then the newest is
            taken).
        verify: bool. Whether every file is compared with its digest first. Default: True.
        runtime: str. What computes it: "tensorflow"; "openvino", if it was exported for it
            (`tfmrc.Predictor.export`); or "auto", as of `tfmrc.load`. Default: "auto".

    Raises:
        FileNotFoundError: If the folder is not an export.
        ValueError: If it is damaged, was written by an earlier tfmrc, or not for OpenVINO.
    """

    def __init__(
        self, path: str | PathLike[str], *, verify: bool = True, runtime: Runtime = "auto"
    ):
        self.saved_model = SavedModel(path, verify=verify, runtime=runtime)

    def __repr__(self) -> str:
        signatures = ", ".join(self.saved_model.signatures)
        return f"<ExportedPredictor {self.saved_model.path}: {signatures}>"

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the exported predictor; () for an export that tfmrc did not write."""
        return tuple(Task(**task) for task in self.saved_model.card.get("tasks") or ())

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

        Args:
            question: str. The question.
            passages: str or list of str. The passages to answer from.
            style: str or None. The answer style; None for the first one. Default: None.
            **options: None; those of the search are fixed when the model is exported.

        Raises:
            ValueError: If the export does not answer questions, or has no such style.
            TypeError: If an option is given.
        """
        self.options(**options)
        chosen = self._first_style if style is None else style
        query = answer_query(self._inputs, question, passages, chosen)
        result: Result = query.read(self.run(query.signature, query.inputs))
        return result

    def ask(
        self, *, passage: str, answer: str, answer_start: int | None = None, **options: Any
    ) -> GeneratedText:
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
        self.options(**options)
        query = ask_query(self._inputs, passage, answer, answer_start)
        result: GeneratedText = query.read(self.run(query.signature, query.inputs))
        return result

    def generate_from_passage(self, passages: Iterable[str]) -> Iterator[list[GeneratedText]]:
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
            yield GeneratedText.of_candidates(outputs, 0)

    def options(self, **options: Any) -> None:
        """Raises a TypeError for any option."""
        if options:
            raise TypeError(
                "The options of an export are fixed in it, by `predictor.export(path, NAME=VALUE)` "
                f"or `tfmrc export --option NAME=VALUE`. Received: {', '.join(options)}"
            )

    @property
    def _inputs(self) -> dict[str, Any]:
        return {name: each.inputs for name, each in self.saved_model.signatures.items()}

    def _first_style(self) -> str:
        return (self.tasks[0].style if self.tasks else None) or ""  # the graph names its styles

"""What callers need of a predictor, whether it has a model or is an export."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tfmrc.predictors.results.result import Result
from tfmrc.predictors.task import Task


class PredictorLike(Protocol):
    """A `tfmrc.Predictor` or a `tfmrc.predictors.ExportedPredictor`, as `tfmrc.load` returns it.

    What predicts in batches, is calibrated, saved or exported is a `tfmrc.Predictor`.
    """

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks; the first one is the default."""

    def answer(
        self,
        *,
        question: str,
        passages: str | Sequence[str],
        style: str | None = None,
        **options: Any,
    ) -> Result:
        """Answers one question; see `tfmrc.Predictor.answer`."""

    def ask(
        self, *, passage: str, answer: str, answer_start: int | None = None, **options: Any
    ) -> Result:
        """Generates a question about an answer; see `tfmrc.Predictor.ask`."""

    def options(self, **options: Any) -> Any:
        """Checks options by their names and values; an export has none."""

    def run(self, signature: str, inputs: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Returns the arrays of a signature, such as `"serving_default"`."""


def check_members(part: object, protocol: type, caller: str) -> None:
    """Raises a TypeError if a part of a predictor lacks members of a protocol.

    Args:
        part: The model or the preprocessor.
        protocol: class. A `typing.Protocol`.
        caller: str. Name of the class that calls these members.

    Raises:
        TypeError: If members are missing; the message names them.

    Example:

    >>> from tfmrc.models.protocols import ReaderModel
    >>> check_members("a model", ReaderModel, "MyPredictor")
    Traceback (most recent call last):
    ...
    TypeError: str has no `scores`, which MyPredictor calls: see tfmrc.models.protocols.ReaderModel.
    """
    names = {
        name: None
        for base in reversed(protocol.__mro__)
        for name in (*vars(base).get("__annotations__", ()), *vars(base))
        if not name.startswith("_")
    }
    missing = [f"`{name}`" for name in names if not hasattr(part, name)]
    if missing:
        raise TypeError(
            f"{type(part).__name__} has no {', '.join(missing)}, which {caller} calls: see "
            f"{protocol.__module__}.{protocol.__name__}."
        )

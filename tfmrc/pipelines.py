"""`tfmrc.pipeline`: a task and a model as one function."""

from os import PathLike
from typing import Any

from tfmrc.arguments import nearest

__all__ = ["pipeline"]

TASKS = ("question-answering",)


def pipeline(task: str, model: Any = None, dtype: Any = None, **options: Any) -> Any:
    """Returns a function that answers questions, as the removed pipeline of transformers.

    Args:
        task: str. "question-answering".
        model: str, path or predictor. What `tfmrc.load` loads (a folder of Hugging Face,
            `hf://owner/name`, a saved predictor, a run, an export), or its result.
        dtype: Keras dtype or policy of a reader of Hugging Face, such as "bfloat16" (`tfmrc.load`).
            Default: None.
        **options: `legacy` and the options of `tfmrc.predictors.QuestionAnsweringPipeline`.

    Returns:
        A `tfmrc.predictors.QuestionAnsweringPipeline`.

    Raises:
        ValueError: The task is unknown, there is no model, or `dtype` is given for another model
            than a reader of Hugging Face.
        FileNotFoundError: The folder does not exist.

    Example:

    >>> import tfmrc
    >>> tfmrc.pipeline("question-answring")
    Traceback (most recent call last):
    ...
    ValueError: The task must be 'question-answering'; did you mean 'question-answering'? \
Received: task='question-answring'
    """
    from tfmrc.loading import load
    from tfmrc.predictors import QuestionAnsweringPipeline

    if task not in TASKS:
        similar = nearest(task, TASKS)
        hint = f"; did you mean {similar!r}?" if similar else "."
        raise ValueError(
            f"The task must be {', '.join(map(repr, TASKS))}{hint} Received: task={task!r}"
        )
    if model is None:
        raise ValueError("A pipeline needs a model; there is no default one. Received: model=None")
    if isinstance(model, str | PathLike):
        model = load(model, dtype=dtype)
    elif dtype is not None:
        raise ValueError(
            "`dtype` is for a folder that is loaded; a predictor has its own. "
            f"Received: dtype={dtype!r}, model={model!r:.60}"
        )
    return QuestionAnsweringPipeline(model, **options)

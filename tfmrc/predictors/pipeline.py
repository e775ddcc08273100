"""`tfmrc.pipeline`: a task and a model as one function."""

from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfmrc.predictors import QuestionAnsweringPipeline
    from tfmrc.predictors.protocols import PredictorLike

__all__ = ["pipeline"]


def pipeline(
    task: str,
    model: "str | PathLike[str] | PredictorLike" = "ready",
    dtype: Any = None,
    **options: Any,
) -> "QuestionAnsweringPipeline":
    """Returns a function that answers questions, as the removed pipeline of transformers.

    Args:
        task: str. "question-answering".
        model: str, path or predictor. What `tfmrc.load` loads (a folder of Hugging Face,
            `hf://owner/name`, a saved predictor, a run, an export), or its result. Default:
            "ready", the reader of English that comes with tfmrc.
        dtype: Keras dtype or policy of a reader of Hugging Face, such as "bfloat16" (`tfmrc.load`).
            Default: None.
        **options: The options of `tfmrc.predictors.QuestionAnsweringPipeline`. Arguments of
            transformers that say what holds here anyway have no effect: `tokenizer=model`,
            `device=-1` or `"cpu"`, `framework="tf"`.

    Returns:
        A `tfmrc.predictors.QuestionAnsweringPipeline`.

    Raises:
        TypeError: An option is unknown, or an argument of transformers asks for something else.
        ValueError: The task is unknown, or `dtype` is given for a folder of another model than
            a reader of Hugging Face.
        FileNotFoundError: The folder does not exist.

    Example:

    >>> import tfmrc
    >>> tfmrc.pipeline("question-answring", "runs/hills")
    Traceback (most recent call last):
    ...
    ValueError: The task must be 'question-answering'. Received: task='question-answring'
    """
    from tfmrc.predictors import QuestionAnsweringPipeline
    from tfmrc.predictors.load import load

    if task != "question-answering":
        raise ValueError(f"The task must be 'question-answering'. Received: task={task!r}")
    # Arguments of transformers.pipeline that would change something if they said anything else.
    usual = {"device": ("-1", "cpu"), "framework": ("tf",), "tokenizer": (str(model),)}
    for name, values in usual.items():
        if str(options.get(name)) in ("None", *values):
            options.pop(name, None)  # any other value is refused below
    predictor = load(model, dtype=dtype) if isinstance(model, str | PathLike) else model
    return QuestionAnsweringPipeline(predictor, **options)

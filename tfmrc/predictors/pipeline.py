"""`tfmrc.pipeline`: a task and a model as one function."""

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from tfmrc.utils.arguments import nearest

__all__ = ["pipeline"]

TASKS = ("question-answering",)
DEVICE = (
    "TensorFlow selects the device itself, and CUDA_VISIBLE_DEVICES selects the GPUs that it sees"
)
# Arguments of transformers.pipeline that would change something, and what does so here.
ELSEWHERE = {
    "device": f"{DEVICE}. Expected: device=-1 or device='cpu', or nothing",
    "device_map": DEVICE,
    "framework": "Models compute with TensorFlow. Expected: framework='tf', or nothing",
    "revision": "A revision is a part of the model's name: hf://owner/name@revision",
    "tokenizer": "The tokenizer is that of the model. Expected: tokenizer=model, or nothing",
    "torch_dtype": "The precision is `dtype`, such as dtype='bfloat16'",
}


def pipeline(task: str, model: Any, dtype: Any = None, **options: Any) -> Any:
    """Returns a function that answers questions, as the removed pipeline of transformers.

    Args:
        task: str. "question-answering".
        model: str, path or predictor. What `tfmrc.load` loads (a folder of Hugging Face,
            `hf://owner/name`, a saved predictor, a run, an export), or its result.
        dtype: Keras dtype or policy of a reader of Hugging Face, such as "bfloat16" (`tfmrc.load`).
            Default: None.
        **options: The options of `tfmrc.predictors.QuestionAnsweringPipeline`. Arguments of
            transformers that say what holds here anyway have no effect: `tokenizer=model`,
            `device=-1` or `"cpu"`, `framework="tf"`.

    Returns:
        A `tfmrc.predictors.QuestionAnsweringPipeline`.

    Raises:
        TypeError: An option is unknown.
        ValueError: The task is unknown, `dtype` is given for another model than
            a reader of Hugging Face, or an argument of transformers asks for something else.
        FileNotFoundError: The folder does not exist.

    Example:

    >>> import tfmrc
    >>> tfmrc.pipeline("question-answring", "runs/hills")
    Traceback (most recent call last):
    ...
    ValueError: The task must be 'question-answering'; did you mean 'question-answering'? \
Received: task='question-answring'
    """
    from tfmrc.predictors import QuestionAnsweringPipeline
    from tfmrc.predictors.load import load

    if task not in TASKS:
        similar = nearest(task, TASKS)
        hint = f"; did you mean {similar!r}?" if similar else "."
        raise ValueError(
            f"The task must be {', '.join(map(repr, TASKS))}{hint} Received: task={task!r}"
        )
    options = _without_usual(options, model)
    if isinstance(model, str | PathLike):
        model = load(model, dtype=dtype)
    elif dtype is not None:
        raise ValueError(
            "`dtype` is for a folder that is loaded; a predictor has its own. "
            f"Received: dtype={dtype!r}, model={model!r:.60}"
        )
    return QuestionAnsweringPipeline(model, **options)


def _without_usual(options: dict[str, Any], model: Any) -> dict[str, Any]:
    """Returns the options without arguments of transformers that say what holds anyway.

    Raises:
        ValueError: One says something else.
    """
    rest = {}
    for name, value in options.items():
        if name not in ELSEWHERE:
            rest[name] = value
        elif value is not None and not _is_usual(name, value, model):
            raise ValueError(f"{ELSEWHERE[name]}. Received: {name}={value!r:.80}")
    return rest


def _is_usual(name: str, value: Any, model: Any) -> bool:
    if name == "device":
        return str(value) in ("-1", "cpu")
    if name == "framework":
        return bool(value == "tf")
    if name == "tokenizer" and all(isinstance(each, str | PathLike) for each in (value, model)):
        names = [fspath(each).removeprefix("hf://") for each in (value, model)]
        return names[0] == names[1] or Path(names[0]).resolve() == Path(names[1]).resolve()
    return False

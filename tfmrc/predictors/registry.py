"""Registry of the predictor classes."""

from typing import Any

__all__ = ["find_predictor_class"]

_CLASSES: list[Any] = []


def declare(predictor_class: Any) -> None:
    """Registers a predictor class if it declares its own preprocessor or model."""
    if {"preprocessor_class", "model_class"} & set(vars(predictor_class)):
        _CLASSES.append(predictor_class)


def find_predictor_class(
    model_class: type | None = None, preprocessor_class: type | None = None
) -> Any:
    """Returns the predictor class for a model class, a preprocessor class or both.

    Subclasses of a declared class are included. The most specific declaration is used, and among
    equal ones the latest.

    Args:
        model_class: A subclass of `tfmrc.models.Model`, or None. Default: None.
        preprocessor_class: A subclass of `tfmrc.preprocessing.Preprocessor`, or None.
            Default: None.

    Returns:
        A subclass of `tfmrc.predictors.Predictor`. Its `model_class` and `preprocessor_class` are
        those that it declares.

    Raises:
        ValueError: If no predictor is declared for them, or the model is another paper's than the
            preprocessor.

    Example:

    >>> from tfmrc import models, predictors
    >>> predictors.find_predictor_class(models.SAN).preprocessor_class.__name__
    'SANPreprocessor'
    """
    import tfmrc.predictors as room

    for name in dir(room):  # importing the papers' files declares their classes
        getattr(room, name)
    ranked = []
    for number, each in enumerate(_CLASSES):
        model_distance = _distance(model_class, getattr(each, "model_class", None))
        distance = _distance(preprocessor_class, getattr(each, "preprocessor_class", None))
        fits = distance is not None if preprocessor_class else model_distance is not None
        if fits:
            far = len(getattr(model_class, "__mro__", ())) + 1
            model_distance = far if model_distance is None else model_distance
            ranked.append((distance or 0, model_distance, -number, each))
    if not ranked:
        names = [c.__name__ for c in (model_class, preprocessor_class) if c is not None]
        raise ValueError(
            "No predictor is declared for these classes. Define a subclass of "
            "`tfmrc.predictors.Predictor` with `model_class` and `preprocessor_class`, and import "
            f"it. Received: {', '.join(names) or None}"
        )
    found = min(ranked)[-1]
    if model_class is not None and _distance(model_class, found.model_class) is None:
        own = [c for c in _CLASSES if _distance(model_class, getattr(c, "model_class", None)) == 0]
        if own:
            raise ValueError(
                f"{model_class.__name__} needs a {own[-1].preprocessor_class.__name__}. Received: "
                f"{preprocessor_class.__name__ if preprocessor_class else None}"
            )
    return found


def _distance(cls: type | None, declared: type | None) -> int | None:
    """Returns the number of steps from `cls` up to the declared class; None if it is no base."""
    if cls is None or declared is None or declared not in cls.__mro__:
        return None
    return cls.__mro__.index(declared)

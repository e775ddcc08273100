"""Registry of the predictor classes."""

from typing import Any

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
    found = _CLASSES
    if preprocessor_class is not None:
        found = _nearest(preprocessor_class, "preprocessor_class", found)
    if model_class is not None:
        of_model = _nearest(model_class, "model_class", found)
        others = [kind for kind in _CLASSES if getattr(kind, "model_class", None) is model_class]
        if preprocessor_class is not None and others and not of_model:
            raise ValueError(
                f"{model_class.__name__} needs a {others[-1].preprocessor_class.__name__}. "
                f"Received: {preprocessor_class.__name__}"
            )
        found = of_model or (found if preprocessor_class is not None else [])
    if not found:
        names = [c.__name__ for c in (model_class, preprocessor_class) if c is not None]
        raise ValueError(
            "No predictor is declared for these classes. Define a subclass of "
            "`tfmrc.predictors.Predictor` with `model_class` and `preprocessor_class`, and import "
            f"it. Received: {', '.join(names) or None}"
        )
    return found[-1]


def _nearest(cls: type, attribute: str, classes: list[Any]) -> list[Any]:
    """Returns the predictor classes that declare a class, or else its nearest declared base."""
    for base in cls.__mro__:
        if found := [kind for kind in classes if getattr(kind, attribute, None) is base]:
            return found
    return []

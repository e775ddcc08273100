"""Training with a teacher."""

from typing import Any

from tfmrc.experiments.plan import Plan

__all__ = ["with_teacher"]


def with_teacher(plan: Plan, model: Any, preprocessor: Any) -> Any:
    """Returns the model to fit: with a teacher, one that shares the weights of `model`.

    Args:
        plan: `Plan`. The run.
        model: `keras.Model`. The model to train.
        preprocessor: Its preprocessor.

    Raises:
        ValueError: The teacher cannot be loaded, finds no spans, or reads other ids for a text.
    """
    settings = plan.experiment.training
    if settings.teacher is None:
        return model
    import tfmrc
    from tfmrc import training
    from tfmrc.predictors.spans.ensemble import check_same_words

    try:
        teacher = tfmrc.load(settings.teacher)
        check_same_words(preprocessor, teacher.preprocessor, windows=False)
        return training.Distillation(
            student=model,
            teacher=teacher.model,
            weight=settings.teacher_weight,
            temperature=settings.temperature,
        )
    except (ValueError, AttributeError, FileNotFoundError) as error:
        raise ValueError(f"training.teacher={settings.teacher!r}: {error}") from error

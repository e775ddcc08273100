"""What a run trains: its preprocessor and its model, built or loaded, and compiled."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import keras

import tfmrc
from tfmrc import encoders, training
from tfmrc.experiments.building.model import (
    build_contextual,
    build_encoder,
    build_model,
    build_preprocessor,
    compile_arguments,
)
from tfmrc.experiments.building.start import load_start
from tfmrc.experiments.examples.sources import Splits
from tfmrc.experiments.examples.tags import Tags
from tfmrc.experiments.plan import Plan
from tfmrc.models.freezing import set_trainable_flags
from tfmrc.ops.ids import NUM_SPECIAL
from tfmrc.predictors.calibration import Calibration
from tfmrc.predictors.spans.ensemble import check_same_words
from tfmrc.preprocessing.base import Preprocessor
from tfmrc.text import Vocabulary


@dataclass(frozen=True)
class Parts:
    """What a run trains.

    Attributes:
        preprocessor: The preprocessor.
        model: The model, with its first weights.
        annotate: Function that computes the tags that the preprocessor reads, or None.
        tagger: Function that computes those of new texts, or None.
        earlier: Outputs of the model that were trained before this run, or None.
        calibration: That of the model that training starts from, or None.
        facts: dict. Facts for `training.json`.
    """

    preprocessor: Preprocessor
    model: keras.Model
    annotate: Callable[..., Any] | None
    tagger: Callable[..., Any] | None
    earlier: list[str] | None
    calibration: Calibration | None
    facts: dict[str, Any]


def build_parts(
    plan: Plan, vocabulary: Vocabulary, tags: Tags | None, sources: Sequence[Splits]
) -> Parts:
    """Builds preprocessor and model, or loads those that training starts from.

    Args:
        plan: `Plan`. The run.
        vocabulary: `tfmrc.text.Vocabulary`. The words of the training examples.
        tags: `Tags` or None. The tags of their words, if the model reads tags.
        sources: list of `Splits`. The examples.

    Raises:
        ValueError: If a part cannot be loaded, or an argument has an invalid value.
    """
    facts: dict[str, Any] = {"variant": plan.variant, "seed": plan.seed}
    arguments: dict[str, Any] = {}
    if tags is not None:
        for part in sources:  # none is missing, unless the file was cut or removed
            tags.add(part.train)
            tags.add(part.validation)
        known = tags.preprocessor_arguments(e for part in sources for e in part.train)
        arguments = plan.classes.tag_arguments(known)
    tagger = None if tags is None else tags.name
    start, earlier = load_start(plan, tagger), None
    if start is not None:
        preprocessor, model = start.preprocessor, start.model
        names = list(model.output) if isinstance(model.output, dict) else []
        earlier = model.trained_outputs or names
        facts["started_from"] = str(plan.experiment.start_from)
    else:
        encoder, contextual = build_encoder(plan), build_contextual(plan)
        if encoder is not None:
            arguments["encoder"] = encoder
        if getattr(contextual, "reads", None) == "characters":
            arguments["characters"] = True
        preprocessor = build_preprocessor(plan, vocabulary, arguments)
        model = build_model(plan, preprocessor, tagger, encoder, contextual)
        settings, vectors = plan.experiment.vocabulary, None
        if settings.rows_from_encoder and encoder is not None:
            vectors = encoder.word_vectors(vocabulary.words[NUM_SPECIAL:])
        elif settings.vectors is not None:
            vectors = plan.data / settings.vectors
        if vectors is not None:
            if getattr(model, "word_embedding", None) is None:
                raise ValueError(
                    "The model has no word embedding, so it cannot take vectors. "
                    f"Received: vocabulary={settings}"
                )
            coverage = encoders.set_vectors(model.word_embedding, vocabulary, vectors)
            facts["words_with_a_vector"] = round(coverage.share, 4)
    annotate = None if tags is None else tags.cache.annotate(preprocessor.annotations)
    of_texts = None if tags is None else tags.cache.tagger_of(preprocessor.annotations)
    calibration = None if start is None else start.calibration
    return Parts(preprocessor, model, annotate, of_texts, earlier, calibration, facts)


def compile_model(plan: Plan, parts: Parts, steps: int, per_epoch: int) -> keras.Model:
    """Returns the model to fit, compiled: the run's own, or with a teacher one on its weights."""
    if frozen := plan.experiment.training.frozen:
        set_trainable_flags(parts.model, dict.fromkeys(frozen, False))
    model: keras.Model = _with_teacher(plan, parts.model, parts.preprocessor)
    model.compile(**compile_arguments(plan, parts.model, steps, per_epoch))
    return model


def _with_teacher(plan: Plan, model: keras.Model, preprocessor: Preprocessor) -> keras.Model:
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

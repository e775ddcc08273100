"""Builds the model, the preprocessor and the arguments of `compile` from settings."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import keras

from tfmrc.experiments.classes import RESERVED
from tfmrc.experiments.plan import Plan
from tfmrc.preprocessing.base import Preprocessor
from tfmrc.text import Vocabulary
from tfmrc.utils.arguments import parameters_of


@contextmanager
def _naming(setting: str) -> Iterator[None]:
    """Names the setting whose values a constructor refuses."""
    try:
        yield
    except (TypeError, ValueError, ImportError) as error:
        raise ValueError(f"{setting}: {error}") from error


def build_encoder(plan: Plan) -> keras.layers.Layer | None:
    """Builds the pretrained encoder of a run; None without one.

    Raises:
        ValueError: If an option does not exist, or the encoder cannot be loaded.
    """
    from tfmrc import encoders

    if not (options := plan.encoder):
        return None
    with _naming("encoder"):
        return encoders.from_preset(**options)


def build_contextual(plan: Plan) -> keras.layers.Layer | None:
    """Loads the contextual embedding of a run; None without one."""
    from tfmrc.encoders import load_cove, load_elmo

    settings = plan.experiment.contextual
    if not settings.files:
        return None
    load: Any = load_cove if settings.elmo is None else load_elmo
    name = "cove" if settings.elmo is None else "elmo"
    paths = [plan.data / file for file in settings.files]
    return load(*paths, name=name, dtype=plan.experiment.training.dtype)


def build_preprocessor(
    plan: Plan, vocabulary: Vocabulary, arguments: Mapping[str, Any]
) -> Preprocessor:
    """Builds the preprocessor of a run.

    Args:
        plan: `Plan`. The run.
        vocabulary: `tfmrc.text.Vocabulary`. The words.
        arguments: dict. Arguments determined by the data, such as the tags.

    Raises:
        ValueError: If an argument does not exist or has an invalid value.
    """
    experiment = plan.experiment
    arguments = {"styles": experiment.styles, **arguments, **experiment.preprocessor}
    with _naming("preprocessor"):
        return plan.classes.preprocessor(vocabulary, **arguments)


def build_model(
    plan: Plan,
    preprocessor: Preprocessor,
    tagger: str | None = None,
    encoder: keras.layers.Layer | None = None,
    contextual: keras.layers.Layer | None = None,
) -> keras.Model:
    """Builds the model of a run with the preprocessor's sizes.

    Args:
        plan: `Plan`. The run.
        preprocessor: The preprocessor, which determines the sizes.
        tagger: str or None. Name and version of the tagger whose tags the model reads.
            Default: None.
        encoder: A pretrained encoder, or None. Default: None.
        contextual: A contextual embedding, or None. Default: None.

    Raises:
        ValueError: If an argument is determined by the preprocessor, or has an invalid value.
    """
    from tfmrc import models

    experiment, model_class = plan.experiment, plan.classes.model
    given = {key: value for key, value in experiment.model.items() if key not in RESERVED}
    sizes = preprocessor.model_kwargs()
    if both := sorted(sizes.keys() & given.keys()):
        raise ValueError(
            f"The preprocessor determines `{both[0]}` of the model. "
            f"Received: model.{both[0]}={given[both[0]]!r}"
        )
    # Only what the class takes, in which a user's own may differ from the papers'.
    usual: dict[str, Any] = {"dtype": experiment.training.dtype, "seed": experiment.seed}
    if issubclass(model_class, (models.Masque, models.MaxoutPointerQG, models.DAANet)):
        del usual["seed"]  # their dropout draws from the seed of the run, as weights do
    if tagger is not None:
        usual["tagger"] = tagger
    parameters = parameters_of(model_class)
    arguments = {name: value for name, value in usual.items() if name in parameters}
    arguments |= {**sizes, **given}
    if encoder is not None:
        arguments["encoder"] = encoder
    if contextual is not None:
        arguments["contextual_embedding"] = contextual
    preset = experiment.model.get("preset")
    with _naming("model"):
        if preset is not None:
            return model_class.from_preset(preset, **arguments)
        return model_class(**arguments)


def compile_arguments(
    plan: Plan, model: keras.Model, steps: int, steps_per_epoch: int
) -> dict[str, Any]:
    """Returns the arguments of `compile`: the paper's training with the experiment's options.

    With `training.optimizer_of` the optimizer is that of another paper and the losses are the
    model's own.

    Raises:
        ValueError: If an encoder is trained with `training.optimizer_of`.
    """
    from tfmrc import training
    from tfmrc.training.base import training_function, with_loss_scale

    settings = plan.experiment.training
    sizes = {"steps": steps, "steps_per_epoch": steps_per_epoch}
    if settings.optimizer_of is None:
        return training.compile_arguments(model, **sizes, **settings.optimizer)
    encoder = getattr(model, "encoder", None)
    if encoder is not None and encoder.trainable_weights:
        raise ValueError(
            "`training.optimizer_of` cannot train an encoder. "
            f"Received: training.optimizer_of={settings.optimizer_of!r}"
        )
    function = training_function(plan.classes.optimizer)
    optimizer = function(model=None, **sizes, **settings.optimizer)["optimizer"]
    arguments = training.compile_arguments(model, **sizes)
    return {**arguments, "optimizer": with_loss_scale(optimizer, model)}

"""Training that starts from a trained model."""

from typing import Any

import keras
import numpy as np

from tfmrc.experiments.plan import Plan
from tfmrc.models.base import FLAGS
from tfmrc.models.freezing import set_trainable_flags, trainable_flags
from tfmrc.predictors.base import Predictor


def load_start(plan: Plan, tagger: str | None = None) -> Predictor[Any] | None:
    """Loads the predictor that training starts from; None without one.

    Args:
        plan: `Plan`. The run.
        tagger: str or None. Name and version of the experiment's tagger. Default: None.

    Raises:
        ValueError: If the predictor does not fit the experiment's model, styles or tagger, or
            the folder is damaged.
    """
    experiment, folder = plan.experiment, plan.start
    if folder is None:
        return None
    predictor = plan.classes.predictor.load(folder)
    model, styles = predictor.model, predictor.preprocessor.styles
    theirs_tagger = getattr(model, "tagger", tagger)
    for setting, ours, theirs, fits in (
        ("sources.styles", experiment.styles, styles, set(experiment.styles) <= set(styles)),
        ("tagger", tagger, theirs_tagger, tagger == theirs_tagger),
    ):
        if not fits:
            raise ValueError(
                f"`{setting}` must fit the model in {folder}, which has {theirs!r}. "
                f"Received: {setting}={ours!r}"
            )
    passages = experiment.preprocessor.get("num_passages")
    if passages is not None:
        predictor.preprocessor = predictor.preprocessor.changed(num_passages=passages)
    predictor.model = _adapted(model, experiment.seed, experiment.training.dtype, passages)
    _thaw(plan, predictor.model)
    return predictor


def _adapted(model: keras.Model, seed: int, dtype: str, passages: int | None) -> keras.Model:
    """Returns the model with another precision, number of passages and seed, where it has them."""
    before = model.get_config()
    config = before if model.dtype_policy.name == dtype else _with_dtype(before, dtype)
    if config.get("seed") is not None:
        config = {**config, "seed": seed}
    if passages is not None:
        config = {**config, "num_passages": passages}
    if config == before:
        return model
    copy = type(model).from_config(config)
    # Of further passages, the rows of Masque's classifier begin as those of the first ones.
    pairs = zip(copy.weights, model.get_weights(), strict=True)
    copy.set_weights([np.resize(value, weight.shape) for weight, value in pairs])
    copy.trained_outputs = model.trained_outputs
    return copy


def _with_dtype(config: Any, dtype: str) -> Any:
    """Returns a configuration of layers with another precision."""
    if isinstance(config, list):
        return [_with_dtype(item, dtype) for item in config]
    if not isinstance(config, dict):
        return config
    if config.get("class_name") == "DTypePolicy":
        return dtype
    return {name: _with_dtype(value, dtype) for name, value in config.items()}


def _thaw(plan: Plan, model: keras.Model) -> None:
    """Trains the layers that were frozen before, but for those that the model's arguments freeze.

    `training.frozen` of this experiment alone decides, so that a head can be trained first and
    everything after it.
    """
    config = model.get_config()
    before = config.pop(FLAGS, {})
    if not before:
        return
    initial = trainable_flags(type(model).from_config(config))
    set_trainable_flags(model, {**dict.fromkeys(before, True), **initial})
    thawed = sorted(set(before) - set(initial) - set(plan.experiment.training.frozen))
    if thawed:
        print(
            f"The layers {', '.join(thawed)} of the model in {plan.experiment.start_from} were "
            "frozen and are trained now; `training.frozen` names those that stay.",
            flush=True,
        )

"""Private names of Keras that this library needs, gathered in one file.

Each function wraps one private name. `tests/utils/test_keras_private.py` has a test of each, which
fails if a new version of Keras renames or changes it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import keras
from keras.optimizers import Optimizer


def symbolic_build(model: keras.Model, data_batch: Any) -> None:
    """Creates the variables of a compiled model's optimizer, losses and metrics.

    Keras traces the whole model for its outputs. Those of a functional model are known, and its
    losses need no more; only metrics of the user's are left to Keras.

    Args:
        model: A compiled `keras.Model`.
        data_batch: A batch, or its specification, as `model.fit` takes it.
    """
    metrics = model._compile_metrics
    if (metrics is not None and not metrics.built) or not build_loss(model, data_batch):
        model._symbolic_build(data_batch=data_batch)
    elif not model.optimizer.built:
        model.optimizer.build(model.trainable_variables)


def build_loss(model: keras.Model, data_batch: Any) -> bool:
    """Creates the variables of the losses of a compiled functional model; other models have none.

    Args:
        model: A compiled `keras.Model`.
        data_batch: A batch, or its specification, as `model.fit` takes it.

    Returns:
        Whether the model is functional and has losses, and the batch has labels.
    """
    outputs, loss = getattr(model, "_outputs_struct", None), model._compile_loss
    _, targets, _ = keras.utils.unpack_x_y_sample_weight(data_batch)
    if outputs is None or loss is None or targets is None:
        return False
    if not loss.built:
        symbolic = keras.tree.map_structure(
            lambda x: keras.KerasTensor(x.shape, keras.backend.standardize_dtype(x.dtype)), targets
        )
        loss.build(symbolic, outputs)
    return True


def built_without_drawing(build: Callable[[], keras.Model]) -> keras.Model:
    """Builds a model with zeros as weights, where a file has their values.

    Drawing random weights takes more time than reading them.

    Args:
        build: callable. Returns the model.
    """
    with keras.StatelessScope():  # which makes the variables at its end
        model = build()
        for weight in model.weights:
            weight._initializer = keras.initializers.Zeros()
        # TensorFlow would never compute gradients of a variable that is frozen when it is made.
        frozen = [w for w in model.weights if not w.trainable and "float" in w.dtype]
        for weight in frozen:
            weight.trainable = True
    for weight in frozen:
        weight.trainable = False
    return model


def sync_state(model: keras.Model) -> None:
    """Writes the state of a running `fit` to the model's variables; JAX keeps the two apart."""
    if hasattr(model, "jax_state_sync"):
        model.jax_state_sync()


def trained_values(model: keras.Model) -> list[Any]:
    """Returns the values of the trained weights, also within a running `fit` on JAX."""
    state = getattr(model, "_jax_state", None)
    if state and not model._jax_state_synced:
        return list(state["trainable_variables"])
    return [variable.value for variable in model.trainable_variables]


def outputs_with_loss(model: keras.Model) -> list[str] | None:
    """Returns the names of the outputs for which `compile` got a loss; None if it names none.

    An output whose loss has the weight 0 is none of them.
    """
    given = getattr(model._compile_loss, "_user_loss", None)
    if not isinstance(given, dict):
        return None
    weights = model._compile_loss._user_loss_weights
    weights = weights if isinstance(weights, dict) else {}
    return [name for name, loss in given.items() if loss is not None and weights.get(name) != 0]


def initial_epoch(model: keras.Model) -> int | None:
    """Returns the epoch that `model.fit` starts with, or `None` if it is not overridden."""
    return model._initial_epoch


def set_initial_epoch(model: keras.Model, epoch: int | None) -> None:
    """Sets the first epoch of `model.fit`, also of a running one; `None` resets it.

    Keras' own `BackupAndRestore` uses the same attribute.
    """
    model._initial_epoch = epoch


def optimizer_variables(optimizer: Optimizer) -> list[Any]:
    """Returns the variables that a built optimizer updates, in its order."""
    return list(optimizer._trainable_variables)


def index_of(optimizer: Optimizer, variable: keras.Variable) -> int:
    """Returns the index of a variable, as it is given to an update, in a built optimizer."""
    return int(optimizer._get_variable_index(variable))


def known_variable(optimizer: Optimizer, variable: keras.Variable) -> keras.Variable:
    """Returns the variable of a built optimizer that corresponds to one in an update.

    In an update on TensorFlow a variable can be the backend's own, which has no Keras path.
    """
    return optimizer._trainable_variables[index_of(optimizer, variable)]


def ema_variables(optimizer: Optimizer) -> list[Any]:
    """Returns the moving averages of an optimizer with `use_ema`, in the order of its variables."""
    return list(optimizer._model_variables_moving_average)


def is_update(optimizer: Optimizer) -> Any:
    """Returns whether an optimizer that accumulates gradients updates with this batch: boolean."""
    return (optimizer._iterations + 1) % optimizer.gradient_accumulation_steps == 0


def uses_weight_decay(optimizer: Optimizer, variable: keras.Variable) -> bool:
    """Returns True if an optimizer's weight decay applies to a variable."""
    return bool(optimizer._use_weight_decay(variable))


def all_sublayers(layer: keras.Layer) -> list[Any]:
    """Returns a layer and all layers in it, at any depth."""
    return list(layer._flatten_layers())


def automatic_name(class_name: str) -> str:
    """Returns the name that Keras gives the first layer of a class without a name of its own."""
    from keras.src.utils.naming import to_snake_case

    return str(to_snake_case(class_name))


def seed_generators(layer: keras.Layer) -> list[Any]:
    """Returns the seed generators of a layer and of all layers in it, in a fixed order."""
    return [generator for part in all_sublayers(layer) for generator in part._seed_generators]


def sublayers(layer: keras.Layer) -> Iterator[Any]:
    """Yields the layers that a layer or model holds directly, each once, in a fixed order."""
    yield from layer._flatten_layers(include_self=False, recursive=False)

"""Base class of all models: arguments, configuration, freezing, presets, replaceable parts."""

import functools
import inspect
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Literal, Self, get_args, get_origin

import keras
import numpy as np
from keras import ops

from tfmrc.layers.recording import recording, symbols_found
from tfmrc.layers.regularization.dropout import seed_dropout
from tfmrc.losses import SequenceNLL
from tfmrc.models.configuration import deserialized, holds_layers, serialized
from tfmrc.models.folder import load_model
from tfmrc.models.freezing import set_trainable_flags, trainable_flags
from tfmrc.models.prediction import predict_dataset
from tfmrc.models.presets import Preset
from tfmrc.models.replaced import check_replaced
from tfmrc.ops.typing import Tensor
from tfmrc.utils import keras_private
from tfmrc.utils.arguments import check_arguments, suggestion
from tfmrc.utils.files import user_path

FLAGS = "trainable_flags"  # in a configuration: which layers are frozen
TRAINED = "trained_outputs.json"
Step = Callable[..., Any]  # a function of Keras that trains or evaluates on batches


class _Presets:
    """Descriptor of `Model.presets`, which also works on a class."""

    def __get__(self, model: Any, owner: type["Model"]) -> dict[str, str]:
        return {name: preset.description for name, (_, preset) in owner._known_presets().items()}


@keras.saving.register_keras_serializable(package="tfmrc")
class Model(keras.Model):
    """A functional Keras model whose arguments are captured, checked and saved by this base class.

    A subclass defines `__init__` with keyword-only arguments of plain values or Keras objects,
    creates its layers and calls `super().__init__(inputs=inputs, outputs=outputs, name=name)`. The
    base class provides the rest:

    - An unknown argument is an error that names the nearest known one. A value that is not among
      the `Literal` choices of an argument is an error that lists them.
    - `self.arguments` has all values, from the first line of `__init__` on; `arguments.dtype` is
      the policy, which the model gets.
    - `get_config` and `from_config` need no code; they make a copy without the weights, unlike
      `keras.models.clone_model`, which returns a plain functional model whose weights are in
      another order. Layers among the arguments, such as a contextual embedding, are saved as Keras
      saves them.
    - `trainable` of every layer is saved by `get_config`, `.keras` files and predictor folders;
      `trained_outputs` by the latter two, and by copies and pickles.
    - Each part of the model is created by a method `build_*`, which a registered subclass can
      override. A `build_*` method of another name is an error that names the nearest one. Assigning
      a layer to a finished model is an error, because the graph would not use it.

    A subclass must be registered with `keras.saving.register_keras_serializable` to be loaded.

    Example:
        >>> import keras
        >>> from tfmrc.models import SAN
        >>> @keras.saving.register_keras_serializable(package="mine")
        ... class NarrowSAN(SAN):
        ...     def __init__(self, *, width=4, **kwargs):
        ...         super().__init__(units=width, align_dim=width, **kwargs)
        >>> model = NarrowSAN(vocabulary_size=9, word_dim=4, width=2)
        >>> model.arguments.units, model.get_config()["width"], "units" in model.get_config()
        (2, 2, False)
        >>> NarrowSAN(vocabulary_size=9, word_dimm=4)
        Traceback (most recent call last):
        ...
        TypeError: NarrowSAN has no argument `word_dimm`; did you mean `word_dim`? \
Received: word_dimm=4
    """

    PRESETS: ClassVar[Mapping[str, Preset]] = {}
    """Presets of this class; a subclass also has those of its base classes."""

    presets = _Presets()
    """Descriptions of the presets of `from_preset`, by name."""

    PENALTIES: ClassVar[Sequence[str]] = ()
    """Outputs that only add to the loss: they have no weights of their own and give no results."""

    ATTENTION: ClassVar[Mapping[str, tuple[str, str, str]]] = {}
    """For each name of `attention` what `tfmrc.layers.recording` calls it, and the inputs whose
    words its rows and columns stand for."""

    intermediate_tensors: Mapping[str, Tensor]
    """Symbolic tensors within the model by name, such as `passage_embedding`: parts of a
    `keras.Model(model.inputs, {**model.output, **model.intermediate_tensors})`."""

    arguments: SimpleNamespace
    """Values of all arguments of the constructor, including those that a subclass sets."""

    trained_outputs: tuple[str, ...] | None = None
    """Names of the outputs that had a loss and a label in `fit` so far; None before."""

    _captured: SimpleNamespace  # arguments of `get_config`; not a dict, because Keras tracks dicts
    train_function: Any
    test_function: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _check_methods(cls)
        if "__init__" in cls.__dict__:
            cls.__init__ = _capturing(cls.__init__)  # type: ignore[method-assign]

    def __init__(self, *args: Any, **given: Any) -> None:
        if isinstance(given.get("outputs"), dict):
            given["outputs"] = {**given["outputs"], **self.build_outputs(symbols_found())}
        super().__init__(*args, **given)
        if "arguments" in self.__dict__:
            self.dtype_policy = self.arguments.dtype
        object.__setattr__(self, "_impossible", _Impossible("impossible_targets"))

    def build_outputs(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Returns further outputs by name; a subclass with further outputs overrides it.

        Args:
            tensors: dict. The `intermediate_tensors`.

        Example:
            >>> import keras
            >>> from tfmrc.models import SAN
            >>> @keras.saving.register_keras_serializable(package="mine")
            ... class TopicSAN(SAN):
            ...     def build_outputs(self, tensors):
            ...         mean = keras.ops.mean(tensors["question_embedding"], axis=1)
            ...         return {"topic": keras.layers.Dense(3, name="topic")(mean)}
            >>> model = TopicSAN(vocabulary_size=9, word_dim=4, units=4)
            >>> sorted(model.output)
            ['begin', 'end', 'topic']
        """
        return {}

    def __setattr__(self, name: str, value: Any) -> None:
        if self.__dict__.get("_is_complete") and (
            hasattr(type(self), f"build_{name}") or holds_layers(self.__dict__.get(name))
        ):
            method = f"build_{name}" if hasattr(type(self), f"build_{name}") else "build_*"
            raise AttributeError(
                f"`{name}` is part of the graph of a finished {type(self).__name__}, which would "
                f"not use the assigned one. Override its `{method}` in a subclass that is "
                "registered with `keras.saving.register_keras_serializable`, or give another "
                f"argument. Received: {name}={value!r:.80}"
            )
        super().__setattr__(name, value)

    # === Configuration ===

    def get_config(self) -> dict[str, Any]:
        """Returns all arguments of the constructor, and the trainable flags of the layers."""
        config = {name: serialized(value) for name, value in vars(self._captured).items()}
        current = {"name": self.name, "dtype": serialized(self.dtype_policy)}
        config |= {name: value for name, value in current.items() if name in config}
        flags = trainable_flags(self)
        return config | ({FLAGS: flags} if flags else {})

    @classmethod
    def from_config(cls, config: Mapping[str, Any], custom_objects: Any = None) -> Self:
        """Creates a model from the result of `get_config`."""
        arguments = dict(config)
        flags = arguments.pop(FLAGS, {})
        model = cls(**{n: deserialized(v, custom_objects) for n, v in arguments.items()})
        set_trainable_flags(model, flags)
        return model

    def save_assets(self, folder: str) -> None:
        """Writes `trained_outputs` for a `.keras` file, a copy or a pickle; Keras calls it."""
        if self.trained_outputs is not None:
            (Path(folder) / TRAINED).write_text(json.dumps(self.trained_outputs))

    def load_assets(self, folder: str) -> None:
        """Reads what `save_assets` wrote; files of a model that `fit` has not seen lack it."""
        path = Path(folder) / TRAINED
        if path.is_file():
            self.trained_outputs = tuple(json.loads(path.read_text()))

    # === Presets ===

    @classmethod
    def from_preset(cls, preset: str | PathLike[str], **overrides: Any) -> Self:
        """Creates a model from a preset's configuration, or loads it from a predictor's folder.

        Args:
            preset: str or path. A name of `presets` (a configuration without weights), or the path
                of a folder that `Predictor.save` wrote (with its weights).
            **overrides: Arguments of the constructor. With a name, the sizes that depend on the
                data are required: `preprocessor.model_kwargs()` returns them.

        Returns:
            The model, of the class that the preset or the folder names.

        Raises:
            ValueError: If there is neither such a preset nor such a folder, or the folder holds a
                model of another class.

        Example:
            >>> from tfmrc.models import Masque
            >>> model = Masque.from_preset("masque_demo", vocabulary_size=20, num_styles=1,
            ...                            num_passages=2, num_decoder_blocks=1)
            >>> model.arguments.hidden_dim, model.arguments.num_decoder_blocks
            (64, 1)
        """
        known = cls._known_presets()
        name = fspath(preset)
        if name in known:
            owner, configuration = known[name]
            return owner(**{**configuration.arguments, **overrides})
        if user_path(preset).is_dir():
            return load_model(preset, cls, **overrides)
        raise ValueError(
            f"{cls.__name__} has no preset of this name, and there is no folder of this path"
            f"{suggestion(name, known)} The presets are {', '.join(known)}. "
            f"Received: preset={name!r}"
        )

    @classmethod
    def _known_presets(cls) -> dict[str, tuple[type[Self], Preset]]:
        """Returns the presets of a class, its base classes and its subclasses, with the class."""
        presets: dict[str, tuple[type[Self], Preset]] = {}
        for base in cls.__mro__:
            presets = {n: (cls, p) for n, p in vars(base).get("PRESETS", {}).items()} | presets
        subclasses = cls.__subclasses__()
        for subclass in subclasses:
            subclasses += subclass.__subclasses__()
            own = vars(subclass).get("PRESETS", {})
            presets = {n: (subclass, p) for n, p in own.items()} | presets
        return presets

    # === Calling ===

    def call(self, inputs, training=None, mask=None, **kwargs):
        """Computes the outputs.

        Raises:
            ValueError: If `inputs` has a name that the model does not have, which Keras would
                assign by position.
        """
        if isinstance(inputs, Mapping):
            known = [x.name for x in self.inputs]
            unknown = [name for name in inputs if name not in known]
            if unknown:
                raise ValueError(
                    f"{type(self).__name__} has the inputs {', '.join(known)}. If the preprocessor "
                    "has an encoder, the model needs it too: `encoder=`. Received also: "
                    f"{', '.join(map(str, unknown))}"
                )
        return super().call(inputs, training=training, mask=mask, **kwargs)

    def attention(self, inputs: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
        """Computes the attention weights, with the names of the paper: those of `ATTENTION`.

        Args:
            inputs: dict. The model's inputs, as a batch of the preprocessor's dataset has them.

        Returns:
            A dict of arrays `[B, rows, columns]`, without those of parts that the model lacks;
            rows and columns of several passages are `[K, L]` each.

        Example:
            >>> import numpy as np
            >>> from tfmrc.models import SAN
            >>> model = SAN(vocabulary_size=20, word_dim=8, units=4, num_exact_match=0)
            >>> ids = {"question_ids": np.array([[5, 12]]), "passage_ids": np.array([[12, 6, 7]])}
            >>> for name, weights in model.attention(ids).items():
            ...     print(name, weights.shape)
            aligned_embedding (1, 3, 2)
            question_attention (1, 3, 2)
            self_attention (1, 3, 3)
            memory_attention (1, 4, 3)
        """
        with recording() as found:
            self(inputs, training=False)
        names = {name: key for name, (key, *_) in self.ATTENTION.items() if key in found}
        return {name: np.array(ops.convert_to_numpy(found[key])) for name, key in names.items()}

    def check_parts(self, inputs: Mapping[str, Tensor]) -> None:
        """Calls all that parts must have, when a model is built whose class replaces some.

        Args:
            inputs: dict. A small batch, whose second example has no word.

        Raises:
            ValueError: If the outputs are not what the model needs.
        """
        self(inputs, training=False)

    # === Training ===

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Trains the model, as `keras.Model.fit` does.

        Keras warns that it does not shuffle a `tf.data.Dataset`; `dataset(..., shuffle=True)` of a
        preprocessor has shuffled it, so no such warning is shown.

        Outputs that had no loss, or no label in any example, are not in `trained_outputs`.

        Raises:
            ValueError: If a callback monitors the validation loss and there are no validation data,
                or the optimizer keeps averages of other weights than those that are trained.
        """
        given = inspect.signature(super().fit).bind(*args, **kwargs).arguments
        if hasattr(given.get("x"), "element_spec"):
            given.setdefault("shuffle", False)
        callbacks = given.get("callbacks")
        if given.get("validation_data") is None and not given.get("validation_split"):
            for callback in keras.tree.flatten(callbacks):  # now, not at the end of the epoch
                if getattr(callback, "needs_validation", False):
                    raise ValueError(
                        f"{type(callback).__name__} needs the validation loss: give `fit` "
                        "`validation_data`, or another `monitor`. Received: "
                        f"monitor={callback.monitor!r}, validation_data=None"
                    )
        self._check_averages()
        if not isinstance(callbacks, keras.callbacks.CallbackList):
            others = [
                callback for callback in keras.tree.flatten(callbacks) if callback is not None
            ]
            given["callbacks"] = [_NoteTrained(self), *others]
        history = super().fit(**given)
        if history.epoch:  # with the epochs before a resume
            self._note_trained(history.history)
        return history

    def predict(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Computes the outputs of all batches, as `keras.Model.predict` does.

        Outputs of a `tf.data.Dataset`, whose batches differ in length, are padded: at padding
        log-probabilities are `LOG_ZERO`. A dataset of a preprocessor has the order of the examples
        unless it is shuffled or bucketed.
        """
        strategy = getattr(self, "distribute_strategy", None)  # of TensorFlow alone
        if not hasattr(x, "as_numpy_iterator") or getattr(strategy, "num_replicas_in_sync", 1) > 1:
            return super().predict(x, *args, **kwargs)
        return predict_dataset(self, x, *args, **kwargs)

    @property
    def metrics(self) -> list[Any]:
        """The metrics, among them a count of impossible targets that gives no result."""
        return [*super().metrics, self._impossible]

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """Computes the loss, and counts targets that `SequenceNLL` leaves out."""
        for name, loss in self.loss.items() if isinstance(self.loss, dict) else ():
            if isinstance(loss, SequenceNLL) and name in y:
                self._impossible.update_state(loss.impossible(y[name], y_pred[name]))
        return super().compute_loss(x, y, y_pred, sample_weight, training)

    def _check_averages(self) -> None:
        """Refuses layers that were frozen or thawed after `compile`, if the optimizer averages.

        At the end of `fit` Keras would assign the averages to other weights, by their order.
        """
        optimizer: Any = getattr(self, "optimizer", None)
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if getattr(optimizer, "use_ema", False) and optimizer.built:
            averaged = keras_private.optimizer_variables(optimizer)
            if [id(v) for v in averaged] != [id(v) for v in self.trainable_variables]:
                raise ValueError(
                    "Layers were frozen or thawed after `compile`, whose optimizer averages the "
                    "weights that were trained then: compile the model again. Received: "
                    f"{len(self.trainable_variables)} trained weights, {len(averaged)} averaged"
                )

    def _note_trained(self, losses: Mapping[str, Sequence[Any]]) -> None:
        """Adds the outputs of which a loss was not 0, as it is without a label."""
        if not isinstance(self.output, dict):
            return
        earlier, named = self.trained_outputs or (), keras_private.outputs_with_loss(self)
        with_loss = self.output if named is None else named
        self.trained_outputs = tuple(
            name
            for name in self.output
            if name in earlier or (name in with_loss and any(losses.get(f"{name}_loss", [True])))
        )

    def _resolve_auto_jit_compile(self) -> bool:
        """Returns whether `compile` uses XLA by itself: never on TensorFlow.

        Keras would, on a machine with a GPU. Batches of texts have many sizes, and each is a
        program of its own that takes seconds to compile; `compile(jit_compile=True)` asks for it.
        """
        return keras.backend.backend() != "tensorflow" and super()._resolve_auto_jit_compile()

    def make_train_function(self, force: bool = False) -> None:
        """Creates the function of a training step, after all variables exist.

        Keras creates the variables of optimizer, losses and metrics in the first step, and
        TensorFlow discards a trace that has created variables and traces again: a large model
        would need twice the time to start training.

        Raises:
            ValueError: If several replicas of TensorFlow train several steps per execution, or
                accumulate gradients.
        """
        strategy = getattr(self, "distribute_strategy", None)  # of TensorFlow alone
        replicas = getattr(strategy, "num_replicas_in_sync", 1)
        optimizer = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        accumulated = getattr(optimizer, "gradient_accumulation_steps", None)
        if replicas > 1 and (self.steps_per_execution > 1 or accumulated):
            raise ValueError(
                "With several replicas, Keras supports neither several steps per execution nor "
                f"accumulated gradients. Received: steps_per_execution={self.steps_per_execution}, "
                f"gradient_accumulation_steps={accumulated}, replicas={replicas}"
            )
        known, build = self.train_function, keras_private.symbolic_build
        super().make_train_function(force)
        self.train_function = _built_first(self.train_function, known, self, build)

    def make_test_function(self, force: bool = False) -> None:
        """Creates the function of an evaluation step, after the variables of the losses exist."""
        known, build = self.test_function, keras_private.build_loss
        super().make_test_function(force)
        self.test_function = _built_first(self.test_function, known, self, build)


def _capturing(init: Callable[..., None]) -> Callable[..., None]:
    """Returns a constructor that checks its arguments and stores their values."""
    signature = inspect.signature(init)
    own, *parameters = signature.parameters.values()
    passes_on = [p.name for p in parameters if p.kind is p.VAR_KEYWORD]
    choices = {
        p.name: get_args(p.annotation) for p in parameters if get_origin(p.annotation) is Literal
    }

    @functools.wraps(init)
    def captured(self: Model, *positional: Any, **given: Any) -> None:
        is_outermost = "_captured" not in self.__dict__
        check_arguments(init, given, type(self).__name__)
        bound = signature.bind(self, *positional, **given)
        bound.apply_defaults()
        values = dict(bound.arguments)
        del values[own.name]
        for rest in passes_on:
            values |= values.pop(rest)
        for name, allowed in choices.items():
            if values[name] not in allowed:
                raise ValueError(
                    f"`{name}` must be one of {', '.join(map(repr, allowed))}. "
                    f"Received: {name}={values[name]!r}"
                )
        # Set past Keras, which would track them as layers or copy them.
        set_untracked = functools.partial(object.__setattr__, self)
        if is_outermost:
            set_untracked("_captured", SimpleNamespace(**values))
            set_untracked("arguments", SimpleNamespace())
        elif self.__dict__["_passes_on"]:
            # A subclass passes its `**kwargs` on: arguments that are neither given nor set by the
            # subclass have the default of the base class.
            defaults = {n: value for n, value in values.items() if n not in given}
            set_untracked("_captured", SimpleNamespace(**(defaults | vars(self._captured))))
        if is_outermost or self.__dict__["_passes_on"]:
            set_untracked("_passes_on", bool(passes_on))
        self.arguments.__dict__.update(values)
        self.arguments.dtype = keras.dtype_policies.get(
            values.get("dtype") or keras.config.dtype_policy()
        )
        if not is_outermost:
            init(self, *positional, **given)
            return
        with recording():
            init(self, *positional, **given)
            set_untracked("intermediate_tensors", symbols_found())
        seed_dropout(keras_private.all_sublayers(self), getattr(self.arguments, "seed", None))
        set_untracked("_is_complete", True)
        check_replaced(self)

    captured.__signature__ = signature  # type: ignore[attr-defined]
    return captured


def _check_methods(cls: type[Model]) -> None:
    """Refuses a `build_*` method that the model does not have, since nothing would call it."""
    bases = [base for base in cls.__mro__[1:] if issubclass(base, Model)]
    known = sorted({n for base in bases for n in dir(base) if n.startswith("build_")})
    known = [name for name in known if not hasattr(Model, name)]
    added = [n for n in dir(cls) if n.startswith("build_") and not hasattr(Model, n)]
    for name in added:
        if known and name not in known:
            raise TypeError(
                f"{bases[0].__name__} has no part that `{name}` would build"
                f"{suggestion(name, known)} Received: {cls.__name__}.{name}"
            )


def check_output(model: Model, method: str, output: Tensor, *shape: int | None) -> None:
    """Raises a ValueError unless an output, which a replaceable part computes, has its shape.

    Args:
        model: The model, which may be incomplete.
        method: str. The method that creates the part.
        output: tensor. The symbolic output.
        *shape: int or None. The expected sizes after the batch; None for any.
    """
    received = tuple(output.shape)[1:]
    if len(received) != len(shape) or any(
        None not in sizes and sizes[0] != sizes[1] for sizes in zip(shape, received, strict=True)
    ):
        raise ValueError(
            f"The layer of `{method}` must give outputs of shape {(None, *shape)}. "
            f"Received: shape={(None, *received)} in {type(model).__name__}"
        )


def _built_first(step: Step, known: Step | None, model: Model, build: Step) -> Step:
    """Returns a new step of a graph such that its first call creates all variables beforehand."""
    if step is known or model.run_eagerly or keras.backend.backend() != "tensorflow":
        return step
    is_first = True

    def built_step(batches: Any) -> Any:
        nonlocal is_first
        if is_first:
            is_first = False
            # A dataset declares its shapes; for `train_on_batch` the batch has them.
            spec = getattr(batches, "element_spec", None)
            if spec is None:
                spec = next(batches)
                batches = chain([spec], batches)
            build(model, spec)
        return step(batches)

    return built_step


class _Impossible(keras.metrics.Sum):
    """Counts over all epochs, without a result: logs have no such column."""

    def reset_state(self) -> None:
        """Keeps the count from one epoch to the next."""

    def result(self) -> dict[str, Any]:
        return {}


class _NoteTrained(keras.callbacks.Callback):
    """Notes `trained_outputs` after each execution, before callbacks that save the model."""

    async_safe = True  # Keras need not wait for it

    def __init__(self, model: Model) -> None:
        super().__init__()
        self._noted = model  # on JAX `self.model` writes the state to the variables

    def on_train_batch_end(self, batch: int, logs: dict[str, float] | None = None) -> None:
        self._noted._note_trained({name: [value] for name, value in (logs or {}).items()})

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        count = int(self.model._impossible.total + 0)  # the sum over replicas
        if count:
            warnings.warn(
                f"{count:,} targets so far can be neither generated nor copied: they are ignored.",
                stacklevel=2,
            )

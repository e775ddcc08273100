"""What all models have in common: how they are configured, and a training step traced once."""

from itertools import chain
from typing import Any

import keras


@keras.saving.register_keras_serializable(package="tfmrc")
class Model(keras.Model):
    """A Keras model whose arguments are plain but for a few.

    A model keeps its plain arguments in `_config`; name, precision and, where it has one, the
    contextual embedding are written as Keras writes its objects.
    """

    _config: dict[str, Any]
    train_function: Any

    def make_train_function(self, force=False):
        """The function of a training step, before whose first trace all variables are made.

        Keras leaves those of optimizer, losses and metrics to the first step, and TensorFlow
        throws away a trace that has made variables to trace again: a large model would begin to
        train in twice the time.
        """
        known = self.train_function
        super().make_train_function(force)
        step, is_first = self.train_function, True
        in_graph = keras.backend.backend() == "tensorflow" and not self.run_eagerly
        if in_graph and step is not known:

            def train_function(batches):
                nonlocal is_first
                if is_first:
                    is_first = False
                    # Of a dataset the shapes are known; what `train_on_batch` gives is looked at.
                    spec = getattr(batches, "element_spec", None)
                    if spec is None:
                        spec = next(batches)
                        batches = chain([spec], batches)
                    self._symbolic_build(data_batch=spec)
                return step(batches)

            self.train_function = train_function

    def get_config(self):
        config = {
            **self._config,
            "name": self.name,
            "dtype": keras.dtype_policies.serialize(self.dtype_policy),
        }
        if hasattr(self, "contextual_embedding"):
            contextual = self.contextual_embedding
            written = contextual and keras.saving.serialize_keras_object(contextual)
            config["contextual_embedding"] = written
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if isinstance(config.get("contextual_embedding"), dict):
            config["contextual_embedding"] = keras.saving.deserialize_keras_object(
                config["contextual_embedding"], custom_objects=custom_objects
            )
        if isinstance(config.get("dtype"), dict):
            config["dtype"] = keras.dtype_policies.deserialize(config["dtype"])
        return cls(**config)

"""What the configuration of every model has in common."""

from typing import Any

import keras


class Configured:
    """`get_config` and `from_config` of a model whose arguments are plain but for a few.

    A model keeps its plain arguments in `_config`; name, precision and, where it has one, the
    contextual embedding are written as Keras writes its objects.
    """

    _config: dict[str, Any]
    name: str
    dtype_policy: Any

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

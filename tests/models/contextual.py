"""A stand-in for a contextual embedding, with the interface that Masque asks for."""

import keras
from keras import ops


@keras.saving.register_keras_serializable(package="tests")
class OneWay(keras.layers.Layer):
    """`h_t = h_{t-1} / 2 + E[id_t]` from one side, with a cache for one word at a time."""

    def __init__(self, size, dim, backwards=False, **kwargs):
        super().__init__(**kwargs)
        self.size, self.dim, self.backwards = size, dim, backwards
        self.table = self.add_weight((size, dim), initializer="normal", name="table")
        self.built = True

    def call(self, ids):
        place = ops.cast(ops.arange(ops.shape(ids)[-1]), "float32")
        distance = place[:, None] - place[None, :]
        distance = -distance if self.backwards else distance
        decay = ops.where(distance >= 0, ops.power(0.5, ops.maximum(distance, 0.0)), 0.0)
        return ops.matmul(ops.cast(decay, self.compute_dtype), self.words(ids))

    def words(self, ids):
        """Zeros at padding, so that padding behind a text does not reach it from the right."""
        rows = ops.where((ids != 0)[..., None], ops.take(self.table, ids, axis=0), 0.0)
        return ops.cast(rows, self.compute_dtype)

    def compute_output_shape(self, shape):
        return (*shape, self.dim)

    def get_config(self):
        return {
            **super().get_config(),
            "size": self.size,
            "dim": self.dim,
            "backwards": self.backwards,
        }


@keras.saving.register_keras_serializable(package="tests")
class StandIn(keras.layers.Layer):
    """Both directions for the reader, the forward one alone for the decoder."""

    def __init__(self, size, dim=3, **kwargs):
        super().__init__(**kwargs)
        self.size, self.forward_dim = size, dim
        self.forward = OneWay(size, dim, dtype=self.dtype_policy, name="forward")
        self.backward = OneWay(size, dim, True, dtype=self.dtype_policy, name="backward")
        self.built = True

    def call(self, ids, mask):
        both = ops.concatenate([self.forward(ids), self.backward(ids)], axis=-1)
        return ops.where(mask[..., None], both, 0.0)

    def init_cache(self, batch_size, num_beams):
        return ops.zeros((batch_size, num_beams, self.forward_dim), self.compute_dtype)

    def decode_step(self, ids, cache):
        state = ops.cast(0.5, cache.dtype) * cache + self.forward.words(ids)
        return state, state

    def get_config(self):
        return {**super().get_config(), "size": self.size, "dim": self.forward_dim}

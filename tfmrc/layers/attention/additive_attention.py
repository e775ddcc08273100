import keras
from keras import ops

from tfmrc.layers.base import Layer, float32_spec
from tfmrc.layers.encoders.linear import initial
from tfmrc.layers.recording import record
from tfmrc.ops.chunks import map_chunks, map_groups
from tfmrc.ops.masking import masked_log_softmax
from tfmrc.ops.shapes import product
from tfmrc.ops.sizes import sizes

# Queries of an example, and values of the tanh, that are computed at once outside training. More of
# them do not fit in the caches of a CPU.
QUERIES = 4
VALUES = 1 << 20


@keras.saving.register_keras_serializable(package="tfmrc")
class AdditiveAttention(Layer):
    """Computes additive attention and its log-weights, which a pointer copies with.

    `e_l = w . tanh(W_m M_l + W_s s + b)`, `alpha = softmax_l(e)`, `c = sum_l alpha_l M_l`. With a
    prior (combined attention) the weights are `alpha_l prior_l / sum_l' alpha_l' prior_l'`,
    computed as the softmax of `e + log(prior)`. `W_m M` does not depend on the query; `project`
    computes it once.

    A query whose memory is all padding gets weights of zero and a context of zeros.

    Args:
        initializer: float, str or initializer. That of the initial weights; a float is the standard
            deviation of a normal one. Default: 0.02.

    Call arguments:
        query: `[B, T, d]`.
        memory: `[B, S, d]`.
        memory_mask: boolean `[B, S]`, True = real.
        log_prior: `[B, S]` log of the positions' prior weights; None for no prior.
        projected: The output of `project(memory)`; computed here if None.
        training: bool. Outside training, a few queries are computed at once, so that
            `[B, T, S, d]` is never in memory.

    Returns:
        Log-weights `[B, T, S]` (float32, `LOG_ZERO` at padding) and the context `[B, T, d]`.

    Example:
        >>> import numpy as np
        >>> from tfmrc.layers import AdditiveAttention
        >>> memory, query = np.ones((1, 3, 4), "float32"), np.ones((1, 2, 4), "float32")
        >>> log_weights, context = AdditiveAttention()(query, memory, np.ones((1, 3), bool))
        >>> tuple(log_weights.shape), tuple(context.shape)
        ((1, 2, 3), (1, 2, 4))

    Reference: Nishida et al. 2019 (Masque), sections 3.4.3 and 3.4.4, masque-14, masque-15,
    masque-16 and masque-21.
    """

    AXES = {"query": "B T d", "memory": "B S d", "memory_mask": "B S", "log_prior": "B S"}

    def __init__(self, initializer=0.02, **kwargs):
        super().__init__(autocast=False, **kwargs)  # the prior stays float32
        self.initializer = initializer

    def build(self, query_shape, memory_shape):
        dim, options = memory_shape[-1], {"initializer": self.initializer}
        self.memory_projection = self.add_dense("memory", dim, dim, **options)  # W_m, b
        self.query_projection = self.add_dense(  # W_s
            "query", dim, query_shape[-1], use_bias=False, **options
        )
        self.score = self.add_weight((dim,), initializer=initial(self.initializer), name="score")

    def project(self, memory):
        """Returns `W_m M + b` `[B, S, d]`, which is the same for all queries."""
        return self.memory_projection(memory)

    def call(self, query, memory, memory_mask, log_prior=None, projected=None, training=None):
        memory = ops.cast(memory, self.compute_dtype)
        projected = self.project(memory) if projected is None else projected
        score = self._score if training else self._score_in_parts
        scores = ops.cast(score(self.query_projection(query), projected), "float32")  # [B, T, S]
        if log_prior is not None:
            scores = scores + ops.cast(log_prior, "float32")[:, None, :]  # masque-21
        log_weights = masked_log_softmax(scores, memory_mask[:, None, :])  # masque-15
        weights = record(self.name, ops.cast(ops.exp(log_weights), self.compute_dtype))
        return log_weights, ops.matmul(weights, memory)  # [B, T, d], masque-16

    def _score(self, query, projected):
        """Computes `e` `[B, T, S]` from projected queries and memory, masque-14."""
        hidden = ops.tanh(query[:, :, None] + projected[:, None])  # [B, T, S, d]
        return product(hidden, ops.cast(self.score, self.compute_dtype)[:, None])[..., 0]

    def _score_in_parts(self, query, projected):
        """Computes the same for a few examples and queries at a time."""

        def score(query, projected):
            return map_chunks(lambda part: self._score(part, projected), query, QUERIES)

        _, length, dim = sizes(projected)
        queries = QUERIES if query.shape[1] is None else min(QUERIES, query.shape[1])
        size = VALUES // (queries * length * dim + 1)  # the memory may be empty
        return map_groups(score, size, query, projected)

    def compute_output_spec(
        self, query, memory, memory_mask, log_prior=None, projected=None, training=None
    ):
        context = (*query.shape[:2], memory.shape[-1])
        return (
            float32_spec(query, memory.shape[1]),
            keras.KerasTensor(context, dtype=self.compute_dtype),
        )

"""Mixin of models that generate words."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from keras import ops, tree

from tfmrc import decoding
from tfmrc.layers import WordEmbedding
from tfmrc.ops.coverage import attended_again
from tfmrc.ops.ids import BOS
from tfmrc.ops.sizes import sizes


class GenerationMixin:
    """Mixin that generates words by `init_cache` and `decode_step`.

    The memory that `encode` returns must hold `extended_ids` `[B, S]`.
    """

    arguments: SimpleNamespace
    num_generable: int
    init_cache: Callable[..., Any]
    decode_step: Callable[..., Any]
    encode: Callable[..., Any]
    attribute: Callable[..., Any]

    def build_word_embedding(self):
        """Returns the layer from ids to word vectors, in Masque also from states to scores."""
        a = self.arguments
        return WordEmbedding(
            a.vocabulary_size, a.word_dim, a.embeddings_trainable, a.initializer_stddev,
            name="word_embedding", dtype=a.dtype,
        )  # fmt: skip

    def generate(
        self,
        memory,
        max_length,
        num_beams=1,
        num_return_sequences=1,
        min_length=0,
        length_penalty=0.0,
        coverage_penalty=0.0,
        sampling=None,
        **options,
    ):
        """Generates words: greedy search for one beam, else beam search (`tfmrc.decoding`).

        `coverage_penalty` penalises attention to positions that were already attended to
        (`tfmrc.ops.coverage.attended_again`); the model must define `decode_step_with_attention`.

        Args:
            memory: dict. Result of `encode`.
            max_length: int. Greatest number of words of a sequence, its end included.
            num_beams: int. Number of beams per example. Default: 1.
            num_return_sequences: int. Number of sequences per example. Default: 1.
            min_length: int. Least number of words of a sequence. Default: 0.
            length_penalty: float. Exponent of the length penalty. Default: 0.0.
            coverage_penalty: float. Penalty per unit of repeated attention. Default: 0.0.
            sampling: dict or None. Arguments of `tfmrc.decoding.sample` (`temperature`, `top_k`,
                `top_p`, `seed`; `{}` for its defaults) to sample `num_beams` sequences instead of
                searching. Default: None.
            **options: Further options of `tfmrc.decoding.beam_search`: `no_repeat_ngram_size`,
                `num_beam_groups`, `diversity_penalty`, `eos_id`, `forbidden_ids`.

        Returns:
            `tfmrc.decoding.Hypotheses`, best first.

        Raises:
            ValueError: If the model has no attention to cover, or penalties or groups of beams are
                combined with sampling.
            TypeError: If there is no such option.
        """
        grouped = options.get("num_beam_groups", 1) != 1
        if sampling is not None and (length_penalty or coverage_penalty or grouped):
            raise ValueError(
                "Penalties and groups of beams do not apply to sampling. Received: "
                f"length_penalty={length_penalty}, coverage_penalty={coverage_penalty}, "
                f"num_beam_groups={options.get('num_beam_groups', 1)}"
            )
        batch_size = sizes(memory["extended_ids"])[0]
        cache = self.init_cache(memory, num_beams, max_length)
        common = {"max_length": max_length, "min_length": min_length}
        common |= {name: options.pop(name) for name in ("eos_id", "forbidden_ids") & options.keys()}

        def step(ids, cache, t):
            return self.decode_step(memory, cache, ids, t)

        ngram_size = options.get("no_repeat_ngram_size", 0)
        if sampling is not None:
            return decoding.sample(
                step,
                cache,
                batch_size,
                num_samples=num_beams,
                num_return_sequences=num_return_sequences,
                no_repeat_ngram_size=ngram_size,
                **common,
                **sampling,
            )
        if coverage_penalty:
            step, cache, options["cost"] = self._covering(memory, cache, coverage_penalty)
        plain = not (length_penalty or ngram_size or coverage_penalty or grouped)
        if num_beams == 1 and num_return_sequences == 1 and plain:
            return decoding.greedy_search(step, cache, batch_size, **common)
        return decoding.beam_search(
            step,
            cache,
            batch_size,
            num_beams=num_beams,
            num_return_sequences=num_return_sequences,
            length_penalty=length_penalty,
            **common,
            **options,
        )

    def check_parts(self, inputs):
        """Calls all that parts must have; see `Model.check_parts`."""
        super().check_parts(inputs)  # type: ignore[misc]
        if getattr(self, "has_decoder", True):
            self._try_steps(inputs, inputs["target_ids"])

    def _try_steps(self, inputs, target_ids):
        """Computes a step of decoding and the sources of words."""
        (*_, width) = next((x.shape for n, x in inputs.items() if n.endswith("characters")), (1,))
        spelled = ops.zeros((self.num_generable, width), "int32")
        memory = self.encode({**inputs, "generable_characters": spelled})
        ids = ops.convert_to_tensor(target_ids)
        self.decode_step(memory, self.init_cache(memory, 1, 2), ids[:, :1], 0)
        self.attribute(memory, ids)

    def _covering(self, memory, cache, coverage_penalty):
        """Returns a step that sums the attention of each beam, its cache, and its cost function."""
        with_attention = getattr(self, "decode_step_with_attention", None)
        if with_attention is None or not getattr(self, "has_attention", False):
            raise ValueError(
                "A coverage penalty needs a model with attention. "
                f"Received: model={type(self).__name__}, coverage_penalty={coverage_penalty}"
            )

        def step(ids, cache, t):
            log_p, attention, inner = with_attention(memory, cache["model"], ids, t)
            coverage = cache["coverage"] + ops.cast(attention, "float32")
            return log_p, {"model": inner, "coverage": coverage}

        def cost(cache):
            return coverage_penalty * attended_again(cache["coverage"])

        zeros = ops.zeros_like(memory["extended_ids"], dtype="float32")
        beams = sizes(tree.flatten(cache)[0])[1]
        coverage = ops.repeat(zeros[:, None], beams, axis=1)
        return step, {"model": cache, "coverage": coverage}, cost


def input_ids(memory, extended_ids, num_generable):
    """Converts extended ids to input ids.

    Args:
        memory: dict. `source_ids` `[B, S]`, the input ids of the words that can be copied.
        extended_ids: int `[B, n]`. Extended ids; from `num_generable` on they are indices of the
            source.
        num_generable: int. The number of words that can be generated.

    Returns:
        int `[B, n]`.
    """
    source_ids = memory["source_ids"]
    index = ops.clip(extended_ids - num_generable, 0, sizes(source_ids)[1] - 1)
    copied = ops.take_along_axis(source_ids, index, axis=1)
    return ops.where(extended_ids < num_generable, extended_ids, copied)


def previous_ids(memory, target_ids, num_generable):
    """Returns the input ids `[B, T]` of the words before given ones: BOS, then all but the last.

    Args:
        memory: dict. As for `input_ids`.
        target_ids: int `[B, T]`. Extended ids.
        num_generable: int. The number of words that can be generated.
    """
    ids = input_ids(memory, target_ids, num_generable)[:, :-1]  # [B, T - 1]
    return ops.pad(ids, [[0, 0], [1, 0]], constant_values=BOS)  # [B, T]


def input_characters(memory, extended_ids, num_generable):
    """Returns the characters `[B, n, c]` of words by their extended ids `[B, n]`.

    Args:
        memory: dict. `source_characters` `[B, S, c]` of the words that can be copied, and
            `generable_characters` `[G, c]`.
        extended_ids: int `[B, n]`. Extended ids, as in `input_ids`.
        num_generable: int. The number of words that can be generated.
    """
    characters = memory["source_characters"]
    index = ops.clip(extended_ids - num_generable, 0, sizes(characters)[1] - 1)
    copied = ops.take_along_axis(characters, index[..., None], axis=1)
    row = ops.clip(extended_ids, 0, num_generable - 1)
    generated = ops.take(memory["generable_characters"], row, axis=0)
    return ops.where((extended_ids < num_generable)[..., None], generated, copied)

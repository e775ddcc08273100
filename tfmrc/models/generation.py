"""What models that write words have in common."""

from collections.abc import Callable
from typing import Any

from keras import ops

from tfmrc import decoding


class Generation:
    """The search over `start` and `step` of a model whose memory holds `extended_ids` `[B, S]`."""

    num_generable: int
    start: Callable[..., Any]
    step: Callable[..., Any]

    def generate(
        self,
        memory,
        max_length,
        num_beams=1,
        num_return=1,
        min_length=0,
        length_penalty=0.0,
        **options,
    ):
        """Sequences of words: greedy search for one beam, else beam search (`tfmrc.decoding`).

        Args:
            memory: what `encode` gave.
            max_length: most words of a sequence, its end included.
            num_beams: beams an example.
            num_return: sequences an example.
            min_length: fewest words of a sequence.
            length_penalty: exponent of the length penalty.
            **options: further options of `tfmrc.decoding.beam_search`: `no_repeat_ngram_size`,
                `num_groups`, `diversity`.

        Returns:
            `tfmrc.decoding.Hypotheses`, best first.
        """
        batch_size = ops.shape(memory["extended_ids"])[0]
        cache = self.start(memory, num_beams, max_length)
        lengths = {"max_length": max_length, "min_length": min_length}

        def step(ids, cache, t):
            return self.step(memory, cache, ids, t)

        plain = not length_penalty and not options.get("no_repeat_ngram_size")
        if num_beams == 1 and num_return == 1 and plain:
            return decoding.greedy_search(step, cache, batch_size, **lengths)
        return decoding.beam_search(
            step,
            cache,
            batch_size,
            num_beams=num_beams,
            num_return=num_return,
            length_penalty=length_penalty,
            **lengths,
            **options,
        )

    def _input_ids(self, memory, extended_ids):
        """Extended ids `[B, n]` of words to the input ids of the same words."""
        source_ids = memory["source_ids"]
        place = extended_ids - self.num_generable
        place = ops.clip(place, 0, ops.shape(source_ids)[1] - 1)
        copied = ops.take_along_axis(source_ids, place, axis=1)
        return ops.where(extended_ids < self.num_generable, extended_ids, copied)

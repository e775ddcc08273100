"""Beam search with frozen finished beams and a length penalty."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from keras import ops, tree

from tfmrc.decoding.constraints import Step, allowed_words, without_repeated_ngrams
from tfmrc.decoding.hypotheses import Hypotheses, finished_hypotheses, length_penalised
from tfmrc.ops.ids import BOS, EOS, PAD, UNK
from tfmrc.ops.sizes import sizes
from tfmrc.ops.typing import Tensor

_NEVER = -float("inf")


def beam_search(
    step: Step,
    cache: Any,
    batch_size: int | Tensor,
    *,
    num_beams: int,
    num_return_sequences: int = 1,
    max_length: int,
    min_length: int = 0,
    length_penalty: float = 0.0,
    eos_id: int = EOS,
    forbidden_ids: Collection[int] = (PAD, UNK, BOS),
    no_repeat_ngram_size: int = 0,
    num_beam_groups: int = 1,
    diversity_penalty: float = 0.5,
    cost: Callable[[Any], Tensor] | None = None,
) -> Hypotheses:
    """Generates sequences by beam search.

    At each step every open hypothesis is extended by every allowed word, and every finished one by
    `PAD` at no cost (it is frozen). The `num_beams` hypotheses with the best current scores
    (`length_penalised`) are kept. `num_beams=1` is greedy search, and a beam as wide as the space
    of sequences is exhaustive search. Ties go to the earlier beam, then to the smaller id.

    The loop stops when no example can change any more: all its beams are finished, or its
    `num_return_sequences` best are finished and better than any score that an open hypothesis can
    still reach (its log-probability at the length that the penalty favours most). The result of an
    example is therefore independent of the other examples in the batch. A hypothesis that reaches
    `max_length` without the end word is returned with its score.

    With `num_beam_groups` above 1, the groups are searched in order at each step, and a word costs
    `diversity_penalty` for each beam of an earlier group that has taken it in this step (diverse
    beam search with Hamming diversity, Vijayakumar et al. 2018). The returned scores and
    log-probabilities do not include this cost.

    With `cost`, the score of a hypothesis is reduced by a function of its cache, such as a coverage
    penalty. The cost of a finished hypothesis is fixed. The log-probability does not include it.

    Args:
        step: callable. `step(ids [B, W], cache, t) -> (log_p [B, W, V], cache)` returns the
            log-probabilities (at most 0) of word `t` (from 0), given the previous words; `ids` are
            the ids of word `t - 1`, `BOS` at `t = 0`. `V` may differ between batches.
        cache: nested dicts, lists and tuples of tensors `[B, W, ...]`, reordered along axis 1 with
            their hypotheses. Shapes and dtypes must not change.
        batch_size: int or scalar int tensor. `B`.
        num_beams: int. `W`.
        num_return_sequences: int. Number of returned hypotheses `N`, at most `num_beams`. Default:
            1.
        max_length: int. Largest number of words, including the end word.
        min_length: int. Smallest number of words before the end word. Default: 0.
        length_penalty: float. Exponent of the length in the score; 0 for none. Default: 0.0.
        eos_id: int. Id of the end word. Default: `EOS`.
        forbidden_ids: collection of int. Ids that are never generated. Default: (PAD, UNK, BOS).
        no_repeat_ngram_size: int. Size of the n-grams that must not occur twice in a hypothesis; 0
            for no constraint. A hypothesis without an allowed word ends. Default: 0.
        num_beam_groups: int. Number of groups of beams, a divisor of `num_beams`. Default: 1.
        diversity_penalty: float. Cost of a word for each beam of an earlier group that has taken
            it, at least 0. Default: 0.5.
        cost: callable. `cost(cache) -> [B, W]`, at least 0 and non-decreasing over the steps;
            subtracted from the score. Default: None.

    Returns:
        `Hypotheses`, best first.

    Raises:
        ValueError: If the numbers of beams, groups and returned hypotheses contradict each other.

    Example: the first word of the best hypothesis is not the most probable first word.

    >>> import numpy as np
    >>> from keras import ops
    >>> from tfmrc.decoding import beam_search
    >>> p = np.full((3, 6), 1e-6)
    >>> p[0, 4:] = .6, .4      # first word: 4 is likelier than 5
    >>> p[1, 3:] = .4, .3, .3  # after 4
    >>> p[2, 3] = .9           # after 5 nearly always the end word
    >>> def step(ids, cache, t):
    ...     row = ops.where(ids >= 4, ids - 3, 0)
    ...     return ops.take(np.log(p).astype("float32"), row, axis=0), cache
    >>> best = beam_search(step, (), 1, num_beams=2, max_length=3)
    >>> ops.convert_to_numpy(best.ids).tolist()
    [[[5, 3, 0]]]
    """
    if num_return_sequences > num_beams or num_beams % num_beam_groups:
        raise ValueError(
            "`num_beams` must be a multiple of `num_beam_groups` and at least "
            f"`num_return_sequences`. Received: num_beams={num_beams}, "
            f"num_beam_groups={num_beam_groups}, num_return_sequences={num_return_sequences}"
        )
    group_size = num_beams // num_beam_groups
    position = ops.arange(max_length, dtype="int32")
    first_row = ops.arange(batch_size, dtype="int32")[:, None] * num_beams

    def proceed(t, last, beams, cache):
        done = beams.finished
        if num_beam_groups == 1:
            done = _settled(beams, num_return_sequences, max_length, length_penalty)
        return (t < max_length) & ops.logical_not(ops.all(done))

    def advance(t, last, beams, cache):
        ids, lengths, total, paid, finished = beams
        log_p, cache = step(last, cache, t)  # [B, W, V]
        if cost is not None:
            paid = ops.where(finished, paid, ops.cast(cost(cache), "float32"))
        log_p = without_repeated_ngrams(log_p, ids, t, no_repeat_ngram_size)
        log_p = allowed_words(log_p, t, min_length, eos_id, forbidden_ids)
        vocabulary_size = sizes(log_p)[-1]
        frozen = ops.where(ops.arange(vocabulary_size, dtype="int32") == PAD, 0.0, _NEVER)  # [V]
        gain = ops.where(finished[..., None], frozen, log_p)
        candidates = total[..., None] + gain  # [B, W, V]
        lengths = lengths + ops.cast(ops.logical_not(finished), "int32")  # [B, W]
        scores = length_penalised(candidates, lengths[..., None], length_penalty)
        scores = scores - paid[..., None]

        # The W best of the W V candidates of an example, [B, W]. A candidate is packed as
        # `beam * V + word`: with 6 words, 16 is the word 4 after beam 2.
        best = best_of_groups(scores, finished, num_beam_groups, group_size, diversity_penalty)
        flat = ops.reshape(candidates, (-1, num_beams * vocabulary_size))
        total = ops.take_along_axis(flat, best, axis=1)
        word = best % vocabulary_size
        row = first_row + best // vocabulary_size  # in [B W]
        ids, lengths, paid, finished, cache = tree.map_structure(
            lambda x: _reordered(x, row), (ids, lengths, paid, finished, cache)
        )
        ids = ops.where(position == t, word[..., None], ids)  # [B, W, T]
        finished = finished | (word == eos_id) | (total == _NEVER)
        return t + 1, word, _Beams(ids, lengths, total, paid, finished), cache

    shape = (batch_size, num_beams)
    begin = ops.convert_to_tensor(0, dtype="int32"), ops.full(shape, BOS, dtype="int32")
    is_first = ops.arange(num_beams, dtype="int32") % group_size == 0
    zeros = ops.zeros(shape, dtype="float32")
    beams = _Beams(
        ids=ops.full((*shape, max_length), PAD, dtype="int32"),
        lengths=ops.zeros(shape, dtype="int32"),
        total=ops.where(is_first, zeros, _NEVER),  # the others would be the same hypothesis
        paid=zeros,
        finished=ops.zeros(shape, dtype="bool"),
    )
    _, _, beams, _ = ops.while_loop(proceed, advance, (*begin, beams, cache))
    if num_beam_groups > 1:  # merges the groups, each of which is sorted
        scores = length_penalised(beams.total, beams.lengths, length_penalty) - beams.paid
        _, order = ops.top_k(scores, num_beams)
        row = first_row + ops.cast(order, "int32")
        beams = _Beams(*(_reordered(x, row) for x in beams))
    ids, lengths, total, paid, _ = (x[:, :num_return_sequences] for x in beams)
    return finished_hypotheses(ids, lengths, total, length_penalty, paid)


class _Beams(NamedTuple):
    """The hypotheses of a search."""

    ids: Tensor  # int [B, W, T]
    lengths: Tensor  # int [B, W]
    total: Tensor  # [B, W], log-probability
    paid: Tensor  # [B, W], cost
    finished: Tensor  # boolean [B, W]


def best_of_groups(scores, finished, num_beam_groups, group_size, diversity_penalty):
    """Returns the best candidates of each group, with a penalty on words of earlier groups.

    Args:
        scores: `[B, W, V]` of all candidates; the beams of a group are adjacent.
        finished: boolean `[B, W]`.
        num_beam_groups: int. Number of groups.
        group_size: int. Number of beams per group.
        diversity_penalty: float. Cost of a word for each beam of an earlier group that has taken
            it in this step.

    Returns:
        int32 `[B, W]`, the candidates' indices in the flattened scores.

    Example: word 1 has the best score in both groups.

    >>> import numpy as np
    >>> from tfmrc.decoding.beam import best_of_groups
    >>> scores = np.log([[[0.1, 0.5, 0.4], [0.1, 0.5, 0.4]]]).astype("float32")
    >>> np.array(best_of_groups(scores, np.zeros((1, 2), bool), 2, 1, diversity_penalty=1.0)) % 3
    array([[1, 2]], dtype=int32)

    Reference: Vijayakumar et al. 2018 (diverse beam search, Hamming diversity).
    """
    vocabulary_size = sizes(scores)[-1]
    selected, taken = [], 0.0
    for group in range(num_beam_groups):
        start = group * group_size
        beams = slice(start, start + group_size)
        # A finished beam generates no words: it has no cost and causes none.
        cost = ops.where(finished[:, beams, None], 0.0, taken)
        own = ops.reshape(scores[:, beams] - cost, (-1, group_size * vocabulary_size))  # [B, g V]
        _, best = ops.top_k(own, group_size)
        best = ops.cast(best, "int32")  # [B, g], g beams of a group
        selected.append(best + start * vocabulary_size)
        if group < num_beam_groups - 1:
            words = ops.one_hot(best % vocabulary_size, vocabulary_size, dtype="float32")
            open_beams = ops.take_along_axis(
                ops.logical_not(finished[:, beams]), best // vocabulary_size, axis=1
            )
            words = ops.where(open_beams[..., None], words, 0.0)  # [B, g, V]
            taken = taken + diversity_penalty * ops.sum(words, axis=1, keepdims=True)  # [B, 1, V]
    return ops.concatenate(selected, axis=1)


def _settled(beams, num_return_sequences, max_length, length_penalty):
    """Returns True where the first `num_return_sequences` beams are final, boolean `[B]`."""
    score = length_penalised(beams.total, beams.lengths, length_penalty) - beams.paid  # [B, W]
    favoured = max_length if length_penalty > 0 else beams.lengths
    reachable = length_penalised(beams.total, favoured, length_penalty) - beams.paid
    reachable = ops.where(beams.finished, _NEVER, reachable)
    overtaken = ops.max(reachable, axis=1, initial=_NEVER) >= score[:, num_return_sequences - 1]
    ended = ops.all(beams.finished[:, :num_return_sequences], axis=1)
    return ops.all(beams.finished, axis=1) | (ended & ops.logical_not(overtaken))


def _reordered(x, row):
    """Reorders the beams of `x` `[B, W, ...]` by the flat indices `row` `[B, W]`."""
    batch_size, num_beams, *rest = sizes(x)
    rows = ops.take(ops.reshape(x, (batch_size * num_beams, *rest)), row, axis=0)  # [B, W, ...]
    return ops.reshape(rows, (batch_size, num_beams, *rest))  # JAX takes no shape from no rows

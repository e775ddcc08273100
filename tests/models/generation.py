"""Checks that every model that generates words must pass."""

import numpy as np

from tfmrc.ops.ids import BOS, PAD, UNK


def assert_steps_equal_teacher_forcing(model, source, targets, forced, copies=True):
    """Feeds the targets word by word, and compares each step with what all at once gave.

    Args:
        model: A model, or a direction of DAANet.
        source: What `encode` takes.
        targets: int `[B, T]` extended ids.
        forced: `[B, T]`, the model's log-probabilities of the targets.
        copies: Whether the model copies; otherwise what cannot be generated is UNK.
    """
    forced = np.array(forced)
    memory = model.encode(source)
    cache = model.init_cache(memory, 2, targets.shape[1])
    previous, alive = np.full((len(targets), 2), BOS, "int32"), np.ones(len(targets), bool)
    compared = 0
    for t in range(targets.shape[1]):
        log_p, cache = model.decode_step(memory, cache, previous, t)
        log_p = np.array(log_p)
        np.testing.assert_allclose(np.exp(log_p).sum(-1), 1.0, atol=3e-5)
        alive &= targets[:, t] != PAD
        for b in np.flatnonzero(alive):
            word = targets[b, t]
            word = word if copies or word < model.num_generable else UNK
            np.testing.assert_allclose(log_p[b, :, word], forced[b, t], rtol=1e-3, atol=1e-4)
            compared += 1
        # A word that is UNK is read as itself in training: such an example ends here.
        alive &= targets[:, t] != UNK
        previous = np.repeat(targets[:, t : t + 1], 2, axis=1)
    assert compared > 4


def assert_scores_are_those_of_the_words(model, source, num_beams=3, alone=None):
    """Compares the scores of generated words with those of the same words given at once.

    With `alone`, a function from a row to its source, also with the results of single examples.
    """
    options = {"max_length": 3, "num_beams": num_beams, "num_return_sequences": num_beams}
    memory = model.encode(source)
    found = model.generate(memory, **options)
    for n in range(num_beams):
        ids = np.array(found.ids)[:, n]
        assert not (ids == UNK).any()
        each = np.array(model.attribute(memory, ids)["log_probability"])
        right = np.where(ids != PAD, each, 0.0).sum(-1)
        np.testing.assert_allclose(np.array(found.log_probability)[:, n], right, rtol=1e-4)
    for b in (0, 2) if alone else ():
        single = model.generate(model.encode(alone(b)), **options)
        np.testing.assert_array_equal(single.ids[0], found.ids[b])
        np.testing.assert_allclose(single.score[0], found.score[b], rtol=1e-4)

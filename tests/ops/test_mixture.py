"""The mixture of generation and copying against loops over the words."""

import numpy as np
import pytest

from tests.reference.basic import softmax
from tfmrc.ops import generation_parts, joined_distribution, target_parts
from tfmrc.ops.masking import LOG_ZERO

# Six common ids and two sources of two and three words; the ids from 6 on are first occurrences.
COMMON, BATCH, STEPS = 6, 2, 3
SOURCES = [np.array([[5, 7], [6, 0]], "int32"), np.array([[7, 9, 4], [0, 0, 0]], "int32")]
SOURCE = np.concatenate(SOURCES, axis=1)
GENERABLE = np.array([[0, 1, 0, 0, 0], [1, 0, 0, 0, 0]], bool)
RANDOM = np.random.default_rng(0)
LOGITS = RANDOM.normal(size=(BATCH, STEPS, COMMON))
SOURCE_LOGITS = RANDOM.normal(size=(BATCH, STEPS, 5))
WEIGHTS = RANDOM.dirichlet(np.ones(3), size=(BATCH, STEPS))
ATTENTIONS = [
    softmax(RANDOM.normal(size=(BATCH, STEPS, ids.shape[1])), (ids > 0)[:, None]) for ids in SOURCES
]


def by_loop(generate_sources):
    """The probability of each id `[B, T, 11]`, and the parts of each id `[B, T, 11, 3]`."""
    parts = np.zeros((BATCH, STEPS, COMMON + 5, 3))
    for b, t in np.ndindex(BATCH, STEPS):
        scores = {v: LOGITS[b, t, v] for v in (1, 3, 4, 5)}
        if generate_sources:
            scores |= {COMMON + s: SOURCE_LOGITS[b, t, s] for s in np.flatnonzero(GENERABLE[b])}
        total = sum(np.exp(score) for score in scores.values())
        for v, score in scores.items():
            parts[b, t, v, 0] = WEIGHTS[b, t, 0] * np.exp(score) / total
        for n, (ids, attention) in enumerate(zip(SOURCES, ATTENTIONS, strict=True), 1):
            for s, v in enumerate(ids[b]):
                if v:
                    parts[b, t, v, n] += WEIGHTS[b, t, n] * attention[b, t, s]
    return parts.sum(-1), parts


def made(generate_sources):
    more = (SOURCE_LOGITS, GENERABLE) if generate_sources else ()
    parts = generation_parts(LOGITS.astype("float32"), *more)
    with np.errstate(divide="ignore"):
        logs = [np.log(array) for array in (WEIGHTS, *ATTENTIONS)]
    logs = [np.where(np.isfinite(log), log, LOG_ZERO).astype("float32") for log in logs]
    return {**parts, "log_mixture": logs[0], "log_attentions": logs[1:]}


@pytest.mark.parametrize("generate_sources", [False, True])
def test_distribution_and_targets(generate_sources):
    parts = made(generate_sources)
    assert ("source_logits" in parts) is generate_sources
    expected, expected_parts = by_loop(generate_sources)
    got = np.array(joined_distribution(parts, SOURCE))
    assert got.shape == expected.shape
    np.testing.assert_allclose(np.exp(got), expected, atol=1e-6)
    np.testing.assert_array_equal(got[expected == 0], np.float32(LOG_ZERO))
    for v in range(COMMON + 5):
        targets = np.full((BATCH, STEPS), v)
        terms = target_parts(parts, targets, SOURCES)
        np.testing.assert_allclose(
            np.exp(terms["log_parts"]), expected_parts[:, :, v], atol=1e-6, err_msg=str(v)
        )
        log_probability = np.array(terms["log_probability"])
        np.testing.assert_allclose(np.exp(log_probability), expected[:, :, v], atol=1e-6)
        impossible = log_probability[expected[:, :, v] == 0]
        np.testing.assert_array_equal(impossible, np.float32(LOG_ZERO))

"""Features of words in Masque's reader and in DAANET's passages."""

import numpy as np
import pytest

from tests.layers.weights import randomise
from tests.models import duals, examples
from tfmrc.models.daanet import GIVEN, TASKS
from tfmrc.ops.ids import BOS, PAD

F = 3


def features_of(ids):
    """Features of the words, the same ones for the same input id; 0 at BOS and padding."""
    table = np.random.default_rng(7).integers(0, 2, (100, F)).astype("float32")
    table[[PAD, BOS]] = 0.0
    return table[ids]


# === Masque ===


def asked(questions=examples.FOUR, **options):
    x = examples.batch(questions, **options)
    return x | {
        f"{text}_features": features_of(x[f"{text}_ids"]) for text in ("question", "passage")
    }


@pytest.fixture(scope="module")
def masque():
    """A model with features and the same one without."""
    plain, model = examples.small(), examples.small(num_word_features=F)
    randomise(plain, seed=3, scale=0.4)
    for ours, theirs in zip(model.weights, plain.weights, strict=True):
        assert ours.path == theirs.path  # nothing but the projection is wider
        if ours.path == "reader_projection/kernel":
            rows = np.random.default_rng(8).normal(size=(F, ours.shape[1]))
            ours.assign(np.concatenate([theirs.numpy(), rows]))
        else:
            ours.assign(theirs)
    return model, plain


def test_the_projection_reads_the_features_of_all_words(masque):
    model, plain = masque
    x = asked()
    right, found = plain(examples.batch(examples.FOUR)), model(x)
    none = model(x | {name: 0.0 * x[name] for name in x if name.endswith("_features")})
    for part in right:
        np.testing.assert_allclose(none[part], right[part], rtol=1e-4, atol=2e-5)
        assert np.abs(np.array(found[part] - right[part])).max() > 1e-3, part


# === DAANET ===


def compared(triplets=duals.FOUR, longer=0):
    """Each word's features, which are other ones for the two tasks."""
    x = duals.batch(triplets, longer)
    own = features_of(x["passage_ids"])
    x["question_passage_features"] = own
    x["answer_passage_features"] = np.where(x["passage_ids"][..., None] == PAD, own, 1.0 - own)
    return x


@pytest.fixture(scope="module")
def dual():
    model = duals.small(num_word_features=F, keep_passage=True)
    randomise(model, seed=3, scale=0.5)
    return model


def test_each_task_reads_its_own_features_of_the_passage_and_the_passage_itself(dual):
    x = compared()
    outputs, padded = dual(x), dual(compared(longer=2))
    for task in TASKS:
        for b, triplet in enumerate(duals.FOUR):
            own = x[f"{GIVEN[task]}_passage_features"][b, : len(triplet.passage)].astype("float64")
            log_p, coverage = duals.expected(dual, task, b, features=own)
            n = len(log_p)
            for found in (outputs, padded):
                np.testing.assert_allclose(found[task][b, :n], log_p, rtol=3e-4, atol=5e-5)
            found = outputs[f"{task}_coverage"][b, :n]
            np.testing.assert_allclose(found, coverage, rtol=1e-3, atol=1e-5)
            other, _ = duals.expected(dual, task, b, features=1.0 - own)
            assert abs(log_p - other).max() > 1e-4

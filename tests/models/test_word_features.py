"""Features of words in Masque's reader and in DAANET's passages."""

import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import duals, examples
from tests.models.generation import assert_steps_equal_teacher_forcing
from tests.models.test_daanet import expected
from tfmrc.models.daanet import GIVEN, TASKS
from tfmrc.ops.ids import BOS, PAD
from tfmrc.testing import gradients

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


def test_masque_with_features_does_not_depend_on_batch_or_padding(masque):
    model, _ = masque
    together, longer = model(asked()), model(asked(longer=2))
    for b, question in enumerate(examples.FOUR):
        alone = model(asked([question]))
        size = len(question.answer) + 1
        for other, row in ((alone, 0), (longer, b)):
            np.testing.assert_allclose(
                np.array(other["decoder"])[row, :size],
                np.array(together["decoder"])[b, :size], rtol=1e-4, atol=2e-5,
            )  # fmt: skip
            np.testing.assert_allclose(
                other["ranker"][row], together["ranker"][b], rtol=1e-4, atol=2e-5
            )


# === DAANET ===


def compared(triplets=duals.FOUR, longer=0):
    """Each word's features, which are other ones for the two tasks."""
    x = duals.batch(triplets, longer)
    own = features_of(x["passage_ids"])
    x["question_passage_features"] = own
    x["answer_passage_features"] = np.where(x["passage_ids"][..., None] == PAD, own, 1.0 - own)
    return x


def source(x, task):
    name = f"{GIVEN[task]}_passage_features"
    return duals.source(x, task) | {name: x[name]}


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
            log_p, coverage = expected(dual, task, b, features=own)
            n = len(log_p)
            for found in (outputs, padded):
                np.testing.assert_allclose(found[task][b, :n], log_p, rtol=3e-4, atol=5e-5)
            found = outputs[f"{task}_coverage"][b, :n]
            np.testing.assert_allclose(found, coverage, rtol=1e-3, atol=1e-5)
            other, _ = expected(dual, task, b, features=1.0 - own)
            assert abs(log_p - other).max() > 1e-4


@pytest.mark.parametrize("task", TASKS)
def test_gradients_of_daanet_against_differences_of_the_float64_reference(dual, task):
    """Of the features' weights, and of a weight that reads the kept passage; one example each."""
    x = compared()
    own = x[f"{GIVEN[task]}_passage_features"][0, : len(duals.FOUR[0].passage)].astype("float64")
    second = dual.second_fold[task].key_projection.kernel
    for kernel, cells in (
        (dual.feature_projection.kernel, ((0, 1), (2, 4))),
        (second, ((0, 1), (second.shape[0] // 2, 3), (second.shape[0] - 1, 5))),
    ):
        (gradient,) = gradients(lambda: ops.sum(dual(x)[task][0]), [kernel])
        start = kernel.numpy()
        for cell in cells:
            ends, moved = [], []
            for step in (1e-3, -1e-3):
                changed = start.copy()
                changed[cell] += step
                moved.append(float(changed[cell]))
                kernel.assign(changed)
                ends.append(expected(dual, task, 0, features=own)[0].sum())
            kernel.assign(start)
            right = (ends[0] - ends[1]) / (moved[0] - moved[1])
            assert gradient[cell] == pytest.approx(right, rel=2e-3, abs=2e-4), (kernel.path, cell)


def test_cached_steps_of_daanet_equal_teacher_forcing(dual):
    x = compared()
    for task, direction in (("answer", dual.answering), ("ask", dual.asking)):
        targets, forced = duals.targets(x, task), dual(x)[task]
        assert_steps_equal_teacher_forcing(direction, source(x, task), targets, forced)

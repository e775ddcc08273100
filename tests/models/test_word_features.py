"""Features of words in Masque's reader and in DAANET's passages."""

import numpy as np
import pytest
from keras import ops

from tests.layers.weights import randomise
from tests.models import duals, examples
from tests.models.test_daanet import expected
from tfmrc.models.daanet import TASKS
from tfmrc.models.daanet_task import GIVEN
from tfmrc.ops.ids import BOS, PAD, UNK
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
    words = model.reader.words(x)
    for text, vectors in zip(("question", "passage"), words, strict=True):
        mask = x[f"{text}_ids"] != PAD
        highway = np.array(model.reader_highway(vectors), "float64")
        kernel, bias = (v.numpy().astype("float64") for v in model.reader_projection.weights)
        right = highway @ kernel[:-F] + x[f"{text}_features"] @ kernel[-F:] + bias
        right = np.array(model.reader_positions(right.astype("float32")))
        found = model.reader.embed(vectors, x[f"{text}_ids"], mask, x[f"{text}_features"])
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    right, found = plain(examples.batch(examples.FOUR)), model(x)
    none = model(x | {name: 0.0 * x[name] for name in x if name.endswith("_features")})
    for part in right:
        np.testing.assert_allclose(none[part], right[part], rtol=1e-4, atol=2e-5)
        assert np.abs(np.array(found[part] - right[part])).max() > 1e-3, part


def test_gradients_of_the_features_weights_against_differences_in_float64(masque):
    """With padding, and with an example whose passages are all missing."""
    model, _ = masque
    x = asked(longer=1)
    ids, features = x["passage_ids"], x["passage_features"]
    assert (ids[2] == PAD).all()
    vectors = model.reader.words(x)[1]
    shape = (*ids.shape, model.arguments.hidden_dim)
    shares = np.random.default_rng(5).normal(size=shape) * (ids != PAD)[..., None]
    (gradient,) = gradients(
        lambda: ops.sum(
            model.reader.embed(vectors, ids, ids != PAD, features) * shares.astype("float32")
        ),
        [model.reader_projection.kernel],
    )
    highway = np.array(model.reader_highway(vectors), "float64")
    read = np.concatenate([highway, features], axis=-1)
    kernel, bias = (v.numpy().astype("float64") for v in model.reader_projection.weights)
    normalization = model.reader_positions.normalization
    gamma, beta = (v.numpy().astype("float64") for v in (normalization.gamma, normalization.beta))

    def total(kernel):
        """Without the positions, which are added and do not depend on the weights."""
        projected = read @ kernel + bias
        centered = projected - projected.mean(-1, keepdims=True)
        variance = (centered**2).mean(-1, keepdims=True) + normalization.epsilon
        return ((centered / np.sqrt(variance) * gamma + beta) * shares).sum()

    for cell in ((-1, 0), (-2, 3), (-3, 7), (0, 1)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = kernel.copy()
            moved[cell] += step
            ends.append(total(moved))
        right = (ends[0] - ends[1]) / 2e-6
        assert gradient[cell] == pytest.approx(right, rel=1e-3, abs=1e-3), cell


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
    outputs = dual(x)
    for task in TASKS:
        direction = dual.answering if task == "answer" else dual.asking
        memory = direction.encode(source(x, task))
        target_ids, forced = duals.targets(x, task), np.array(outputs[task])
        given = np.array(direction.attribute(memory, target_ids)["log_probability"])
        cache = direction.init_cache(memory, 2, target_ids.shape[1])
        previous, alive = np.full((4, 2), BOS, "int32"), np.ones(4, bool)
        for t in range(target_ids.shape[1]):
            log_p, cache = direction.decode_step(memory, cache, previous, t)
            for b in np.flatnonzero((target_ids[:, t] != PAD) & alive):
                found = np.array(log_p)[b, :, target_ids[b, t]]
                np.testing.assert_allclose(found, forced[b, t], rtol=1e-4, atol=1e-4)
                np.testing.assert_allclose(given[b, t], forced[b, t], rtol=1e-4, atol=1e-4)
            # A word that is UNK is read as itself in training: such an example ends here.
            alive &= target_ids[:, t] != UNK
            previous = np.repeat(target_ids[:, t : t + 1], 2, axis=1)
        assert alive.sum() >= 2

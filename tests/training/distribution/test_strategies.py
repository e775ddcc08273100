import numpy as np
import pytest

from tests import fresh_python
from tfmrc import training


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    path = tmp_path_factory.mktemp("replicas") / "results.npz"
    fresh_python.forked("-m", "tests.training.two_replicas", path)
    with np.load(path) as archive:
        return dict(archive)


def part(results, label):
    return {k.removeprefix(label): v for k, v in results.items() if k.startswith(label)}


@pytest.mark.parametrize("kind", ["average", "slot", "log"])
def test_two_replicas_train_like_one(toy, kind):
    """Clipping at work in every step, sparse gradients, weights of the global batch, averages."""
    one, two = part(toy, f"one/{kind}/"), part(toy, f"two/{kind}/")
    assert one.keys() == two.keys() and one
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def test_two_replicas_train_on_the_passes_of_a_preprocessors_dataset(toy):
    """Keras looks at a batch before it trains replicas, and begins iterations that it drops."""
    np.testing.assert_allclose(toy["documented two"], toy["documented one"], rtol=1e-5, atol=1e-6)


def test_an_evaluation_on_two_replicas_before_any_training(toy):
    x = np.arange(16.0).reshape(8, 2) % 5.0
    single = x @ [1.0, -2.0] + 0.5
    expected = {
        "single_loss": np.mean((single - x[:, 0]) ** 2),
        "doubled_loss": np.mean((2.0 * single - x[:, 1]) ** 2),
    }
    expected["loss"] = sum(expected.values())
    found = part(toy, "evaluated/")
    assert found.keys() == expected.keys()
    for name, loss in expected.items():
        np.testing.assert_allclose(found[name], loss, rtol=1e-6, err_msg=name)


def test_a_second_model_is_trained_in_the_same_process(toy):
    """As the runs of a grid: TensorFlow's sums of two strategies would get the same numbers."""
    x = np.arange(16.0).reshape(8, 2) % 5.0
    single = x @ [1.0, -2.0] + 0.5
    errors = 2 * (single - x[:, 0]) + 4 * (2.0 * single - x[:, 1])
    gradient = np.array([*(errors @ x), errors.sum()]) / 8
    np.testing.assert_allclose(toy["again"], [1.0, -2.0, 0.5] - 0.01 * gradient, rtol=1e-5)


def test_dropout_masks_differ_between_replicas(toy):
    first, second = (toy["masks"] > 0)[:, 0], (toy["masks"] > 0)[:, 1]
    assert 0.4 < np.mean(first == second) < 0.6
    assert 0.4 < np.mean(second[0] == second[1]) < 0.6
    np.testing.assert_array_equal(toy["masks"][:, 0], toy["single mask"][:, 0])


def test_state_of_the_seed_is_the_same_on_all_replicas(toy):
    np.testing.assert_array_equal(toy["states"], [[7, 2], [7, 2]])


def test_a_step_is_left_out_if_any_replica_overflows(toy):
    np.testing.assert_array_equal(toy["overflow/LossScale"], [1.0, 2.0**14])
    assert np.isnan(toy["overflow/LossScaleOptimizer"][0])


@pytest.mark.parametrize(
    "size, replicas, offers", [(81, 8, "80 or 88"), (3, 2, "2 or 4"), (0, 2, "2 or 4")]
)
def test_batch_that_does_not_divide(size, replicas, offers):
    with pytest.raises(ValueError, match=f"{offers}. Received: batch_size={size}"):
        training.check_batch_size(size, replicas)

import keras
import numpy as np
import pytest

from tests.training import toy
from tfmrc import losses, training


def test_numbers_of_the_paper():
    arguments = training.masque(steps=80_000)
    optimizer = arguments["optimizer"]
    assert isinstance(optimizer, training.AdamW)
    assert optimizer.get_config()["learning_rate"]["config"] == {
        "initial_learning_rate": 0.0,
        "warmup_target": 2.5e-4,
        "warmup_steps": 2000,
        "decay_steps": 78_000,
        "alpha": 0.0,
        "name": "CosineDecay",
    }
    assert (optimizer.weight_decay, optimizer.clip_norm, optimizer.use_ema) == (0.01, 1, False)
    assert arguments["loss_weights"] == {"decoder": 1.0, "ranker": 0.5, "classifier": 0.1}
    assert isinstance(arguments["loss"]["decoder"], losses.SequenceNLL)
    assert arguments["loss"]["ranker"].positive_label == 0.9
    assert arguments["loss"]["classifier"].positive_label == 0.9


def test_a_short_training_warms_up_over_a_tenth_of_its_steps():
    optimizer = training.masque(steps=500)["optimizer"]
    assert optimizer.get_config()["learning_rate"]["config"]["warmup_steps"] == 50


@pytest.mark.equation("masque-22")
def test_total_loss_is_the_weighted_sum_of_what_fit_reports():
    model = toy.model()
    model.compile(**training.masque(steps=10, warmup_steps=1, model=model), run_eagerly=True)
    x, y, weight = next(toy.batches(1))
    logs = model.train_on_batch(x, y, weight, return_dict=True)
    total = logs["decoder_loss"] + 0.5 * logs["ranker_loss"] + 0.1 * logs["classifier_loss"]
    assert logs["loss"] == pytest.approx(total, rel=1e-6)


@pytest.mark.equation("masque-23")
@pytest.mark.equation("masque-24")
@pytest.mark.equation("masque-25")
def test_losses_are_means_over_what_is_known_against_float64():
    model = toy.model()
    model.compile(**training.masque(steps=10, warmup_steps=1, model=model))
    x, y, weight = next(toy.batches(1))
    outputs = {k: v.astype(np.float64) for k, v in model.predict_on_batch(x).items()}
    logs = model.evaluate(x, y, sample_weight=weight, return_dict=True, verbose=0)
    real = y["decoder"] != 0
    likelihood = [
        -p[m].mean() if m.any() else 0 for p, m in zip(outputs["decoder"], real, strict=True)
    ]
    answerable = y["classifier"] == 1
    assert logs["decoder_loss"] == pytest.approx(
        np.mean(np.array(likelihood)[answerable]), rel=1e-5
    )
    for part in ("ranker", "classifier"):
        p = 1 / (1 + np.exp(-outputs[part]))
        label = 0.9 * y[part]
        entropy = -label * np.log(p) - (1 - label) * np.log1p(-p)
        assert logs[f"{part}_loss"] == pytest.approx(entropy[weight[part] > 0].mean(), rel=1e-5)


def test_arguments_survive_saving_the_compiled_model(tmp_path):
    model = toy.model()
    arguments = training.masque(steps=10, warmup_steps=1, model=model)
    model.compile(**arguments, run_eagerly=True)
    x, y, weight = next(toy.batches(1))
    model.train_on_batch(x, y, weight)
    model.save(tmp_path / "model.keras")
    copy = keras.models.load_model(tmp_path / "model.keras")
    assert isinstance(copy.optimizer, training.AdamW)
    assert copy.train_on_batch(x, y, weight) == model.train_on_batch(x, y, weight)

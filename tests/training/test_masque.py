import keras
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

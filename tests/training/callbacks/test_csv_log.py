import keras
import numpy as np

from tfmrc import training


def test_rows_and_columns(tmp_path):
    path = tmp_path / "new" / "log.csv"
    log = training.CsvLog(path)
    log.on_train_begin()
    assert not path.exists()  # by which a run folder tells that no step is kept
    log.on_epoch_end(0, {"loss": 0.1 + 0.2})
    log.on_epoch_end(1, {"val_loss": 1, "loss": 0.25})
    assert path.read_text() == "epoch,loss,val_loss\n0,0.30000000000000004,\n1,0.25,1.0\n"
    assert [p.name for p in path.parent.iterdir()] == ["log.csv"]
    log.on_train_begin()
    log.on_epoch_end(0, {"gain": 1})
    assert path.read_text() == "epoch,gain\n0,1.0\n"


def test_resumed_run_has_each_epoch_once(tmp_path):
    """Also where the table was deleted, or has a row of an epoch that is repeated."""
    x = np.ones((4, 1))

    def train(epochs):
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=True)
        log = training.CsvLog(tmp_path / "log.csv")
        checkpoint = training.Checkpoint(tmp_path / "checkpoints", callbacks=[log])
        model.fit(x, x, epochs=epochs, verbose=0, callbacks=[log, checkpoint])
        return log.path.read_text().splitlines()

    before = train(3)
    sorted((tmp_path / "checkpoints").iterdir())[-1].unlink()
    after = train(4)
    assert after[:3] == before[:3] and [row.split(",")[0] for row in after[1:]] == list("0123")
    (tmp_path / "log.csv").unlink()
    assert train(4) == after, "when no epoch is left"

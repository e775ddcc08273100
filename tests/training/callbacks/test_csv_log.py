import keras
import numpy as np

from tfmrc import training


def log(path, first, *rows):
    callback = training.CsvLog(path)
    callback.on_train_begin()
    for epoch, row in enumerate(rows, first):
        callback.on_epoch_begin(epoch)
        callback.on_epoch_end(epoch, row)


def test_rows_and_columns(tmp_path):
    path = tmp_path / "new" / "log.csv"
    log(path, 0, {"loss": 0.1 + 0.2, "val_loss": 1}, {"loss": 0.25})
    assert path.read_text() == "epoch,loss,val_loss\n0,0.30000000000000004,1.0\n1,0.25,\n"


def test_resumed_run_has_each_epoch_once(tmp_path):
    path = tmp_path / "log.csv"
    log(path, 0, {"loss": 3}, {"loss": 2}, {"loss": 1})
    log(path, 1, {"loss": 2.5}, {"loss": 1.5})
    assert path.read_text() == "epoch,loss\n0,3.0\n1,2.5\n2,1.5\n"


def test_column_that_comes_later(tmp_path):
    path = tmp_path / "log.csv"
    log(path, 0, {"loss": 3})
    log(path, 1, {"loss": 2, "accuracy": 0.5})
    assert path.read_text() == "epoch,accuracy,loss\n0,,3.0\n1,0.5,2.0\n"


def test_new_run_begins_a_new_table(tmp_path):
    path = tmp_path / "log.csv"
    log(path, 0, {"loss": 3}, {"loss": 2})
    log(path, 0, {"gain": 1})
    assert path.read_text() == "epoch,gain\n0,1.0\n"
    assert [p.name for p in tmp_path.iterdir()] == ["log.csv"]


def test_a_training_that_ends_in_its_first_epoch_leaves_no_table(tmp_path):
    callback = training.CsvLog(tmp_path / "log.csv")
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    assert not list(tmp_path.iterdir())  # by which a run folder tells that no step is kept


def test_a_table_that_was_deleted_has_the_rows_of_a_resumed_run(tmp_path):
    x, y = np.ones((4, 1)), np.ones((4, 1))

    def train(epochs):
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        callbacks = [
            training.CsvLog(tmp_path / "log.csv"),
            training.Checkpoint(tmp_path / "checkpoints"),
        ]
        model.fit(x, y, epochs=epochs, verbose=0, callbacks=callbacks)
        return (tmp_path / "log.csv").read_text().splitlines()

    before = train(2)
    (tmp_path / "log.csv").unlink()
    after = train(4)
    assert after[:3] == before and [row.split(",")[0] for row in after[1:]] == list("0123")


def test_a_table_that_was_deleted_when_no_epoch_was_left(tmp_path):
    x, y = np.ones((4, 1)), np.ones((4, 1))
    log = training.CsvLog(tmp_path / "log.csv")

    def train():
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        callbacks = [log, training.Checkpoint(tmp_path / "checkpoints")]
        model.fit(x, y, epochs=2, verbose=0, callbacks=callbacks)
        log.add_missing()
        return log.path.read_text()

    before = train()
    log.path.unlink()
    assert train() == before and train() == before

"""A run with everything in it, which can kill itself.

Arguments: the folder of the run, the kind of data ("positioned" or "arrays"), the number
of replicas, and for each start of the run where to kill it ("epoch:batch", "validation:epoch",
"write:count" or "never"). Each start is a process of its own, forked before TensorFlow or JAX has
started any thread. Prints how each of them ended. With "here" alone it runs in this process.
"""

import itertools
import os
import signal
import sys
import traceback

import keras
import numpy as np

from tests.training import toy
from tfmrc import training

BATCHES, STEPS, EPOCHS = 7, 5, 3


class Kill(keras.callbacks.Callback):
    """Sends SIGKILL to its own process."""

    def __init__(self, where):
        super().__init__()
        self.kind, _, self.number = where.partition(":")
        self.epoch = 0

    def now(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_begin(self, batch, logs=None):
        if (self.kind, self.number) == (str(self.epoch), str(batch)):
            self.now()

    def on_test_batch_begin(self, batch, logs=None):
        if (self.kind, self.number) == ("validation", str(self.epoch)):
            self.now()


def kill_in_write(kill, count):
    """Dies when the temporary file is there and the real one is not."""
    writes, replace = [], os.replace

    def counted(source, target):
        if str(target).endswith(".npz"):
            writes.append(target)
            if len(writes) == count:
                kill.now()
        replace(source, target)

    os.replace = counted


def training_data(kind, checkpoint):
    if kind == "arrays":
        # one batch after the other, as `fit` gives them without shuffling
        rows = list(toy.batches(STEPS))
        return keras.tree.map_structure(lambda *leaves: np.concatenate(leaves), *rows)
    import tensorflow as tf

    batches = list(toy.batches(BATCHES))

    def make(start_step):
        """Epochs in different orders, as `tfmrc.data.make_dataset(repeat=True)` gives them."""

        def generate():
            for step in itertools.count(start_step):
                order = np.random.default_rng(step // BATCHES).permutation(BATCHES)
                # a copy: TensorFlow's operations may write into the array that it was given
                yield tf.nest.map_structure(np.copy, batches[order[step % BATCHES]])

        signature = toy.dataset(1).element_spec
        return tf.data.Dataset.from_generator(generate, output_signature=signature)

    return (checkpoint.dataset(make),)


def start(folder, kind, replicas, where):
    validation = next(toy.batches(1, seed=9))
    run = training.callbacks(
        folder, every_steps=2, patience=10, tensorboard=False, ema_weights=True, monitor="val_loss"
    )
    kill = Kill(where)
    if kill.kind == "write":
        kill_in_write(kill, int(kill.number))

    def build():
        model = toy.model(dropout=0.3)
        # a new run begins with known weights; a resumed one with any
        rng = np.random.default_rng(os.getpid() if run.checkpoint.step else 5)
        model.set_weights([rng.normal(size=w.shape) * 0.3 for w in model.get_weights()])
        arguments = training.masque(
            steps=STEPS * EPOCHS,
            learning_rate=0.03,
            warmup_steps=3,
            ema=0.9,
            clip_norm=0.5,
            model=model,
        )
        arguments["optimizer"] = training.LossScale(arguments["optimizer"], dynamic_growth_steps=6)
        # The run of the default tests is eager: nine processes would trace the same graphs.
        eager = kind == "positioned" and replicas == "1" and keras.backend.backend() == "tensorflow"
        model.compile(**arguments, run_eagerly=eager)
        return model

    if int(replicas) > 1:
        import tensorflow as tf

        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
        )
        with training.mirrored(2, batch_size=8).scope():
            model = build()
    else:
        model = build()
    x, *rest = training_data(kind, run.checkpoint)
    y, weight = rest if rest else (None, None)
    history = model.fit(
        x,
        y,
        sample_weight=weight,
        batch_size=8 if rest else None,
        shuffle=False,
        epochs=EPOCHS,
        steps_per_epoch=STEPS if kind == "positioned" else None,
        validation_data=validation,
        validation_batch_size=4,
        callbacks=[kill, *run],
        verbose=0,
    )
    final = {f"weight/{i}": w for i, w in enumerate(model.get_weights())}
    final |= {f"history/{k}": np.array(v) for k, v in history.history.items()}
    final["epochs"] = np.array(history.epoch)
    if keras.backend.backend() != "tensorflow" and "tensorflow" in sys.modules:
        raise RuntimeError("TensorFlow was imported on another backend")
    np.savez(f"{folder}/final.npz", **final)


def main(folder, kind, replicas, *places):
    if places == ("here",):
        start(folder, kind, replicas, "never")
        return
    for where in places:
        child = os.fork()
        if not child:
            code = 1
            try:
                start(folder, kind, replicas, where)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    main(*sys.argv[1:])

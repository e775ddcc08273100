"""Trains one model on one device and on two replicas; writes weights and averages of both.

Argument: the file to write.
"""

import sys

import keras
import numpy as np
import tensorflow as tf

from tests.toy_paper import ToyModel, ToyPreprocessor, example
from tests.training import toy
from tfmrc import training
from tfmrc.layers.regularization.dropout import Dropout

STEPS, BATCH = 6, 8


def compiled():
    model = toy.model()
    model.compile(
        **training.masque(
            steps=STEPS + 1, learning_rate=0.05, warmup_steps=2, ema=0.8, clip_norm=0.3, model=model
        )
    )
    return model


def trained(data, strategy):
    with strategy.scope():
        model = compiled()
    logs = model.fit(data, verbose=0, shuffle=False).history
    # `fit` leaves the averages in the model
    results = {f"average/{i}": w for i, w in enumerate(model.get_weights())}
    results |= {f"slot/{v.path}": v.numpy() for v in model.optimizer.variables}
    return results | {f"log/{k}": np.array(v) for k, v in logs.items()}


def documented(strategy):
    """Weights of a model that is trained on a preprocessor's dataset, in three shuffled passes."""
    examples = [example(number) for number in range(42)]
    preprocessor = ToyPreprocessor.from_examples(examples)
    with strategy.scope():
        model = ToyModel(vocabulary_size=len(preprocessor.vocabulary))
        random = np.random.default_rng(1)
        model.set_weights([random.normal(size=w.shape) for w in model.get_weights()])
        loss = {"position": keras.losses.SparseCategoricalCrossentropy()}
        model.compile(training.SGD(0.5), loss)
    batches = preprocessor.dataset(examples, batch_size=4, shuffle=True, drop_remainder=True)
    model.fit(batches, epochs=3, verbose=0)
    return np.concatenate([w.ravel() for w in model.get_weights()])


def evaluated(strategy):
    """The losses of a model that was never trained."""
    with strategy.scope():
        model = toy.Doubled()
        model.set_weights([np.array([[1.0], [-2.0]]), np.array([0.5])])
        model.compile(loss={"single": "mse", "doubled": "mse"})
    x = np.arange(16.0).reshape(8, 2) % 5.0
    y = {"single": x[:, :1], "doubled": x[:, 1:]}
    return model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)


def again():
    """The averages of a model of other sizes, under a strategy that is asked for again."""
    x = np.arange(16.0).reshape(8, 2) % 5.0
    y = {"single": x[:, :1], "doubled": x[:, 1:]}
    with training.mirrored(2).scope():
        model = toy.Doubled()
        model.set_weights([np.array([[1.0], [-2.0]]), np.array([0.5])])
        model.compile(training.SGD(0.01, 0.0, False), {"single": "mse", "doubled": "mse"})
    model.fit(x, y, batch_size=8, verbose=0)
    return np.concatenate([w.ravel() for w in model.get_weights()])


def masks(strategy):
    with strategy.scope():
        layer = Dropout(0.5, seed=7)

    @tf.function(autograph=False)
    def draw():
        return strategy.run(lambda: layer(tf.ones((30, 30)), training=True))

    draws = [strategy.experimental_local_results(draw()) for _ in range(2)]
    states = strategy.experimental_local_results(layer.variables[0].value)
    return np.array(draws), np.array([s.numpy() for s in states])


def overflow(strategy, wrapper):
    """Weights after one step in which only the second replica's gradient is not finite."""
    with strategy.scope():
        weight = keras.Variable([1.0], name="kernel")
        optimizer = wrapper(training.AdamW(0.1))
        optimizer.build([weight])

    @tf.function(autograph=False)
    def step():
        replica = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, "float32")
        optimizer.apply([tf.reshape(1.0 / (1.0 - replica), (1,))], [weight])

    strategy.run(step)
    return np.append(weight.numpy(), optimizer.dynamic_scale.numpy())


def main(path):
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    two = training.mirrored(2, batch_size=BATCH)
    results = {}
    for wrapper in (training.LossScale, keras.optimizers.LossScaleOptimizer):
        results[f"overflow/{wrapper.__name__}"] = overflow(two, wrapper)
    results["masks"], results["states"] = masks(two)
    results["single mask"] = masks(tf.distribute.get_strategy())[0]
    results |= {f"evaluated/{name}": loss for name, loss in evaluated(two).items()}
    results["again"] = again()
    data = toy.dataset(STEPS, BATCH)
    for label, strategy in (("one", tf.distribute.get_strategy()), ("two", two)):
        results |= {f"{label}/{k}": v for k, v in trained(data, strategy).items()}
        results[f"documented {label}"] = documented(strategy)
    np.savez(path, **results)


if __name__ == "__main__":
    main(*sys.argv[1:])

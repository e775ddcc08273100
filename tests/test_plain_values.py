"""The plugin that sets plain values of layers."""

import keras
import numpy as np
import tensorflow as tf

from tests import plain_values

VALUES = {
    "none": None,
    "number": 3,
    "share": 0.5,
    "text": "owl",
    "flag": True,
    "pair": (1, 2),
    "names": ["owl"],
    "table": {"owl": 1},
    "array": np.ones(2),
    "subclass": np.float64(0.5),
}


class Sized(keras.Layer):
    """A layer with a property that can be set."""

    @property
    def size(self):
        return self.twice // 2

    @size.setter
    def size(self, value):
        self.twice = 2 * value


def filled(set_value, monkeypatch):
    monkeypatch.setattr(keras.Layer, "__setattr__", set_value)
    layer = Sized(name="sized", dtype="float32")
    for name, value in VALUES.items():
        setattr(layer, name, value)
    layer.size = 4
    layer.inner = keras.layers.Dense(2, name="inner")
    layer.number = 5  # a second value
    layer.inner = None
    return layer


def test_a_layer_is_as_keras_would_have_it(monkeypatch):
    ours = filled(plain_values.set_value, monkeypatch)
    theirs = filled(plain_values.set_any_value, monkeypatch)
    assert ours.size == theirs.size == 4 and ours.twice == 8
    assert ours.number == 5 and ours.inner is None
    assert list(vars(ours)) == list(vars(theirs))
    for name, value in vars(theirs).items():
        assert type(vars(ours)[name]) is type(value), name
    assert [each.name for each in ours._layers] == [each.name for each in theirs._layers]
    found = [tf.train.TrackableView(each).children(each) for each in (ours, theirs)]
    assert set(found[0]) == set(found[1]) and "inner" in found[0]

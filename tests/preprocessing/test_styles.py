import pytest
import tensorflow as tf

from tfmrc.preprocessing.styles import Styles


def test_lookup():
    result = Styles(("qa", "nlg", "haiku")).lookup(["haiku", "qa", "qa"])
    assert result.dtype == tf.int32
    assert result.numpy().tolist() == [2, 0, 0]
    assert Styles(["qa"]).lookup(tf.zeros([0], tf.string)).shape == (0,)


def test_a_name_that_is_not_utf8_is_refused_with_a_readable_message():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Received: style=.*\ufffdqa"):
        tf.function(Styles(("qa", "nlg")).lookup, autograph=False)(tf.constant([b"\xefqa"]))

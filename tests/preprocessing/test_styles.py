import pytest
import tensorflow as tf

from tfmrc.preprocessing.styles import Styles


def test_lookup():
    result = Styles(("qa", "nlg", "haiku")).lookup(["haiku", "qa", "qa"])
    assert result.dtype == tf.int32
    assert result.numpy().tolist() == [2, 0, 0]
    assert Styles(["qa"]).lookup(tf.zeros([0], tf.string)).shape == (0,)


@pytest.mark.parametrize("graph", [False, True])
def test_unknown_style(graph):
    lookup = Styles(("qa", "nlg")).lookup
    if graph:
        lookup = tf.function(
            lookup, input_signature=[tf.TensorSpec([None], tf.string)], autograph=False
        )
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        lookup(tf.constant(["qa", "ode", "QA"]))
    assert "styles of this model are qa, nlg" in str(error.value)
    assert "ode" in str(error.value)


@pytest.mark.parametrize("names", [(), ("qa", "qa"), ("qa", ""), "qa"])
def test_names_are_checked(names):
    with pytest.raises(ValueError, match="Received: styles="):
        Styles(names)


def test_a_name_that_is_not_utf8_is_refused_with_a_readable_message():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Received: style=.*\ufffdqa"):
        tf.function(Styles(("qa", "nlg")).lookup, autograph=False)(tf.constant([b"\xefqa"]))

"""The policy that a map has for a layer whose weights are created in its constructor."""

import keras
import pytest

from tfmrc.ops.own_policy import own_policy


def layer(**policies):
    found = keras.dtype_policies.DTypePolicyMap("float32")
    for name, policy in policies.items():
        found[name.replace("__", "/")] = policy
    return keras.layers.Dense(2, name="words", dtype=found)


def test_without_a_map_it_is_that_of_the_layer():
    assert own_policy(keras.layers.Dense(2, dtype="mixed_bfloat16")).name == "mixed_bfloat16"


@pytest.mark.parametrize("has_parts", [False, True])
def test_of_the_layer_s_own_name(has_parts):
    found = own_policy(layer(words="bfloat16", others="float16"), has_parts=has_parts)
    assert found.name == "bfloat16"


def test_of_another_name_alone_it_is_the_default():
    assert own_policy(layer(others="float16")).name == "float32"


def test_of_parts_the_map_stays_where_they_may_have_one():
    words = layer(words__kernel="bfloat16")
    assert own_policy(words, has_parts=True) is words.dtype_policy

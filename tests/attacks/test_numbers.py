"""A part of the numbers of `make attacks`: one model in bfloat16."""

import pytest

from tests.attacks import numbers


@pytest.mark.slow
def test_gradients_are_finite_at_one_word_and_many():
    assert numbers.attack_model("MaxoutPointerQG", "mixed_bfloat16", 30) == []

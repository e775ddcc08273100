"""A part of the numbers of `make attacks`: one model in bfloat16, and seeds in two processes."""

import json

import pytest

from tests import fresh_python
from tests.attacks import numbers


@pytest.mark.slow
def test_gradients_are_finite_at_one_word_and_many():
    assert numbers.attack_model("MaxoutPointerQG", "mixed_bfloat16", 30) == []


@pytest.mark.slow
def test_a_seed_gives_the_same_weights_in_two_processes():
    output = fresh_python.run("-m", "tests.attacks.numbers")
    there = json.loads(output.splitlines()[-1])
    assert numbers.digests() == there
    assert len(set(there.values())) == 4

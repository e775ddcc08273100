import numpy as np
import pytest
from keras import Variable, ops

from tests.layers.agreement import close, same_gradients
from tests.reference import dual_attention as reference
from tfmrc.ops.similarity import trilinear_similarity


@pytest.mark.equation("masque-02")
def test_values_and_gradients_are_those_of_the_concatenation():
    random = np.random.default_rng(0)
    left, right = Variable(random.normal(size=(2, 5, 3))), Variable(random.normal(size=(2, 4, 3)))
    weight = Variable(random.normal(size=9))
    mix = random.normal(size=(2, 5, 4))

    def expected(left, right, weight):
        pairs = zip(left, right, strict=True)
        return np.stack([reference.similarity(a, b, weight) for a, b in pairs])

    close(
        trilinear_similarity(left, right, weight),
        expected(*(ops.convert_to_numpy(v) for v in (left, right, weight))),
    )
    same_gradients(
        lambda: ops.sum(trilinear_similarity(left, right, weight) * mix.astype("float32")),
        {"left": left, "right": right, "weight": weight},
        lambda v: float((expected(v["left"], v["right"], v["weight"]) * mix).sum()),
    )


def test_leading_axes_broadcast():
    random = np.random.default_rng(1)
    passages, question = random.normal(size=(2, 3, 5, 4)), random.normal(size=(2, 1, 6, 4))
    weight = random.normal(size=12)
    got = np.array(trilinear_similarity(passages, question, weight))
    assert got.shape == (2, 3, 5, 6)
    close(got[1, 2], reference.similarity(passages[1, 2], question[1, 0], weight))

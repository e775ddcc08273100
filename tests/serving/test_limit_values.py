"""The limits themselves, without a server; `test_limits.py` has them in one."""

import pytest

from tfmrc.predictors.errors import RequestError
from tfmrc.serving.limits import Limits


def test_defaults_are_those_of_the_docstring():
    limits = Limits()
    assert (limits.body_bytes, limits.rows, limits.passages) == (16_777_216, 1024, 4096)
    assert (limits.batch_rows, limits.waiting_rows) == (32, 3200)
    assert (limits.requests, limits.connections) == (256, 512)
    assert (limits.seconds, limits.receive_seconds, limits.drain_seconds) == (60, 20, 30)
    with pytest.raises(AttributeError):
        limits.rows = 5
    with pytest.raises(TypeError):
        Limits(1)


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (0, 0), (1, 2, 2)])
def test_shapes_within_the_limits(shape):
    Limits(rows=3, passages=4).check_shape("text", shape)


@pytest.mark.parametrize("shape", [(4,), (4, 1), (1, 5), (1, 4, 2)])
def test_shapes_beyond_the_limits_are_413(shape):
    said = r"^`text` must have at most 3 rows of at most 4 elements\. Received: "
    with pytest.raises(RequestError, match=said + " x ".join(map(str, shape)) + "$") as error:
        Limits(rows=3, passages=4).check_shape("text", shape)
    assert error.value.status == 413

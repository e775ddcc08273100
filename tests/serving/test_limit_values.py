"""The limits themselves, without a server; `test_limits.py` has them in one."""

import math

import numpy as np
import pytest

from tfmrc.predictors.errors import RequestError
from tfmrc.serving.limits import Limits

SMALL = Limits(string_bytes=5, rows=3, passages=4)


def test_defaults_are_those_of_the_docstring():
    limits = Limits()
    assert (limits.body_bytes, limits.string_bytes) == (16_777_216, 4_194_304)
    assert (limits.rows, limits.passages) == (1024, 100_000)
    assert (limits.requests, limits.connections) == (256, 512)
    assert (limits.seconds, limits.receive_seconds, limits.drain_seconds) == (60, 20, 30)
    with pytest.raises(AttributeError):
        limits.rows = 5
    with pytest.raises(TypeError):
        Limits(1)


@pytest.mark.parametrize("value", [0, -1, 0.0, True, None, "5", math.nan])
@pytest.mark.parametrize("name", ["body_bytes", "drain_seconds"])
def test_what_is_not_a_positive_number_is_refused(name, value):
    with pytest.raises(ValueError, match=f"`{name}` must be a positive number. Received: {name}="):
        Limits(**{name: value})


@pytest.mark.parametrize("name", ["body_bytes", "rows", "requests"])
def test_only_seconds_may_be_infinite(name):
    with pytest.raises(
        ValueError, match=f"`{name}` must be a positive number. Received: {name}=inf"
    ):
        Limits(**{name: math.inf})


@pytest.mark.parametrize("value", [1, 0.5, 10**9, math.inf])
def test_positive_numbers_are_taken(value):
    assert Limits(seconds=value).seconds == value


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (0, 0), (1, 4, 4)])
def test_shapes_within_the_limits(shape):
    SMALL.check_shape("text", shape)
    SMALL.check({"text": np.zeros(shape)})


def test_rows_may_be_more_than_elements_per_row():
    Limits(rows=9, passages=2).check_shape("text", (9, 2))


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((4,), "A request must have at most 3 rows. Received: 4"),
        ((4, 1), "A request must have at most 3 rows. Received: 4"),
        ((1, 5), "`text` must have at most 4 elements per row. Received: 5"),
        ((1, 4, 5), "`text` must have at most 4 elements per row. Received: 5"),
    ],
)
def test_shapes_beyond_the_limits_are_413(shape, words):
    for attempt in (
        lambda: SMALL.check_shape("text", shape),
        lambda: SMALL.check({"good": np.zeros(3), "text": np.full(shape, b"a", object)}),
    ):
        with pytest.raises(RequestError, match=words.replace(".", r"\.")) as error:
            attempt()
        assert error.value.status == 413


def test_strings_beyond_the_limit_are_413():
    SMALL.check({"text": np.array([[b"12345", b""]], object), "none": np.zeros((0, 2), object)})
    with pytest.raises(RequestError, match="`b` must hold strings of at most 5 bytes") as error:
        SMALL.check({"a": np.array([b"1"], object), "b": np.array([[b"1", b"123456"]], object)})
    assert error.value.status == 413
    assert "Received: 6 bytes" in str(error.value)

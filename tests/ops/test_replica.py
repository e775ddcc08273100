import pytest

from tfmrc.ops import replica


@pytest.fixture(autouse=True)
def put_back():
    previous = replica.register_replica_id(lambda: 0)
    yield
    replica.register_replica_id(previous)


def test_one_replica_is_number_zero():
    replica.register_replica_id(replica._single)
    assert replica.replica_id() == 0


def test_registered_function_is_asked_each_time():
    numbers = iter([4, 5])
    replica.register_replica_id(lambda: next(numbers))
    assert [replica.replica_id(), replica.replica_id()] == [4, 5]


def test_register_returns_the_previous_function():
    first = replica.register_replica_id(lambda: 1)
    assert replica.register_replica_id(first)() == 1

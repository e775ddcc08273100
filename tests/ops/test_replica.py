import pytest

from tfmrc.ops import replica


@pytest.fixture(autouse=True)
def put_back():
    previous = replica.register_replica_id(lambda: 0)
    yield
    replica.register_replica_id(previous)


def test_registered_function_is_asked_each_time():
    replica.register_replica_id(replica._single)
    assert replica.replica_id() == 0
    numbers = iter([4, 5])
    assert replica.register_replica_id(lambda: next(numbers)) is replica._single
    assert [replica.replica_id(), replica.replica_id()] == [4, 5]

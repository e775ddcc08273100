"""The replica of a data-parallel strategy that the code runs on.

Layers and operations import no TensorFlow, yet dropout has to know its replica: a strategy mirrors
the state of a seed generator, so that every replica would draw the same mask. Whoever knows the
strategy (`tfmrc.training`, for TensorFlow's) registers a function here; without one there is one
replica, number 0.
"""

from collections.abc import Callable
from typing import Any

ReplicaId = Callable[[], Any]


def _single() -> int:
    return 0


_source: ReplicaId = _single


def replica_id() -> Any:
    """Returns the number of the replica that the calling code runs on, 0 if there is only one.

    Returns:
        The Python integer 0, or whatever the registered function gives: an integer or a scalar
        int32 tensor.

    Example:

    >>> from tfmrc.ops import replica
    >>> previous = replica.register_replica_id(lambda: 3)
    >>> replica.replica_id()
    3
    >>> _ = replica.register_replica_id(previous)
    """
    return _source()


def register_replica_id(source: ReplicaId) -> ReplicaId:
    """Makes `source` the function that `replica_id` asks.

    Args:
        source: a function without arguments that returns an integer or a scalar integer tensor.

    Returns:
        The function that was registered before, so that it can be put back.

    Raises:
        TypeError: `source` cannot be called.
    """
    global _source
    if not callable(source):
        raise TypeError(f"`source` must be a function without arguments. Received: source={source}")
    previous, _source = _source, source
    return previous

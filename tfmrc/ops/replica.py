"""Id of the current replica of a data-parallel strategy.

Layers and operations do not import TensorFlow, but dropout depends on the replica: a strategy
mirrors the state of a seed generator, so every replica would draw the same mask. `tfmrc.training`
registers a function for TensorFlow's strategies here. Without one there is a single replica 0.
"""

from collections.abc import Callable
from typing import Any

ReplicaId = Callable[[], Any]


def _single() -> int:
    return 0


_source: ReplicaId = _single


def replica_id() -> Any:
    """Returns the id of the current replica, 0 if there is only one.

    Returns:
        The Python integer 0, or the result of the registered function: an integer or a scalar
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
    """Registers the function that `replica_id` calls.

    Args:
        source: callable without arguments. Returns an integer or a scalar integer tensor.

    Returns:
        The previous function, so that it can be restored.
    """
    global _source
    previous, _source = _source, source
    return previous

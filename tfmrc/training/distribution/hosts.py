"""Training on several hosts: Keras' data parallelism on JAX, one process per host."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras

from tfmrc.training.distribution.strategies import check_batch_size


def data_parallel(
    hosts: int | None = None,
    rank: int | None = None,
    coordinator: str | None = None,
    *,
    batch_size: int | None = None,
) -> None:
    """Connects this process with those of the other hosts; `fit` then shares every batch.

    All hosts run the same program. Call this first, before models and before any other computation
    of JAX. Every host prepares the whole batch and trains on its rows (`rows_of_host`), so that
    weights of examples, dropout and loss are those of one process with the whole batch.

    Args:
        hosts: int or None. Number of processes; None to detect it with the rest, as JAX does under
            Slurm, Open MPI and Kubernetes. Default: None.
        rank: int or None. Number of this process, from 0. Default: None.
        coordinator: str or None. Address of process 0, such as `host0:1234`. Default: None.
        batch_size: int or None. Size of the whole batch to check; None for no check. Default: None.

    Raises:
        RuntimeError: If Keras runs on another backend than JAX.
        ValueError: If `batch_size` is not divisible by the number of devices.

    Example:

        from tfmrc import training

        training.data_parallel(hosts=4, rank=0, coordinator="host0:1234")
        model = ...
        model.fit(training.rows_of_host(dataset), ...)
    """
    if keras.backend.backend() != "jax":
        raise RuntimeError(
            "Several hosts train on JAX: set KERAS_BACKEND=jax. "
            f"Received: backend={keras.backend.backend()}"
        )
    import jax

    if hosts is None:
        jax.distributed.initialize()
    else:
        keras.distribution.initialize(coordinator, hosts, rank)
    if batch_size is not None:
        check_batch_size(batch_size, jax.device_count())
    # Keras' own sharding needs a batch size that is known.
    keras.distribution.set_distribution(keras.distribution.DataParallel(auto_shard_dataset=False))


def is_single_host() -> bool:
    """Returns True if there are no other hosts."""
    return keras.distribution.distribution() is None


def is_first_host() -> bool:
    """Returns True for the process that saves: the only one, or that of rank 0."""
    if keras.backend.backend() != "jax":
        return True
    import jax

    return jax.process_index() == 0


def wait_for_hosts(what: str) -> None:
    """Waits until all hosts have come to this point; returns at once on a single host."""
    if is_single_host():
        return
    from jax.experimental import multihost_utils

    multihost_utils.sync_global_devices(what)


@contextmanager
def on_this_host() -> Iterator[None]:
    """Computes on this host only while the block runs: saving would wait for the others."""
    known = keras.distribution.distribution()
    keras.distribution.set_distribution(None)
    try:
        yield
    finally:
        keras.distribution.set_distribution(known)


@contextmanager
def named_failure() -> Iterator[None]:
    """Raises an OSError that says how to go on if another host ends while the block runs."""
    try:
        yield
    except RuntimeError as error:
        if is_single_host():
            raise
        raise OSError(
            f"Another host has ended or cannot be reached ({str(error).splitlines()[0]:.200}). "
            "The same command on every host resumes from the last checkpoint."
        ) from error


def by_first_host(write: Callable[..., None]) -> Callable[..., None]:
    """Decorates a function that writes a file, so that only the first host runs it."""

    @functools.wraps(write)
    def written(*arguments: Any) -> None:
        if is_first_host():
            with on_this_host():
                write(*arguments)

    return written


def rows_of_host(dataset: Any) -> Any:
    """Returns the dataset with this host's rows of each batch; unchanged on a single host.

    A batch that the devices cannot share equally, such as the last one of a validation, gets rows
    of zeros, whose weight is 0.

    Args:
        dataset: `tf.data.Dataset`. Batches `(x, y, sample_weight)`, the same on every host.
    """
    if is_single_host():
        return dataset
    import jax
    import tensorflow as tf

    devices, hosts, rank = jax.device_count(), jax.process_count(), jax.process_index()

    def rows(values: Any) -> Any:
        size = tf.shape(values)[0]
        share = -(-size // devices) * (devices // hosts)
        missing = [[0, share * hosts - size], *([0, 0] for _ in values.shape[1:])]
        return tf.pad(values, missing)[rank * share : (rank + 1) * share]

    return dataset.map(lambda *batch: tf.nest.map_structure(rows, batch))

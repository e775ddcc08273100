"""TensorFlow's mirrored strategy, with further checks."""

from collections.abc import Sequence
from typing import Any

import keras

from tfmrc.training.distribution import replicas


def mirrored(
    devices: Sequence[str] | int | None = None,
    *,
    batch_size: int | None = None,
) -> Any:
    """Makes a `tf.distribute.MirroredStrategy` under which tfmrc trains as on one device.

    Build and compile the model in its scope, then call `fit` with batches of the global size:

        strategy = mirrored(batch_size=80)
        with strategy.scope():
            model = ...
            model.compile(**training.masque(steps=80_000))
        model.fit(dataset, ...)

    Several replicas train like one because of losses that are `keras.losses.Loss` objects (their
    mean is divided by the number of replicas), weights of examples made on the global batch,
    `AdamW` of this package (clips the sum of the replicas' gradients) and `tfmrc.layers.Dropout`
    (masks differ between replicas). Batches must divide by the number of replicas, the last one
    of an epoch too: make them with `drop_remainder=True`.

    Keras refuses or fails under this strategy with `jit_compile=True`, `steps_per_execution`
    above 1 and strings in the batch.

    Args:
        devices: list of str, int or None. Names such as "GPU:0", or how many devices of the best
            kind at hand; None for all GPUs, or all logical CPU devices where there is no GPU.
            Default: None.
        batch_size: int or None. Size of the global batch, to be checked; None for no check.
            Default: None.

    Returns:
        The strategy.

    Raises:
        RuntimeError: Keras runs on another backend than TensorFlow.
        ValueError: there are fewer devices than asked for, or `batch_size` does not divide by
            the number of replicas.

    Example:

    >>> from tfmrc import training
    >>> training.mirrored(["CPU:0"], batch_size=80).num_replicas_in_sync
    1
    """
    if keras.backend.backend() != "tensorflow":
        raise RuntimeError(
            "`mirrored` is for Keras' TensorFlow backend; on JAX use "
            f"`keras.distribution.DataParallel`. Received: backend={keras.backend.backend()}"
        )
    import tensorflow as tf

    replicas.register()
    if devices is None or isinstance(devices, int):
        names = _logical_devices()
        if devices is not None and not 0 < devices <= len(names):
            raise ValueError(
                f"`devices` must be between 1 and {len(names)}, the devices at hand ({names}). "
                f"Received: devices={devices}"
            )
        devices = names[:devices]
    if batch_size is not None:
        check_batch_size(batch_size, len(devices))
    return tf.distribute.MirroredStrategy(list(devices))


def check_batch_size(batch_size: int, num_replicas: int) -> int:
    """Returns the share of the global batch that one replica gets.

    Args:
        batch_size: int. Size of the global batch.
        num_replicas: int. Number of replicas.

    Returns:
        `batch_size // num_replicas`.

    Raises:
        ValueError: the batch does not divide.

    Example:

    >>> from tfmrc.training import check_batch_size
    >>> check_batch_size(80, 8)
    10
    """
    if batch_size < 1 or batch_size % num_replicas:
        lower = max(batch_size // num_replicas, 1) * num_replicas
        raise ValueError(
            f"The global batch must divide by the {num_replicas} replicas, so that each gets the "
            f"same share: take {lower} or {lower + num_replicas}. Received: batch_size={batch_size}"
        )
    return batch_size // num_replicas


def _logical_devices() -> list[str]:
    import tensorflow as tf

    for kind in ("GPU", "CPU"):
        result = tf.config.list_logical_devices(kind)
        if result:
            return [device.name.removeprefix("/device:") for device in result]
    return []

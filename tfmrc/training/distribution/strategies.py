"""TensorFlow's mirrored strategy for one machine."""

from collections.abc import Sequence
from typing import Any

import keras

_STRATEGIES: dict[tuple[str, ...], Any] = {}


def mirrored(devices: Sequence[str] | int | None = None, *, batch_size: int | None = None) -> Any:
    """Returns a `tf.distribute.MirroredStrategy` under which tfmrc trains as on one device.

    Build and compile the model in its scope, then call `fit` with batches of the global size::

        strategy = mirrored(batch_size=80)
        with strategy.scope():
            model = ...
            model.compile(**training.masque(steps=80_000))
        model.fit(dataset, ...)

    Several replicas train like one because losses are `keras.losses.Loss` objects (their mean is
    divided by the number of replicas), sample weights are computed on the global batch, `AdamW` of
    this package clips the sum of the replicas' gradients, and masks of `tfmrc.layers.Dropout`
    differ between replicas. All batches must be divisible by the number of replicas, including the
    last one of an epoch: use `drop_remainder=True`.

    The same devices give the same strategy in the whole process. TensorFlow numbers the sums of
    every strategy from the same start, so that a second one fails at the sums of the first.

    Under this strategy Keras does not support `jit_compile=True`, `steps_per_execution` above 1,
    `gradient_accumulation_steps` and strings in the batch.

    Args:
        devices: list of str, int or None. Names such as "GPU:0", or their largest number; None for
            all GPUs, or all logical CPU devices if there is no GPU. Default: None.
        batch_size: int or None. Size of the global batch to check; None for no check.
            Default: None.

    Returns:
        The strategy.

    Raises:
        RuntimeError: If Keras runs on another backend than TensorFlow.
        ValueError: If `batch_size` is not divisible by the number of replicas.

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

    if devices is None or isinstance(devices, int):
        kind = "GPU" if tf.config.list_logical_devices("GPU") else "CPU"
        known = [d.name.removeprefix("/device:") for d in tf.config.list_logical_devices(kind)]
        devices = known[:devices]
    if batch_size is not None:
        check_batch_size(batch_size, len(devices))
    names = tuple(devices)
    if names not in _STRATEGIES:
        _STRATEGIES[names] = tf.distribute.MirroredStrategy(names)
    return _STRATEGIES[names]


def check_batch_size(batch_size: int, num_replicas: int) -> int:
    """Returns the batch size of one replica.

    Args:
        batch_size: int. Size of the global batch.
        num_replicas: int. Number of replicas.

    Returns:
        `batch_size // num_replicas`.

    Raises:
        ValueError: If the batch is not divisible by the number of replicas.

    Example:

    >>> from tfmrc.training import check_batch_size
    >>> check_batch_size(80, 8)
    10
    """
    if batch_size < 1 or batch_size % num_replicas:
        lower = max(batch_size // num_replicas, 1) * num_replicas
        raise ValueError(
            f"The global batch must be divisible by the {num_replicas} replicas: use {lower} or "
            f"{lower + num_replicas}. Received: batch_size={batch_size}"
        )
    return batch_size // num_replicas

"""Description of the machine that a result was measured on."""

import os
import platform
from typing import Any


def machine() -> dict[str, Any]:
    """Returns processor, cores, memory, GPUs, operating system and versions of this machine.

    Example:

    >>> sorted(machine())
    ['cores', 'gpus', 'memory_gib', 'processor', 'system', 'versions']
    """
    from tfmrc.storage.parts import tool_versions

    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gib": _memory(),
        "gpus": _gpus(),
        "system": platform.system(),
        "versions": tool_versions(),
    }


def _processor() -> str:
    from tfmrc.ops.portable import cpu_info

    lines = cpu_info().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> float | None:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None
    return round(pages * size / 2**30, 1)


def _gpus() -> list[str]:
    import keras
    import tensorflow as tf

    if keras.backend.backend() == "jax":
        import jax

        return [device.device_kind for device in jax.devices() if device.platform == "gpu"]

    return [
        tf.config.experimental.get_device_details(device).get("device_name", device.name)
        for device in tf.config.list_physical_devices("GPU")
    ]


def summary(facts: dict[str, Any]) -> str:
    """Returns the facts of `machine` in one line.

    Example:

    >>> summary({"processor": "X", "cores": 2, "memory_gib": 8.0, "gpus": []})
    'X, 2 cores, 8.0 GiB, no GPU'
    """
    gpus = " + ".join(facts["gpus"]) or "no GPU"
    return f"{facts['processor']}, {facts['cores']} cores, {facts['memory_gib']} GiB, {gpus}"

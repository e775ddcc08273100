"""How glibc gives out and takes back the memory of tensors: much of the speed on a CPU."""

import ctypes
import os
import sys

__all__ = ["keep_freed_memory", "peak_memory", "reuse_freed_memory"]

SWITCH = "TFMRC_KEEP_FREED_MEMORY"
# Parameters of `mallopt` in glibc's malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
_MIB = 2**20
_kept = False


def keep_freed_memory() -> bool:
    """Keeps the memory of freed tensors in this process, for the next ones.

    By default glibc asks the system for each block above 32 MiB, or above 64 MiB in threads other
    than the first, and returns it at once. The system fills every page with zeros at its first use,
    which takes much of the time of a training step. (Where TensorFlow uses oneDNN, on CPUs with
    AVX-512 VNNI, its allocator keeps most freed memory already.) After this call the process has
    one arena, and its memory does not shrink below its peak.

    The commands of `tfmrc` call it. A program of your own calls it before it imports TensorFlow,
    since threads that exist already keep their arenas. The environment variable
    `TFMRC_KEEP_FREED_MEMORY=0` switches it off.

    Returns:
        Whether it had an effect: only with glibc, and unless switched off.
    """
    global _kept
    done = [
        _set(_ARENA_MAX, 1),
        _set(_MMAP_THRESHOLD, 1024 * _MIB),
        _set(_TRIM_THRESHOLD, 2048 * _MIB - 1),
        _set(_TOP_PAD, 64 * _MIB),
    ]
    _kept = all(done)
    return _kept


def reuse_freed_memory() -> bool:
    """Lets the process reuse blocks up to 32 MiB, as glibc does by default.

    `tf.data.Dataset.from_generator` sets the limit of the whole process to 128 KiB with Python 3.11
    and later, so that every larger tensor is made of new pages. This call undoes it, from within
    the generator, after TensorFlow has made the dataset's operation.

    Returns:
        Whether it had an effect: only with glibc, and unless switched off.
    """
    if _kept:
        return _set(_MMAP_THRESHOLD, 1024 * _MIB)
    # 32 MiB is the greatest limit that glibc chooses itself; it then trims above twice as much.
    return all([_set(_MMAP_THRESHOLD, 32 * _MIB), _set(_TRIM_THRESHOLD, 64 * _MIB)])


def peak_memory() -> float:
    """Returns the largest memory that this process has held so far, in MiB."""
    import resource  # not on Windows

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (_MIB if sys.platform == "darwin" else 2**10)  # bytes there, KiB elsewhere


def _set(parameter: int, value: int) -> bool:
    if os.environ.get(SWITCH) == "0" or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    return mallopt is not None and bool(mallopt(parameter, value))

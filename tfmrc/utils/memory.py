"""How glibc allocates and frees the memory of tensors, which matters for speed on a CPU."""

import ctypes
import os
import sys

SWITCH = "TFMRC_KEEP_FREED_MEMORY"
# Parameters of `mallopt` in glibc's malloc.h.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8
_MIB = 2**20
_kept = False


def keep_freed_memory() -> bool:
    """Keeps the memory of freed tensors in this process for reuse.

    By default glibc requests each block above 32 MiB (64 MiB in threads other than the first) from
    the system and returns it immediately when it is freed. The system zeroes every page at its
    first use, which takes much of the time of a training step. (Where TensorFlow uses oneDNN, on
    CPUs with AVX-512 VNNI, its allocator keeps most freed memory already.) After this call the
    process has one arena, and its memory does not shrink.

    The commands of `tfmrc` call it. Your own program must call it before it imports TensorFlow,
    because existing threads keep their arenas. The environment variable `TFMRC_KEEP_FREED_MEMORY=0`
    switches it off.

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

    With Python 3.11 and later, `tf.data.Dataset.from_generator` sets the limit of the whole process
    to 128 KiB, so that every larger tensor gets new pages. Call this within the generator, after
    TensorFlow has created the dataset's operation.

    Returns:
        Whether it had an effect: only with glibc, and unless switched off.
    """
    if _kept:
        return _set(_MMAP_THRESHOLD, 1024 * _MIB)
    # 32 MiB is the largest limit that glibc chooses itself; it then trims above twice as much.
    return all([_set(_MMAP_THRESHOLD, 32 * _MIB), _set(_TRIM_THRESHOLD, 64 * _MIB)])


def peak_memory() -> float:
    """Returns the peak memory of this process in MiB."""
    import resource  # not on Windows

    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (_MIB if sys.platform == "darwin" else 2**10)  # bytes there, KiB elsewhere


def _set(parameter: int, value: int) -> bool:
    if os.environ.get(SWITCH) == "0" or not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
    return mallopt is not None and bool(mallopt(parameter, value))

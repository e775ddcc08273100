"""Growth of computing time with the size of the input, independent of the machine's speed."""

import time
from collections.abc import Callable
from typing import Any

FACTOR = 4


def growth(
    function: Callable[[Any], Any],
    make: Callable[[int], Any],
    size: int,
    clock: Callable[[], float] = time.thread_time,
) -> float:
    """Returns the CPU time for an input of 4 times the size over that for the size.

    About 4 is linear, 16 quadratic; `growth(...) < 8` parts them. The least of five runs counts,
    in the thread's own CPU time, so other processes hardly matter; `time.process_time` for
    functions that compute in threads of their own, as TensorFlow does.
    """
    small, large = make(size), make(FACTOR * size)

    def seconds(value: Any) -> float:
        times = []
        for _ in range(5):
            start = clock()
            function(value)
            times.append(clock() - start)
        return min(times)

    return seconds(large) / seconds(small)

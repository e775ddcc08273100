"""Growth of computing time with the size of the input, independent of the machine's speed."""

import time
from collections.abc import Callable
from typing import Any

FACTOR = 4


def growth(function: Callable[[Any], Any], make: Callable[[int], Any], size: int) -> float:
    """Returns the CPU time for an input of 4 times the size over that for the size.

    About 4 is linear, 16 quadratic; `growth(...) < 8` parts them. The least of five runs counts,
    in the thread's own CPU time, so other processes hardly matter.
    """
    small, large = make(size), make(FACTOR * size)

    def seconds(value: Any) -> float:
        times = []
        for _ in range(5):
            start = time.thread_time()
            function(value)
            times.append(time.thread_time() - start)
        return min(times)

    return seconds(large) / seconds(small)

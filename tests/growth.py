"""Growth of computing time with the size of the input, independent of the machine's speed."""

import math
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

    About 4 is linear, 16 quadratic; `growth(...) < 8` parts them. The thread's own CPU time is
    taken, `time.process_time` for functions that compute in threads of their own, as TensorFlow
    does. Another process that shares the core's caches and units makes it longer, so both sizes
    are timed in turns, the least of all rounds counts, and there are more rounds, up to 50, while
    the growth does not look linear.
    """
    inputs = [make(size), make(FACTOR * size)]
    least = [math.inf, math.inf]
    for turn in range(50):
        for number, value in enumerate(inputs):
            start = clock()
            function(value)
            least[number] = min(least[number], clock() - start)
        if turn >= 4 and least[1] < 1.2 * FACTOR * least[0]:
            break
    return least[1] / least[0]

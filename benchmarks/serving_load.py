"""Throughput and latency of a server from 1, 4 and 16 clients, with batches and without.

    python -m benchmarks.serving_load savedmodels/hills --requests 400
    python -m benchmarks.serving_load savedmodels/hills --mixed 120

Each client sends one request after another over one connection. "alone" is the same server with
`batch_rows=1`: one request is computed at a time. The settings are measured in turns, so a change
of the machine's load meets both. The clients are threads of this process, which shares the machine
with the server's process.

With `--mixed SECONDS` 16 clients send small requests for that time, and then as long a mixture: a
tenth of the requests has a passage of 200 kB, and two more clients leave before they are answered.
"""

import argparse
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measuring import in_turns, print_head, print_row
from tfmrc.predictors import RequestError
from tfmrc.serving import Client

SETTINGS = {"batched": 32, "alone": 1}


def main() -> None:
    """Measures and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", help="folder of a model's versions, or of one version")
    parser.add_argument("--requests", type=int, default=400, help="per measurement")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--rounds", type=int, default=3, help="the median is printed")
    parser.add_argument("--mixed", type=float, metavar="SECONDS", help="with long requests")
    options = parser.parse_args()

    with ExitStack() as stack:
        flags = ("--no-grpc", "--limit")
        if options.mixed:
            server = served(options.export, *flags, f"batch_rows={SETTINGS['batched']}")
            compare(stack.enter_context(server)[1], options.mixed)
            return
        urls = {
            name: stack.enter_context(served(options.export, *flags, f"batch_rows={size}"))[1]
            for name, size in SETTINGS.items()
        }
        print_head("clients", "setting", "requests/s", "p50, ms", "p99, ms")
        for clients in options.clients:
            works = {n: partial(measure, url, clients, options.requests) for n, url in urls.items()}
            in_turns(works, 1)  # prepares the graphs
            for setting, rows in in_turns(works, options.rounds).items():
                rate, p50, p99 = np.median(rows, axis=0)
                print_row(clients, setting, f"{rate:.0f}", f"{p50:.1f}", f"{p99:.1f}")


@contextmanager
def served(export: str, *flags: str) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """Context of a server process: the name of its model, its address and the process."""
    command = [sys.executable, "-m", "tfmrc", "serve", export, "--port", "0", "--no-access-log"]
    process = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    model, url = (process.stdout.readline().split()[-1] for _ in range(2))
    try:
        yield model, url, process
    finally:
        process.terminate()
        process.wait()


def measure(url: str, clients: int, requests: int) -> tuple[float, float, float]:
    """Sends requests from several threads; returns requests per second, p50 and p99 in ms."""
    seconds: list[float] = []
    numbers = iter(range(requests))

    def work(_: int) -> None:
        with Client.from_url(url, timeout=600) as client:
            for number in numbers:
                inputs = request(client.signatures()["serving_default"], number)
                begin = time.perf_counter()
                client.run(inputs)
                seconds.append(time.perf_counter() - begin)

    begin = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(work, range(clients)))
    total = time.perf_counter() - begin
    p50, p99 = np.percentile(np.array(seconds) * 1000, [50, 99])
    return requests / total, float(p50), float(p99)


def compare(url: str, seconds: float) -> None:
    """Prints the latencies of small requests without and with long ones, and what these get."""
    mix(url, seconds / 10, long=0.1, leaving=0)  # prepares the graphs
    alone, _ = mix(url, seconds, long=0.0, leaving=0)
    small, statuses = mix(url, seconds, long=0.1, leaving=2)
    print_head("small requests", "number", "p50, ms", "p99, ms", "largest, ms")
    for name, times in (("alone", alone), ("beside long ones", small)):
        found = np.percentile(np.array(times) * 1000, [50, 99, 100])
        print_row(name, len(times), *(f"{each:.0f}" for each in found))
    total = sum(statuses.values())
    print(f"Long requests answered: {statuses[200]} of {total}; all by status: {dict(statuses)}")


def mix(url: str, seconds: float, long: float, leaving: int) -> tuple[list[float], Counter[int]]:
    """Returns the seconds of each small request, and the numbers of long ones by status."""
    times: list[float] = []
    statuses: Counter[int] = Counter()
    with Client.from_url(url) as client:
        signatures = client.signatures()
    end = time.perf_counter() + seconds

    def work(number: int) -> None:
        draw = random.Random(number)
        leaves = number < leaving
        with Client.from_url(url, timeout=0.2 if leaves else 600) as client:
            names = signatures["serving_default"]
            while time.perf_counter() < end:
                is_long = draw.random() < long
                inputs = request(names, draw.randrange(1000))
                if is_long:
                    text = "The hill is 310 metres high. " * 6900  # 200 kB
                    inputs |= {"passages": [[text]]} if "passages" in names else {"passage": [text]}
                begin = time.perf_counter()
                try:
                    client.run(inputs)
                    status = 200
                except RequestError as error:
                    status = error.status
                except (ConnectionError, TimeoutError):
                    continue
                if is_long and not leaves:
                    statuses[status] += 1
                elif not leaves and status == 200:
                    times.append(time.perf_counter() - begin)

    with ThreadPoolExecutor(16 + leaving) as pool:
        list(pool.map(work, range(16 + leaving)))
    return times, statuses


def request(names: list[str], number: int) -> dict[str, list[Any]]:
    """Returns the inputs of a request; the number of passages and words varies with its number."""
    passages = [
        f"The hill of number {number} is {310 + row} metres high. " * (1 + (number + row) % 3)
        for row in range(1 + number % 3)
    ]
    values: dict[str, list[Any]] = {
        "question": [f"How high is hill {number}?"],
        "passages": [passages],
        "passage": [passages[0]],
        "answer": ["310 metres"],
        "style": ["qa"],
    }
    return {name: values[name] for name in names}


if __name__ == "__main__":
    main()

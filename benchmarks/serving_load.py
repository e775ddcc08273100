"""Throughput and latency of a server from 1, 4 and 16 clients, with batches and without.

    python benchmarks/serving_load.py savedmodels/hills --requests 400
    python benchmarks/serving_load.py savedmodels/hills --mixed 120

Each client sends one request after another over one connection. "alone" is the same server with
`batch_rows=1`: one request is computed at a time. `--beside NAME=URL` measures another server
of the same model in the same run. The settings are measured in turns, so a
change of the machine's load meets both. The clients are threads of this process, which shares the
machine with the server's process.

With `--mixed SECONDS` 16 clients send small requests for that time, and then as long a mixture: a
tenth of the requests has a passage of 200 kB, and two more clients leave before they are answered.
"""

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

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
    parser.add_argument(
        "--beside",
        nargs="+",
        default=[],
        metavar="NAME=URL",
        help="served models of other servers, such as before=http://127.0.0.1:9000/v1/models/hills",
    )
    parser.add_argument("--mixed", type=float, metavar="SECONDS", help="with long requests")
    parser.add_argument("--json", metavar="FILE", help="also write all measurements")
    options = parser.parse_args()

    if options.mixed:
        process, url = start(options.export, SETTINGS["batched"])
        try:
            compare(url, options.mixed)
        finally:
            process.terminate()
            process.wait()
        return
    servers = {name: start(options.export, size) for name, size in SETTINGS.items()}
    urls = {name: url for name, (_, url) in servers.items()}
    urls |= dict(word.split("=", 1) for word in options.beside)
    results: list[dict[str, Any]] = []
    try:
        for number in range(options.rounds + 1):  # the first round prepares the graphs
            for clients in options.clients:
                for setting, url in urls.items():
                    measured = measure(url, clients, options.requests)
                    if number:
                        results.append({"clients": clients, "setting": setting, **measured})
    finally:
        for process, _ in servers.values():
            process.terminate()
            process.wait()
    table(results)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=2), encoding="utf-8")


def start(export: str, size: int) -> tuple[Any, str]:
    """Starts a server process with a batch size and returns it with its address."""
    command = [sys.executable, "-m", "tfmrc", "serve", export, "--port", "0", "--no-grpc"]
    command += ["--limit", f"batch_rows={size}", "--no-access-log"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(3)]
    return process, lines[1].split()[-1]


def measure(url: str, clients: int, requests: int) -> dict[str, float]:
    """Sends requests from several threads; returns requests per second, p50 and p99 in ms."""
    seconds: list[float] = []
    numbers = iter(range(requests))
    lock = threading.Lock()

    def work() -> None:
        with Client.from_url(url, timeout=600) as client:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                inputs = request(client.signatures()["serving_default"], number)
                begin = time.perf_counter()
                client.run(inputs)
                seconds.append(time.perf_counter() - begin)

    threads = [threading.Thread(target=work) for _ in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = time.perf_counter() - begin
    p50, p99 = np.percentile(np.array(seconds) * 1000, [50, 99])
    return {"per_second": requests / total, "p50": float(p50), "p99": float(p99)}


def compare(url: str, seconds: float) -> None:
    """Prints the latencies of small requests without and with long ones, and what these get."""
    mix(url, seconds / 10, long=0.1, leaving=0)  # prepares the graphs
    alone, _ = mix(url, seconds, long=0.0, leaving=0)
    small, statuses = mix(url, seconds, long=0.1, leaving=2)
    print("| small requests | number | p50, ms | p99, ms | largest, ms |")
    print("| --- | --- | --- | --- | --- |")
    for name, times in (("alone", alone), ("beside long ones", small)):
        found = np.percentile(np.array(times) * 1000, [50, 99, 100])
        print("| {} | {} | {:.0f} | {:.0f} | {:.0f} |".format(name, len(times), *found))
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

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16 + leaving)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
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


def table(results: list[dict[str, Any]]) -> None:
    """Prints the medians of the rounds."""
    print("| clients | setting | requests/s | p50, ms | p99, ms |")
    print("| --- | --- | --- | --- | --- |")
    for key in dict.fromkeys((r["clients"], r["setting"]) for r in results):
        rows = [r for r in results if (r["clients"], r["setting"]) == key]
        medians = [np.median([row[name] for row in rows]) for name in ("per_second", "p50", "p99")]
        print("| {} | {} | {:.0f} | {:.1f} | {:.1f} |".format(*key, *medians))


if __name__ == "__main__":
    main()

"""Attacks a server while it serves: its memory, and the seconds until `/healthz` answers.

    python -m benchmarks.serving_attacks savedmodels/hills

Each attack runs for `--seconds` beside four ordinary clients. The table has the greatest
memory above that of the ordinary clients alone, the slowest answer of `/healthz`, and the ordinary
requests that failed.
"""

import argparse
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import httpx

from benchmarks.measuring import print_head, print_row
from benchmarks.serving_load import request, served
from tfmrc.predictors import RequestError
from tfmrc.serving import Client

Attack = Callable[["Target"], None]
MIB = 2**20


class Target:
    """A server process: its addresses, its model, and whether the attack goes on."""

    def __init__(self, model: str, url: str, process: subprocess.Popen[str]):
        self.model, self.url, self.process = model, url, process
        assert process.stdout is not None
        self.grpc = process.stdout.readline().split()[-1]
        self.end = 0.0
        # A process of its own, which the threads of the attackers do not slow down.
        self.probe = ProcessPoolExecutor(1, get_context("spawn"))
        with Client(self.model, self.url) as client:
            self.inputs = client.signatures()["serving_default"]

    @property
    def path(self) -> str:
        return f"/v1/models/{self.model}:predict"

    @property
    def goes_on(self) -> bool:
        return time.perf_counter() < self.end

    def memory(self) -> float:
        """Returns the memory in MiB, resident or swapped."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        sizes = [line.split()[1] for line in lines if line.startswith(("VmRSS", "VmSwap"))]
        return sum(map(int, sizes)) / 1024

    def connect(self) -> socket.socket:
        parts = urlsplit(self.url)
        return socket.create_connection((parts.hostname, parts.port), timeout=60)

    def post(self, content: bytes, **headers: str) -> None:
        with suppress(httpx.TransportError):
            httpx.post(self.url + self.path, content=content, headers=headers, timeout=60)


def huge_tensor(target: Target) -> None:
    """A message of 77 bytes for 16 million texts."""
    import tensorflow as tf
    from tensorflow_serving.apis.predict_pb2 import PredictRequest

    message = PredictRequest()
    message.model_spec.name = target.model
    for name in target.inputs:
        proto = tf.make_tensor_proto(["x"], tf.string)
        del proto.tensor_shape.dim[:]
        for size in (1024, 16384):
            proto.tensor_shape.dim.add(size=size)
        message.inputs[name].CopyFrom(proto)
    _grpc(target, message.SerializeToString())


def large_messages(target: Target) -> None:
    """Messages of 4 MiB that are no request."""
    _grpc(target, b"\xff" * (4 * MIB - 100))


def _grpc(target: Target, message: bytes) -> None:
    with grpc.insecure_channel(target.grpc.split("//")[1]) as channel:
        predict = channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        while target.goes_on:
            with suppress(grpc.RpcError):
                predict(message, timeout=60)


def nested_lists(target: Target) -> None:
    """Bodies of empty lists."""
    content = b'{"inputs": [' + b"[]," * (4 * MIB // 3 - 10) + b"[]]}"
    while target.goes_on:
        target.post(content)


def large_bodies(target: Target) -> None:
    """Bodies of 15 MiB, and of 4 MiB without a declared length."""
    while target.goes_on:
        target.post(b" " * (15 * MIB))
        with suppress(httpx.TransportError):
            chunks = iter([b" " * 2**16] * 63)
            httpx.post(target.url + target.path, content=chunks, timeout=60)


def slow_bodies(target: Target) -> None:
    """Bodies of 3 MiB whose end does not come."""
    while target.goes_on:
        with target.connect() as connection, suppress(OSError):
            head = f"POST {target.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {4 * MIB}"
            connection.sendall(head.encode() + b"\r\n\r\n" + b" " * (3 * MIB))
            while target.goes_on and connection.recv(1000):
                pass


def expanding_gzip(target: Target) -> None:
    """A compressed body of 0.5 MB that expands to 512 MiB."""
    import zlib

    packed = zlib.compressobj(9, wbits=31)
    content = b"".join(packed.compress(b" " * MIB) for _ in range(512)) + packed.flush()
    while target.goes_on:
        target.post(content, **{"Content-Encoding": "gzip"})


def half_open_heads(target: Target) -> None:
    """64 connections of each attacker whose heads do not end."""
    with ExitStack() as stack:
        for _ in range(64):
            connection = stack.enter_context(target.connect())
            connection.sendall(b"POST / HTTP/1.1\r\nHost: x")
        while target.goes_on:
            time.sleep(0.1)


def marks(target: Target) -> None:
    """Passages of 60 kB of exclamation marks."""
    inputs = _inputs(target, "!" * 60_000)
    while target.goes_on:
        target.post(json.dumps({"inputs": inputs}).encode())


ATTACKS: dict[Attack, int] = {
    huge_tensor: 4,
    large_messages: 16,
    nested_lists: 6,
    large_bodies: 60,
    slow_bodies: 60,
    expanding_gzip: 6,
    half_open_heads: 8,
    marks: 6,
}


def _inputs(target: Target, text: str) -> dict[str, list[Any]]:
    inputs = request(target.inputs, 0)
    return inputs | ({"passages": [[text]]} if "passages" in inputs else {"passage": [text]})


@contextmanager
def threads(count: int, work: Callable[[], None]) -> Iterator[None]:
    """Context in which threads work; it waits for them at its end."""
    started = [threading.Thread(target=work) for _ in range(count)]
    for thread in started:
        thread.start()
    yield
    for thread in started:
        thread.join()


def health(url: str) -> float:
    """Returns the seconds until `/healthz` answers; 60 if it does not."""
    begin = time.perf_counter()
    with suppress(httpx.TransportError):
        if httpx.get(f"{url}/healthz", timeout=60).status_code == 200:
            return time.perf_counter() - begin
    return 60.0


def measure(target: Target, attack: Attack | None, attackers: int, seconds: float) -> list[float]:
    """Returns the greatest memory, the slowest `/healthz`, and answered and failed requests."""
    answered: list[bool] = []
    target.end = float("inf")

    def serve() -> None:
        with Client(target.model, target.url, timeout=60) as client:
            while target.goes_on:
                try:
                    client.run(request(target.inputs, len(answered)))
                    answered.append(True)
                except (RequestError, ConnectionError, TimeoutError):
                    answered.append(False)

    memory = slowest = 0.0
    with threads(4, serve), threads(attackers, lambda: attack(target) if attack else None):
        target.end = time.perf_counter() + seconds  # starting many threads takes a while
        while target.goes_on:
            slowest = max(slowest, target.probe.submit(health, target.url).result())
            memory = max(memory, target.memory())
            time.sleep(0.05)
    return [memory, slowest, sum(answered), len(answered) - sum(answered)]


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", help="folder of a model's versions")
    parser.add_argument("--seconds", type=float, default=20, help="of each attack")
    options = parser.parse_args()
    with served(options.export, "--grpc-port", "0") as server:
        target = Target(*server)
        with target.probe:
            measure(target, None, 0, options.seconds)  # prepares the graphs
            ordinary, *_ = measure(target, None, 0, options.seconds)
            print_head("attack", "MiB above", "/healthz, s", "answered", "failed")
            for attack, attackers in {None: 0, **ATTACKS}.items():
                memory, slowest, *counts = measure(target, attack, attackers, options.seconds)
                name = "none" if attack is None else f"{attackers} x {attack.__name__}"
                print_row(name, f"{memory - ordinary:.0f}", f"{slowest:.2f}", *counts)


if __name__ == "__main__":
    main()

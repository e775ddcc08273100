"""Mixed requests from 16 clients, a tenth of them broken: no wrong answer, none lost."""

import os
import random
import shutil
import statistics
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.serving.predictors import REQUEST
from tests.serving.small_models import write_echo
from tfmrc.predictors import RequestError
from tfmrc.serving import Client, Server

pytestmark = pytest.mark.usefixtures("exports_once")

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow
CLIENTS = 16
KNOWN = [{name: [column[row]] for name, column in REQUEST.items()} for row in range(4)]
BROKEN = [
    {"json": {"inputs": {**KNOWN[0], "style": ["limerick"]}}},
    {"json": {"inputs": {"question": ["How high?"]}}},
    {"json": {"instances": []}},
    {"json": {"instances": [{"question": 7, "passages": [], "style": "qa"}]}},
    {"content": b"{"},
    {"content": b"[" * 10_000},
]


@pytest.fixture(scope="module")
def server(exported, tmp_path_factory):
    echo = tmp_path_factory.mktemp("models") / "echo"
    echo.mkdir()
    write_echo(echo, 1)
    with Server({"hills": exported, "echo": echo}, port=0, grpc_port=0) as running:
        yield running


class Load:
    """Sends seeded random requests from 16 threads and compares every reply."""

    def __init__(self, server, right):
        self.server = server
        self.right = right
        self.checked = {"right": 0, "broken": 0}
        self.wrong = []

    def send(self, count, seed):
        threads = [
            threading.Thread(target=self._client, args=(count // CLIENTS, f"{seed}-{number}"))
            for number in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _client(self, count, seed):
        draw = random.Random(seed)
        url = self.server.url
        options = {"timeout": TIMEOUT, "retries": 1000}
        with (
            Client("hills", url, **options) as rest,
            Client("hills", self.server.grpc_url, **options) as grpc,
            Client("echo", draw.choice([url, self.server.grpc_url]), **options) as echo,
            httpx.Client(base_url=url, timeout=TIMEOUT) as plain,
        ):
            for number in range(count):
                kind = draw.random()
                try:
                    if kind < 0.1:
                        self._broken(plain, grpc, draw)
                    elif kind < 0.3:
                        self._echo(echo, f"{seed} {number} é")
                    else:
                        self._question(draw.choice([rest, grpc]), draw)
                except Exception as error:
                    self.wrong.append(error)

    def _broken(self, plain, grpc, draw):
        if draw.random() < 0.3:
            with pytest.raises(RequestError, match="limerick"):
                grpc.run({**KNOWN[0], "style": ["limerick"]})
        else:
            reply = plain.post("/v1/models/hills:predict", **draw.choice(BROKEN))
            assert reply.status_code == 400, reply.text
            assert reply.json()["error"]
        self.checked["broken"] += 1

    def _echo(self, client, text):
        (found,) = client.run({"text": [text]})["text"]
        assert (found.decode() if isinstance(found, bytes) else found) == text + "!"
        self.checked["right"] += 1

    def _question(self, client, draw):
        rows = [draw.randrange(4) for _ in range(draw.randint(1, 3))]
        inputs = {name: [REQUEST[name][row] for row in rows] for name in REQUEST}
        if draw.random() < 0.5:  # without the empty passages
            most = max(sum(map(bool, row)) for row in inputs["passages"])
            inputs["passages"] = [row[:most] for row in inputs["passages"]]
        found = client.run(inputs)
        for name in ("answer", "probability", "relevance", "num_words"):
            right = self.right[name][rows]
            if right.dtype == object:
                texts = [t.decode() if isinstance(t, bytes) else t for t in list(found[name])]
                assert texts == [text.decode() for text in right]
            else:
                np.testing.assert_allclose(found[name], right, rtol=1e-5, atol=1e-6)
        self.checked["right"] += 1


def test_mixed_requests_from_16_clients(server, answer_arrays):
    load = Load(server, answer_arrays)
    load.send(320, seed=1)
    assert load.wrong == []
    assert sum(load.checked.values()) == 320
    assert load.checked["broken"] > 15
    assert server.service._running == 0


class Served:
    """`tfmrc serve FOLDER` in a process of its own, whose memory is the server's alone."""

    def __init__(self, models):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tfmrc.cli", "serve", models, "--port", "0", "--grpc-port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        )
        assert self.process.stdout.readline() == "Models: echo, hills\n"
        self.url = self.process.stdout.readline().split()[-1]
        self.grpc_url = self.process.stdout.readline().split()[-1]

    def mib(self):
        """Returns its resident memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.stdout.close()
        self.process.wait()


@pytest.mark.slow
def test_10000_mixed_requests_and_flat_memory(exported, answer_arrays, tmp_path):
    shutil.copytree(exported, tmp_path / "hills" / "7")
    write_echo(tmp_path / "echo", 1)
    with Served(tmp_path) as server:
        load = Load(server, answer_arrays)
        sizes = []
        for seed in range(20):
            load.send(512, seed)
            sizes.append(server.mib())
    assert load.wrong == []
    assert sum(load.checked.values()) == 20 * 512
    assert load.checked["broken"] > 800
    # Single sizes differ by some 20 MiB in both directions: the allocator keeps what it will need.
    growth = statistics.median(sizes[12:]) - statistics.median(sizes[4:12])
    assert growth < 16, sizes

"""Mixed requests from 16 clients, a tenth of them broken: no wrong answer, none lost."""

import os
import random
import shutil
import statistics
import threading
from pathlib import Path

import grpc
import httpx
import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

from tests.serving.predictors import REQUEST
from tests.serving.small_models import served, write_echo
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


class Stub:
    """The official stub of a model with the client's method."""

    def __init__(self, name, url):
        self.name = name
        self.channel = grpc.insecure_channel(url.removeprefix("grpc://"))
        self.predict = PredictionServiceStub(self.channel).Predict

    def run(self, inputs):
        request = PredictRequest()
        request.model_spec.name = self.name
        for name, rows in inputs.items():
            width = max((len(row) for row in rows if isinstance(row, list)), default=0)
            filled = [row + [""] * (width - len(row)) if width else row for row in rows]
            request.inputs[name].CopyFrom(tf.make_tensor_proto(filled, tf.string))
        outputs = self.predict(request, timeout=TIMEOUT).outputs
        return {name: tf.make_ndarray(proto) for name, proto in outputs.items()}


class Load:
    """Sends seeded random requests from 16 threads and compares every reply."""

    def __init__(self, url, grpc_url, right):
        self.url, self.grpc_url = url, grpc_url
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
        options = {"timeout": TIMEOUT, "retries": 1000}
        stub, echo_stub = Stub("hills", self.grpc_url), Stub("echo", self.grpc_url)
        with (
            Client("hills", self.url, **options) as rest,
            Client("echo", self.url, **options) as echo,
            httpx.Client(base_url=self.url, timeout=TIMEOUT) as plain,
            stub.channel,
            echo_stub.channel,
        ):
            for number in range(count):
                kind = draw.random()
                try:
                    if kind < 0.1:
                        self._broken(plain, stub, draw)
                    elif kind < 0.3:
                        self._echo(draw.choice([echo, echo_stub]), f"{seed} {number} é")
                    else:
                        self._question(draw.choice([rest, stub]), draw)
                except Exception as error:
                    self.wrong.append(error)

    def _broken(self, plain, stub, draw):
        if draw.random() < 0.3:
            with pytest.raises(grpc.RpcError, match="limerick"):
                stub.run({**KNOWN[0], "style": ["limerick"]})
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
    load = Load(server.url, server.grpc_url, answer_arrays)
    load.send(320, seed=1)
    assert load.wrong == []
    assert sum(load.checked.values()) == 320
    assert load.checked["broken"] > 15
    assert server.service.running == 0


def mib(process):
    """Returns the resident memory of a process."""
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
def test_10000_mixed_requests_and_flat_memory(exported, answer_arrays, tmp_path):
    shutil.copytree(exported, tmp_path / "hills" / "7")
    write_echo(tmp_path / "echo", 1)
    with served(tmp_path, "--no-access-log") as (process, *urls):
        load = Load(*urls, answer_arrays)
        sizes = []
        for seed in range(20):
            load.send(512, seed)
            sizes.append(mib(process))
    assert load.wrong == []
    assert sum(load.checked.values()) == 20 * 512
    assert load.checked["broken"] > 800
    # Single sizes differ by some 20 MiB in both directions: the allocator keeps what it will need.
    growth = statistics.median(sizes[12:]) - statistics.median(sizes[4:12])
    assert growth < 16, sizes

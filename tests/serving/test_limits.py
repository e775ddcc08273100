"""Limits of requests and connections, access, and what the server tells of itself."""

import contextlib
import gzip
import http.client
import json
import logging
import re
import socket
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
import tensorflow as tf
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

from tests.serving.small_models import Gate, wait_until, write_echo, write_lengths
from tfmrc.predictors import RequestError
from tfmrc.serving import Client, Limits, Server, service

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow
LIMITS = Limits(body_bytes=2000, elements=40, requests=3, seconds=TIMEOUT, receive_seconds=TIMEOUT)
KEY = "open sesame"
LATE = ("DEADLINE_EXCEEDED", "UNAVAILABLE")  # or refused at once, if the queue is known as slow


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "echo").mkdir()
    write_echo(folder / "echo", 1)
    write_lengths(folder / "lengths", max_passages=2)
    return folder


def serve(models, **options):
    return Server(models, port=0, grpc_port=0, **{"poll_seconds": 3600, **options})


@pytest.fixture(scope="module")
def server(models):
    with serve(models, limits=LIMITS) as running:
        yield running


@pytest.fixture
def limits(server):
    """Changes limits of the running server."""
    yield lambda **changes: setattr(server.service, "limits", Limits(**changes))
    server.service.limits = LIMITS


def post(server, texts=("a",), **options):
    url = f"{server.url}/v1/models/echo:predict"
    options = {"json": {"inputs": list(texts)}, "timeout": TIMEOUT, **options}
    return httpx.post(url, **options)


def grpc_code(server, texts=("a",), timeout=TIMEOUT, metadata=(), **inputs):
    """The code and the details of a call, or the texts of its reply."""
    with grpc.insecure_channel(server.grpc_url.split("//")[1]) as channel:
        request = PredictRequest()
        request.model_spec.name = "lengths" if "passages" in inputs else "echo"
        for name, values in (inputs or {"text": list(texts)}).items():
            proto = values if hasattr(values, "dtype") else tf.make_tensor_proto(values, tf.string)
            request.inputs[name].CopyFrom(proto)
        try:
            reply = PredictionServiceStub(channel).Predict(
                request, timeout=timeout, metadata=metadata
            )
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return tf.make_ndarray(reply.outputs["text"]).tolist()


def access_log(caplog):
    return [json.loads(r.message) for r in caplog.records if r.name == "tfmrc.serving.access"]


def test_large_requests_are_refused_by_both_protocols(server):
    said = "`text` must have at most 40 elements, padding included. Received: 41"
    assert grpc_code(server, ["x"] * 41) == ("INVALID_ARGUMENT", said)
    said = "`passages` must have at most 40 elements, padding included. Received: 2 x 21"
    url = f"{server.url}/v1/models/lengths:predict"
    rows = [["a"], ["a"] * 21]  # also those that the model does not read
    for body in ({"inputs": rows}, {"instances": [{"passages": row} for row in rows]}):
        reply = httpx.post(url, json=body, timeout=TIMEOUT)
        assert (reply.status_code, reply.json()["error"]) == (413, said)
    assert grpc_code(server, passages=[["a"] * 21] * 2) == ("INVALID_ARGUMENT", said)
    reply = httpx.post(url, json={"inputs": [["a"], ["a"] * 5]}, timeout=TIMEOUT)
    assert reply.json() == {"outputs": [1, 3]}  # cut, and one more for `truncated`


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b'{"inputs": [' + b"[]," * 40 + b"[]]}", 413),
        (b'{"inputs": ["' + b"[]," * 60 + b'"]}', 200),  # a text
        (b'{"inputs": ["' + b'\\"[,' * 90 + b'"]}', 413),  # so many quotes may be texts
        (b'{"inputs": ["\\\\"' + b",[]" * 60 + b"]}", 413),
        (b'"' + b"[" * 60, 400),
        ('{"inputs": ["a"]}'.encode("utf-16"), 400),
        (b"[" * 39, 400),
    ],
)
def test_the_values_of_a_body_are_counted_before_they_are_built(server, content, status):
    assert post(server, content=content, json=None).status_code == status


@pytest.mark.parametrize(
    ("shape", "texts", "said"),
    [
        ((10**12,), 1, "at most 40 elements"),
        ((20,), 1, "one string per element. Received: 1 strings"),
        ((1, 10**12), 1, "1 dimensions. Received: 2"),
        ((-1,), 1, "at most 40 elements"),
        ((), 1, "1 dimensions. Received: 0"),
    ],
)
def test_a_tensor_is_checked_before_it_is_built(server, shape, texts, said):
    proto = tf.make_tensor_proto(["x"] * texts, tf.string)
    del proto.tensor_shape.dim[:]
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    code, details = grpc_code(server, text=proto)
    assert code == "INVALID_ARGUMENT" and said in details
    proto = tf.make_tensor_proto(["x"], tf.string)  # rows are lists, also empty ones
    del proto.tensor_shape.dim[:]
    for size in (10**12, 0):
        proto.tensor_shape.dim.add(size=size)
    assert "at most 40 elements" in grpc_code(server, passages=proto)[1]


BODY = b'{"inputs": ["a"]}'


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (gzip.compress(BODY), 200, "a!"),
        (gzip.compress(BODY + b" " * 10**6), 413, "at most 2,000 bytes"),
        (gzip.compress(BODY)[:-9], 400, "The gzip body is incomplete"),
        (BODY, 400, "not valid gzip"),
    ],
)
def test_compressed_bodies(server, content, status, said):
    assert len(content) < LIMITS.body_bytes
    reply = post(server, content=content, json=None, headers={"content-encoding": "gzip"})
    assert reply.status_code == status and said in reply.text
    reply = post(server, content=content, json=None, headers={"content-encoding": "br"})
    assert reply.status_code == 415


def test_all_bodies_together_have_a_limit(server, limits, monkeypatch):
    monkeypatch.setattr(service, "FREE_BYTES", 30)
    limits(buffered_bytes=20)
    gate = Gate(server, "echo")
    with ThreadPoolExecutor() as threads:
        running = threads.submit(post, server, ["a" * 30])
        gate.begun.wait()
        reply = post(server, ["a" * 30])
        assert reply.status_code == 503 and "too many request bodies" in reply.json()["error"]
        assert grpc_code(server, ["a" * 30])[0] == "UNAVAILABLE"
        gate.open()
        assert running.result().status_code == 200
    assert post(server, ["a" * 30]).status_code == 200


def test_a_request_whose_client_has_left_is_cancelled(models, caplog):
    with serve(models) as server, caplog.at_level(logging.INFO, logger="tfmrc.serving"):
        gate = Gate(server, "echo")
        with pytest.raises(httpx.ReadTimeout):
            post(server, timeout=0.2)
        wait_until(lambda: server.service.running == 0)
        assert grpc_code(server, timeout=0.2)[0] in LATE
        wait_until(lambda: server.service.running == 0)
        gate.open()
        assert post(server).status_code == 200
    lines = access_log(caplog)
    assert [each["status"] for each in lines if each["protocol"] == "REST"] == [499, 200]


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_client_that_sends_its_whole_body_first_reads_the_413(server, is_chunked):
    parts = urlsplit(server.url)
    client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
    for _ in range(2):  # each sends more than the buffers of a connection hold
        body = iter([b" " * 2**24] * 2) if is_chunked else b" " * 2**24
        client.request(
            "POST", "/v1/models/echo:predict", body, {"x": "y"}, encode_chunked=is_chunked
        )
        reply = client.getresponse()
        assert reply.status == 413
        assert json.load(reply)["error"] == "The body must have at most 2,000 bytes."
    client.close()
    assert grpc_code(server, ["x" * 90] * 30)[0] == "RESOURCE_EXHAUSTED"


def test_chunked_requests_are_read(server):
    reply = post(server, content=iter([b'{"inputs":', b' ["b"]}']), json=None)
    assert reply.json()["outputs"]["text"] == ["b!"]


def test_too_many_requests_at_a_time_get_429_and_clients_repeat_them(server):
    gate = Gate(server, "echo")
    with ThreadPoolExecutor() as threads:
        running = [threads.submit(post, server) for _ in range(LIMITS.requests)]
        wait_until(lambda: server.service.running == LIMITS.requests)
        refused = post(server)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert grpc_code(server)[0] == "RESOURCE_EXHAUSTED"
        with Client("echo", server.url, retries=1, timeout=TIMEOUT) as client:
            with pytest.raises(RequestError, match="answered 429") as error:
                client.run({"text": ["a"]})
            assert error.value.status == 429
        with Client("echo", server.url, retries=100, timeout=TIMEOUT) as patient:
            repeated = threads.submit(patient.run, {"text": ["again"]})
            gate.open()
            assert repeated.result()["text"] == ["again!"]
        assert [each.result().status_code for each in running] == [200] * LIMITS.requests


def test_calls_that_ended_hold_no_message(models):
    with serve(models, limits=Limits(body_bytes=2**21, words=10)) as server:
        tracemalloc.start()
        try:
            for _ in range(5):
                assert "words" in grpc_code(server, ["x" * 2**20])[1]
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert kept < 2 * 2**20


def test_a_request_that_takes_too_long_is_504(server, limits):
    gate = Gate(server, "echo")
    limits(seconds=0.05)
    assert post(server).status_code == 504
    assert grpc_code(server)[0] in LATE
    limits(seconds=TIMEOUT)  # a client's own time ends its request only
    assert grpc_code(server, timeout=0.05)[0] in LATE
    with Client("echo", server.url, timeout=0.05) as client:
        with pytest.raises(TimeoutError, match="did not answer in time"):
            client.run({"text": ["a"]})
    gate.open()
    assert grpc_code(server) == [b"a!"]


def test_a_body_that_does_not_arrive_is_408(models):
    with serve(models, limits=Limits(receive_seconds=0.1)) as server:
        parts = urlsplit(server.url)
        with socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT) as slow:
            slow.sendall(b"POST /v1/models/echo:predict HTTP/1.1\r\nHost: localhost\r\n")
            slow.sendall(b"Content-Length: 9\r\n\r\n{")
            reply = http.client.HTTPResponse(slow)
            reply.begin()
            assert (reply.status, reply.getheader("connection")) == (408, "close")


def test_half_open_heads_leave_room_for_health(server):
    parts = urlsplit(server.url)
    with contextlib.ExitStack() as stack:
        for _ in range(200):
            connection = socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT)
            stack.enter_context(connection).sendall(b"POST / HT")
        assert httpx.get(f"{server.url}/healthz", timeout=TIMEOUT).text == "live\n"
        endless = stack.enter_context(socket.create_connection((parts.hostname, parts.port)))
        with contextlib.suppress(ConnectionError):
            endless.sendall(b"POST / HTTP/1.1\r\nX: " + b"x" * 2**18)
            assert endless.recv(12) in (b"HTTP/1.1 400", b"")


@pytest.fixture(scope="module")
def guarded(models):
    """A server with a key."""
    with serve(models, api_key=KEY) as server:
        yield server


def test_a_key_is_needed_for_everything_but_the_page_and_health(guarded):
    with httpx.Client(base_url=guarded.url, timeout=TIMEOUT) as http_client:
        bearer = {"Authorization": f"Bearer {KEY}"}
        for headers, status in (
            ({}, 401),
            ({"X-API-Key": "wrong"}, 401),
            ({"X-API-Key": KEY}, 200),
            (bearer, 200),
            ({**bearer, "Origin": "https://x.example"}, 403),
        ):
            assert post(guarded, headers=headers).status_code == status, headers
        for path, status in {"/": 200, "/healthz": 200, "/v1/models": 401, "/v1/models/echo": 401,
                             "/monitoring/prometheus/metrics": 401}.items():  # fmt: skip
            assert http_client.get(path).status_code == status, path
    assert grpc_code(guarded)[0] == "UNAUTHENTICATED"
    assert grpc_code(guarded, metadata=[("authorization", "Bearer x")])[0] == "UNAUTHENTICATED"
    assert grpc_code(guarded, metadata=[("x-api-key", KEY)])[0] == b"a!"
    with Client("echo", guarded.url, api_key=KEY, timeout=TIMEOUT) as client:
        assert client.run({"text": ["a"]})["version"] == [1]


def test_pages_of_other_sites_and_other_names_are_refused(server):
    for origin in ("https://other.example", "http://[a", "null", "x", server.url + "0"):
        reply = post(server, headers={"Origin": origin})
        assert reply.status_code == 403
        assert reply.json() == {"error": "Requests from other sites are refused."}
    reply = post(server, headers={"Origin": server.url})
    assert reply.status_code == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]
    hosts = {"localhost:1": 200, "[::1]": 200, "other.example": 403, "[a": 403, "": 403}
    for host, status in hosts.items():
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert post(server, headers=headers).status_code == status, host
    assert httpx.get(f"{server.url}/healthz", headers={"Host": "10.0.0.7"}).status_code == 200


def test_further_names_of_the_server(models):
    for allowed, status in (("hills.example", 200), ("*", 200), ("x", 403)):
        with serve(models, allowed_hosts=[allowed]) as server:
            assert post(server, headers={"Host": "Hills.example"}).status_code == status


def test_metrics_have_the_path_and_the_names_of_tensorflow_serving(models):
    with serve(models, api_key=KEY) as server:
        key = {"X-API-Key": KEY}
        post(server, headers=key)
        post(server, texts=["bad"], headers=key)
        post(server)
        grpc_code(server, metadata=[("x-api-key", KEY)])
        grpc_code(server)
        reply = httpx.get(f"{server.url}/monitoring/prometheus/metrics", headers=key)
        assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
        counts = re.findall(r'request_count\{model_name="echo",status="(\w+)"\} (\S+)', reply.text)
        assert dict(counts) == {"OK": "2.0", "INVALID_ARGUMENT": "1.0"}
        for line in (
            ':tensorflow:serving:request_latency_count{model_name="echo"} 3.0',
            'tfmrc_replies_total{method="predict",protocol="REST",status="400"} 1.0',
            'tfmrc_refused_total{reason="key"} 2.0',
            'tfmrc_refused_total{reason="invalid_argument"} 1.0',
            'tfmrc_queue_words{lane="large",model_name="echo"} 0.0',
            'tfmrc_model_available{model_name="echo",version="1"} 1.0',
        ):
            assert line in reply.text, line
        times = re.findall(
            r'tfmrc_(\w+)_seconds_count\{lane="large",model_name="echo"\}', reply.text
        )
        assert sorted(times) == ["compute", "wait"]


def test_an_id_of_a_request_is_taken_or_made(server):
    assert post(server, headers={"X-Request-ID": "a-1"}).headers["x-request-id"] == "a-1"
    made = {post(server, headers={"X-Request-ID": "a b"}).headers["x-request-id"] for _ in "12"}
    assert len(made) == 2 and all(len(each) == 32 for each in made)


def test_the_health_service_of_grpc_needs_no_key(guarded):
    with grpc.insecure_channel(guarded.grpc_url.split("//")[1]) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        assert check(b"", timeout=TIMEOUT) == b"\x08\x01"  # SERVING
        guarded.service.stopping = True
        assert check(b"\x0a\x04echo", timeout=TIMEOUT) == b"\x08\x02"
        guarded.service.stopping = False
        watched = channel.unary_stream("/grpc.health.v1.Health/Watch")(b"", timeout=TIMEOUT)
        assert next(watched) == b"\x08\x01"
        guarded.service.stopping = True
        assert next(watched) == b"\x08\x02"
        guarded.service.stopping = False
        watched.cancel()


def test_the_log_has_no_texts(server, caplog, monkeypatch):
    secret = "a-secret-text"
    with server.manager.use("echo") as version:
        signature = version.loaded.batcher._signatures["serving_default"]

    def fail(arrays):
        raise RuntimeError(f"no room for {arrays}")

    with caplog.at_level(logging.INFO, logger="tfmrc.serving"):
        post(server, [secret])
        post(server, [secret, 7])
        httpx.get(f"{server.url}/v1/models/{secret}")
        httpx.get(f"{server.url}/{secret}")
        grpc_code(server, [secret])
        monkeypatch.setattr(signature, "run", fail)
        assert post(server, [secret]).json() == {"error": "The server failed with RuntimeError."}
        assert grpc_code(server, [secret])[0] == "INTERNAL"
    assert "RuntimeError at " in caplog.text and secret not in caplog.text
    lines = access_log(caplog)
    assert [(each["protocol"], each["method"], each["status"]) for each in lines] == [
        ("REST", "predict", 200),
        ("REST", "predict", 400),
        ("REST", "status", 404),
        ("gRPC", "predict", 200),
        ("REST", "predict", 500),
        ("gRPC", "predict", 500),
    ]
    assert lines[0]["model"] == "echo" and lines[0]["rows"] == 1 and lines[0]["bytes_in"] > 0


def test_an_empty_key_is_an_error(models):
    with pytest.raises(ValueError, match="`api_key` must not be empty"):
        serve(models, api_key=" ")

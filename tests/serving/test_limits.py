"""Limits of requests and connections, access, and what the server tells of itself."""

import asyncio
import contextlib
import http.client
import json
import logging
import math
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
import tensorflow as tf
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

from tests.serving.small_models import (
    Gate,
    wait_until,
    write_certificate,
    write_echo,
    write_lengths,
)
from tfmrc.predictors import RequestError
from tfmrc.serving import AsyncClient, BatchingOptions, Client, Limits, Server
from tfmrc.serving.command import _api_key as api_key_of, limits_of
from tfmrc.serving.grpc_services import _address as address_of
from tfmrc.serving.http_protocol import HEAD_BYTES

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow
LIMITS = Limits(
    body_bytes=2000, string_bytes=100, rows=8, requests=3, seconds=TIMEOUT, receive_seconds=TIMEOUT
)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    (folder / "echo").mkdir()
    write_echo(folder / "echo", 1)
    return folder


def serve(models, **options):
    return Server(models, port=0, grpc_port=0, **{"poll_seconds": 3600, **options})


@pytest.fixture(scope="module")
def server(models):
    with serve(models, limits=LIMITS) as running:
        yield running


def post(server, texts=("a",), **options):
    url = f"{server.url}/v1/models/echo:predict"
    return httpx.post(url, timeout=TIMEOUT, **{"json": {"inputs": list(texts)}, **options})


def grpc_code(server, texts=("a",), timeout=TIMEOUT, credentials=None, metadata=()):
    """The code and the details of a call, or the texts of its reply."""
    target = server.grpc_url.split("//")[1]
    make = (
        grpc.insecure_channel(target)
        if credentials is None
        else grpc.secure_channel(target, credentials)
    )
    with make as channel:
        request = PredictRequest()
        request.model_spec.name = "echo"
        request.inputs["text"].CopyFrom(tf.make_tensor_proto(list(texts), tf.string))
        try:
            reply = PredictionServiceStub(channel).Predict(
                request, timeout=timeout, metadata=metadata
            )
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return tf.make_ndarray(reply.outputs["text"]).tolist()


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["x" * 101], "`text` must hold strings of at most 100 bytes. Received: 101 bytes"),
        (["x"] * 9, "at most 8 rows. Received: 9"),
    ],
)
def test_large_requests_are_refused_by_both_protocols(server, texts, words):
    reply = post(server, texts)
    assert (reply.status_code, reply.headers["connection"]) == (413, "close")
    assert words in reply.json()["error"]
    code, details = grpc_code(server, texts)
    assert code == "INVALID_ARGUMENT"
    assert words in details
    assert post(server).json() == {"outputs": {"text": ["a!"], "version": [1]}}


def test_passages_that_the_model_does_not_read_count_in_both_protocols(tmp_path):
    write_lengths(tmp_path / "lengths", max_passages=2)
    with serve(tmp_path, limits=Limits(passages=5)) as server:
        url = f"{server.url}/v1/models/lengths:predict"
        rows = [["a"], ["a"] * 6]
        for body in ({"inputs": rows}, {"instances": [{"passages": row} for row in rows]}):
            reply = httpx.post(url, json=body, timeout=TIMEOUT)
            assert reply.status_code == 413
            assert "`passages` must have at most 5 elements per row. Received: 6" in reply.text
        with grpc.insecure_channel(server.grpc_url.split("//")[1]) as channel:
            request = PredictRequest()
            request.model_spec.name = "lengths"
            request.inputs["passages"].CopyFrom(tf.make_tensor_proto(rows[1:]))
            with pytest.raises(grpc.RpcError, match="at most 5 elements per row. Received: 6"):
                PredictionServiceStub(channel).Predict(request, timeout=TIMEOUT)
        reply = httpx.post(url, json={"inputs": [["a"], ["a"] * 5]}, timeout=TIMEOUT)
        assert reply.json() == {"outputs": [1, 3]}  # cut, and one more for `truncated`


def test_large_bodies_are_refused_before_they_are_read(server):
    assert post(server, content=b" " * 2001, json=None).status_code == 413

    def chunks():
        yield from [b" " * 1000] * 3

    assert post(server, content=chunks(), json=None).status_code == 413
    code, _ = grpc_code(server, ["x" * 90] * 30)
    assert code == "RESOURCE_EXHAUSTED"


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_client_that_sends_its_whole_body_first_reads_the_413(server, is_chunked):
    parts = urlsplit(server.url)
    for _ in range(3):  # each sends more than the buffers of a connection hold
        client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
        body = iter([b" " * 2**24] * 2) if is_chunked else b" " * 2**24
        client.request(
            "POST", "/v1/models/echo:predict", body, {"x": "y"}, encode_chunked=is_chunked
        )
        reply = client.getresponse()
        assert (reply.status, reply.getheader("connection")) == (413, "close")
        assert json.load(reply)["error"] == "The body must have at most 2,000 bytes."
        client.close()
    assert post(server).status_code == 200


def test_a_client_that_waits_for_100_continue_is_not_waited_for(server):
    head = b"POST /v1/models/echo:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 2001\r\n"
    with connected(server) as waiting:
        waiting.sendall(head + b"Expect: 100-continue\r\n\r\n")
        received = b"".join(iter(partial(waiting.recv, 10_000), b""))  # until the server closes
    assert received.startswith(b"HTTP/1.1 413 ") and b"100 Continue" not in received


def test_no_more_than_a_limit_of_a_refused_body_is_read(models, monkeypatch):
    monkeypatch.setattr("tfmrc.serving.rest.DISCARDED_BYTES", 1000)
    head = b"POST /v1/models/echo:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n"
    with serve(models, limits=LIMITS) as running:
        for sent in (b" " * 1000, b""):
            with connected(running) as sending:
                sending.sendall(head + sent)
                received = b"".join(iter(partial(sending.recv, 10_000), b""))
            assert received.startswith(b"HTTP/1.1 413 ")
            # The second request ends by its time.
            running.service.limits = Limits(body_bytes=2000, receive_seconds=0.05)


def test_swapped_arguments_of_run_name_their_order(server):
    urls = (f"{server.url}/v1/models/echo", f"{server.grpc_url}/echo")
    for url in urls:
        with Client.from_url(url, timeout=TIMEOUT) as client:
            with pytest.raises(TypeError, match="the inputs first and then the signature"):
                client.run("serving_default", {"text": ["a"]})

        async def swapped(url=url):
            async with AsyncClient.from_url(url, timeout=TIMEOUT) as client:
                await client.run("serving_default", {"text": ["a"]})

        with pytest.raises(TypeError, match="the inputs first and then the signature"):
            asyncio.run(swapped())


def test_chunked_requests_are_read(server):
    reply = post(server, content=iter([b'{"inputs":', b' ["b"]}']), json=None)
    assert reply.json()["outputs"]["text"] == ["b!"]


def test_a_small_message_of_a_huge_tensor_is_refused(server):
    request = PredictRequest()
    request.model_spec.name = "echo"
    proto = request.inputs["text"]
    proto.dtype = tf.string.as_datatype_enum
    proto.string_val.append(b"x")
    proto.tensor_shape.dim.add(size=10**12)
    with grpc.insecure_channel(server.grpc_url.split("//")[1]) as channel:
        stub = PredictionServiceStub(channel)
        with pytest.raises(grpc.RpcError, match="at most 8 rows"):
            stub.Predict(request, timeout=TIMEOUT)
        proto.tensor_shape.dim[0].size = -1
        with pytest.raises(grpc.RpcError, match="has no shape"):
            stub.Predict(request, timeout=TIMEOUT)


def test_too_many_requests_at_a_time_get_429_and_clients_repeat_them(models):
    with serve(models, limits=LIMITS) as server, ThreadPoolExecutor() as threads:
        gate = Gate(server, "echo")
        running = [threads.submit(post, server) for _ in range(LIMITS.requests)]
        wait_until(lambda: server.service._running == LIMITS.requests)
        refused = post(server)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert grpc_code(server)[0] == "RESOURCE_EXHAUSTED"
        for url in (server.url, server.grpc_url):
            with Client("echo", url, retries=1, timeout=TIMEOUT) as client:
                with pytest.raises(RequestError, match="answered 429") as error:
                    client.run({"text": ["a"]})
                assert error.value.status == 429
        patient = Client("echo", server.url, retries=100, timeout=TIMEOUT)
        repeated = threads.submit(patient.run, {"text": ["again"]})
        gate.open()
        assert repeated.result()["text"] == ["again!"]
        assert [each.result().status_code for each in running] == [200] * LIMITS.requests
        patient.close()


def test_a_full_queue_is_503(models):
    batching = BatchingOptions(max_batch_size=1, max_enqueued_batches=1)
    with serve(models, batching=batching) as server, ThreadPoolExecutor() as threads:
        gate = Gate(server, "echo")
        running = [threads.submit(post, server)]
        gate.begun.wait()
        running.append(threads.submit(post, server))
        with server.manager.use("echo") as version:
            wait_until(lambda: version.loaded.batcher._waiting)
        refused = post(server)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "queue of the model is full" in refused.json()["error"]
        assert grpc_code(server)[0] == "UNAVAILABLE"
        gate.open()
        assert [each.result().status_code for each in running] == [200, 200]


def test_a_request_that_takes_too_long_is_504(models):
    with serve(models, limits=Limits(seconds=0.05)) as server:
        gate = Gate(server, "echo")
        assert post(server).status_code == 504
        assert grpc_code(server)[0] == "DEADLINE_EXCEEDED"
        gate.open()


def test_a_client_s_own_deadline_ends_its_request_only(server):
    gate = Gate(server, "echo")
    assert grpc_code(server, timeout=0.05)[0] == "DEADLINE_EXCEEDED"
    with Client("echo", server.grpc_url, timeout=0.05) as client:
        with pytest.raises(TimeoutError, match="did not answer in time"):
            client.run({"text": ["a"]})
    with Client("echo", server.url, timeout=0.05) as client:
        with pytest.raises(TimeoutError, match="did not answer in time"):
            client.run({"text": ["a"]})
    gate.open()
    assert grpc_code(server) == [b"a!"]


def connected(server):
    parts = urlsplit(server.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=TIMEOUT)


HEAD = b"POST /v1/models/echo:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"


@pytest.mark.parametrize("sent", [b"", b"POST / HT", HEAD])
def test_a_head_that_does_not_arrive_ends_the_connection(models, sent):
    with serve(models, limits=Limits(receive_seconds=0.1)) as server:
        with connected(server) as half_open, contextlib.suppress(ConnectionError):
            half_open.sendall(sent)
            assert half_open.recv(1000) == b""
        assert grpc_code(server) == [b"a!"]


def test_a_body_that_does_not_arrive_is_408(models):
    with serve(models, limits=Limits(receive_seconds=TIMEOUT)) as server:
        server.service.limits = Limits(receive_seconds=0.05)  # of bodies only
        with connected(server) as slow:
            slow.sendall(HEAD + b"\r\n{")
            reply = http.client.HTTPResponse(slow)
            reply.begin()
            assert (reply.status, reply.getheader("connection")) == (408, "close")


def test_a_head_without_end_is_431(server):
    with connected(server) as endless:
        endless.sendall(HEAD + b"X: " + b"x" * 2**17)
        reply = http.client.HTTPResponse(endless)
        reply.begin()
        assert reply.status == 431


GET = b"GET /v1/models/echo HTTP/1.1\r\nHost: x\r\n\r\n"
BODY = b'{"inputs": ["a"]}'
PREDICT = b"POST /v1/models/echo:predict HTTP/1.1\r\nHost: x\r\nContent-Length: 17\r\n\r\n" + BODY
CHUNKED = b"POST /v1/models/echo:predict HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


def statuses(connection):
    """The statuses of all replies until the server closes the connection."""
    received = b"".join(iter(partial(connection.recv, 10_000), b""))
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d+) ", received)]


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([PREDICT, GET, b"{}\r\n\r\n"], [200, 200, 400]),
        ([PREDICT, b"GET / HTTP/1.1\r\nX: ".ljust(HEAD_BYTES + 1, b"x")], [200, 431]),
        ([PREDICT, GET, CHUNKED + b"no chunk\r\n"], [200, 200, 400]),
        ([PREDICT, b"{}\r\n\r\n" + GET], [200, 400]),
        ([CHUNKED + b"no chunk\r\n"], [400]),
    ],
)
def test_requests_before_a_malformed_one_are_answered_first(server, sent, expected):
    with connected(server) as pipelined:
        pipelined.sendall(b"".join(sent))
        assert statuses(pipelined) == expected


def test_a_head_that_does_not_arrive_leaves_the_reply_before_it(models):
    limits = Limits(seconds=TIMEOUT, receive_seconds=TIMEOUT)
    with serve(models, limits=limits) as server:
        gate = Gate(server, "echo")
        with connected(server) as half_open:
            half_open.sendall(PREDICT + b"GET / HT")
            gate.begun.wait()
            (protocol,) = server._uvicorn.server_state.connections
            wait_until(lambda: protocol._timer is not None)
            server._loop.call_soon_threadsafe(protocol._close)  # as after `receive_seconds`
            wait_until(lambda: protocol._timer is None)
            gate.open()
            assert statuses(half_open) == [200]


def test_idle_connections_hold_no_worker_and_have_a_limit(models):
    limits = Limits(connections=20, receive_seconds=TIMEOUT)
    with serve(models, limits=limits) as server:
        idle = [connected(server) for _ in range(19)]
        for each in idle:
            each.sendall(HEAD)
        assert post(server).status_code == 200
        idle.append(connected(server))
        wait_until(lambda: len(server._uvicorn.server_state.connections) == 20)
        assert post(server).status_code == 503
        for each in idle:
            each.close()
        wait_until(lambda: not server._uvicorn.server_state.connections)
        assert post(server).status_code == 200


def test_a_client_that_hangs_up_is_no_error(server, caplog):
    for sent in (HEAD + b"\r\n{", HEAD + b'\r\n{"inputs"'):
        with connected(server) as hanging:
            hanging.sendall(sent)
    assert post(server).status_code == 200
    assert "Traceback" not in caplog.text


def test_a_key_is_needed_for_everything_but_the_page_and_health(models):
    with serve(models, api_key="open sesame") as server:
        assert post(server).status_code == 401
        assert post(server, headers={"X-API-Key": "wrong"}).status_code == 401
        assert post(server, headers={"X-API-Key": "open sesame"}).status_code == 200
        assert post(server, headers={"Authorization": "Bearer open sesame"}).status_code == 200
        for path, status in (
            ("/", 200),
            ("/healthz", 200),
            ("/v1/models", 401),
            ("/v1/models/echo", 401),
            ("/monitoring/prometheus/metrics", 401),
        ):
            assert httpx.get(server.url + path).status_code == status, path
        assert grpc_code(server)[0] == "UNAUTHENTICATED"
        assert grpc_code(server, metadata=[("authorization", "Bearer x")])[0] == "UNAUTHENTICATED"
        assert grpc_code(server, metadata=[("x-api-key", "open sesame")]) == [b"a!"]
        for url in (server.url, server.grpc_url):
            with Client("echo", url, api_key="open sesame", timeout=TIMEOUT) as client:
                assert client.status()["model_version_status"][0]["state"] == "AVAILABLE"


def test_pages_of_other_sites_are_refused_unless_named(server, models):
    other, own = {"Origin": "https://other.example"}, {"Origin": server.url}
    assert post(server, headers=other).status_code == 403
    reply = post(server, headers=own)
    assert reply.status_code == 200
    assert not [name for name in reply.headers if name.startswith("access-control")]
    with serve(models, cors_origins=["https://other.example"]) as open_server:
        reply = post(open_server, headers=other)
        assert reply.status_code == 200
        assert reply.headers["access-control-allow-origin"] == "https://other.example"
        assert post(open_server, headers={"Origin": "https://x.example"}).status_code == 403


@pytest.mark.parametrize("origin", ["http://[a", "http://[", "null", "x"])
@pytest.mark.parametrize("host", ["a", ""])
def test_an_origin_that_is_no_address_is_refused(server, origin, host):
    reply = post(server, headers={"Origin": origin, "Host": host})
    assert reply.status_code == 403
    assert reply.json() == {"error": "Pages of other sites may not use this server."}


@pytest.mark.parametrize("letter", ["x", "%", "é", "\N{OWL}", "\n"])
def test_a_long_message_reaches_a_grpc_client(models, letter):
    """A client refuses a message beyond 8 KiB, with a code that clients repeat."""
    with serve(models) as server:
        request = PredictRequest()
        request.model_spec.name = "echo"
        request.inputs["text"].CopyFrom(tf.make_tensor_proto(["a"], tf.string))
        request.inputs[letter * 40_000].CopyFrom(tf.make_tensor_proto(["a"], tf.string))
        with grpc.insecure_channel(server.grpc_url.split("//")[1]) as channel:
            with pytest.raises(grpc.RpcError) as error:
                PredictionServiceStub(channel).Predict(request, timeout=TIMEOUT)
    assert error.value.code().name == "INVALID_ARGUMENT"
    said = error.value.details()
    assert said.startswith("This signature takes text. `") and said.endswith(f"{letter}...")


def test_tls(models, tmp_path):
    certificate, key = write_certificate(tmp_path)
    with serve(models, certificate=certificate, private_key=key) as server:
        assert server.url.startswith("https://") and server.grpc_url.startswith("grpcs://")
        for url in (server.url, server.grpc_url):
            with Client("echo", url, certificate=str(certificate), timeout=TIMEOUT) as client:
                assert list(client.run({"text": ["a"]})["version"]) == [1]
        with Client("echo", server.url) as stranger:
            with pytest.raises(ConnectionError, match="certificate"):
                stranger.status()
    with pytest.raises(ValueError, match="both `certificate` and `private_key`"):
        serve(models, certificate=certificate)
    for wrong in (tmp_path / "none.pem", certificate):  # of which the second holds no key
        said = f"certificate='{certificate}', private_key='{wrong}'"
        with pytest.raises(ValueError, match=f"^TLS needs a certificate .* Received: {said}"):
            serve(models, certificate=certificate, private_key=wrong)


def test_metrics_have_the_path_and_the_names_of_tensorflow_serving(models):
    with serve(models) as server:
        post(server)
        post(server, texts=["bad"])
        grpc_code(server)
        reply = httpx.get(f"{server.url}/monitoring/prometheus/metrics")
        assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
        counts = re.findall(r'request_count\{model_name="echo",status="(\w+)"\} (\S+)', reply.text)
        assert dict(counts) == {"OK": "2.0", "INVALID_ARGUMENT": "1.0"}
        assert ':tensorflow:serving:request_latency_count{model_name="echo"} 3.0' in reply.text
        assert (
            'tfmrc_replies_total{method="predict",protocol="REST",status="400"} 1.0' in reply.text
        )


def test_the_access_log_has_no_texts(server, caplog):
    secret = "a-secret-text"
    with caplog.at_level(logging.INFO, logger="tfmrc.serving.access"):
        post(server, [secret])
        post(server, [secret, 7])
        httpx.get(f"{server.url}/v1/models/{secret}")
        httpx.get(f"{server.url}/{secret}")
        grpc_code(server, [secret])
    assert secret not in caplog.text
    lines = [json.loads(r.message) for r in caplog.records if r.name == "tfmrc.serving.access"]
    assert [(each["protocol"], each["method"], each["status"]) for each in lines] == [
        ("REST", "predict", 200),
        ("REST", "predict", 400),
        ("REST", "status", 404),
        ("gRPC", "predict", 200),
    ]
    assert lines[0]["model"] == "echo" and lines[0]["rows"] == 1 and lines[0]["bytes_in"] > 0


@pytest.mark.parametrize(
    ("peer", "address"),
    [("ipv4:127.0.0.1:51000", "127.0.0.1"), ("ipv6:%5B::1%5D:51000", "::1"), ("unix:", "")],
)
def test_the_access_log_has_the_address_of_a_grpc_client(peer, address):
    assert address_of(peer) == address


def test_an_error_of_the_server_is_500_without_texts_in_the_log(models, caplog):
    with serve(models) as server:
        with server.manager.use("echo") as version:
            signature = version.loaded.batcher._signatures["serving_default"]

        def run(arrays):
            raise RuntimeError(f"no room for {arrays}")

        signature.run = run
        reply = post(server, ["a-secret-text"])
        assert (reply.status_code, reply.json()) == (
            500,
            {"error": "The server failed with RuntimeError."},
        )
        assert grpc_code(server, ["a-secret-text"])[0] == "INTERNAL"
        assert "RuntimeError at " in caplog.text and "secret" not in caplog.text


def test_a_server_without_limits_of_time_answers_and_ends(models):
    forever = Limits(seconds=math.inf, receive_seconds=math.inf, drain_seconds=math.inf)
    with serve(models, limits=forever) as running:
        assert post(running).json()["outputs"]["text"] == ["a!"] and grpc_code(running) == [b"a!"]


def test_limits_are_positive_and_named():
    assert limits_of(["seconds=2.5", "rows=7"]) == Limits(seconds=2.5, rows=7)
    with pytest.raises(ValueError, match="did you mean seconds"):
        limits_of(["second=2"])
    with pytest.raises(ValueError, match="must be a number. Received: --limit rows=x"):
        limits_of(["rows=x"])
    with pytest.raises(ValueError, match="`rows` must be a positive number. Received: rows=0"):
        limits_of(["rows=0"])


def test_a_key_of_the_command_is_printable_ascii(tmp_path, monkeypatch):
    file = tmp_path / "key"
    for written in ("clé\n".encode(), "clé\n".encode("latin-1"), b"two\nlines\n"):
        file.write_bytes(written)
        with pytest.raises(ValueError, match=f"^The key in {file} must be printable ASCII"):
            api_key_of(str(file))
    file.write_bytes(b"open sesame\n")
    assert api_key_of(str(file)) == "open sesame"
    monkeypatch.setenv("TFMRC_API_KEY", "clé")
    with pytest.raises(ValueError, match="^TFMRC_API_KEY must be printable ASCII"):
        api_key_of(None)
    monkeypatch.setenv("TFMRC_API_KEY", "")
    assert api_key_of(None) is None


def test_wrong_arguments_are_errors(models):
    for key in ("", "clé", "two\nlines", " outer ", "\x7f", b"bytes"):
        said = r"`api_key` must be printable ASCII.*not shown here$"
        with pytest.raises(ValueError, match=said):
            serve(models, api_key=key)
        for kind in (Client, AsyncClient):
            for url in ("http://127.0.0.1:8501", "grpc://127.0.0.1:8500"):
                with pytest.raises(ValueError, match=said):
                    kind("echo", url, api_key=key)
    with pytest.raises(ValueError, match="poll_seconds"):
        serve(models, poll_seconds=0)
    with pytest.raises(FileNotFoundError, match="There is no export"):
        serve(models / "echo" / "1" / "variables")
    with serve(models) as server:
        taken = int(server.grpc_url.rpartition(":")[2])
        with pytest.raises(OSError, match=f"Cannot listen on 127.0.0.1:{taken}"):
            Server(models, port=0, grpc_port=taken)

"""Questions as inputs of a signature, for exports of several kinds."""

import asyncio
import json

import grpc
import httpx
import numpy as np
import pytest

from tests.serving.small_models import write_joined
from tfmrc.predictors import RequestError
from tfmrc.predictors.queries import answer_query, ask_query
from tfmrc.serving import AsyncClient, Client, Server
from tfmrc.serving.client import MOST_AT_A_TIME
from tfmrc.serving.transports import GrpcTransport

QUESTION = {"question": "How high?", "passages": ["It is 7 metres high."]}
OTHER = {"classify": ["text"], "embed": ["text"]}


def test_a_model_without_a_signature_to_answer_says_so():
    said = "^This model does not answer questions .* Its signatures are classify, embed."
    with pytest.raises(ValueError, match=said):
        answer_query(OTHER, **QUESTION, style=str)
    for kind in (Client, AsyncClient):
        client = kind("other")
        client._signatures = OTHER  # as the server would tell them
        with pytest.raises(ValueError, match=said):
            answer = client.answer(**QUESTION)
            asyncio.run(answer)  # that of `AsyncClient`


@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_single_text_in_place_of_a_list_of_passages_is_refused(kind):
    client = kind("masque", "http://127.0.0.1:1", retries=0)
    with pytest.raises(TypeError, match=r"put a single one in a list. Received: 'It is 7 metres"):
        answers = client.predict(
            questions=["How high?"], passages=QUESTION["passages"], styles=["qa"]
        )
        asyncio.run(answers)  # those of `AsyncClient`


def test_a_style_of_a_model_without_styles_is_refused():
    reader = {"serving_default": ["question", "passages"]}
    with pytest.raises(ValueError, match=r"^This model has no styles: .* Received: style='nlg'$"):
        answer_query(reader, **QUESTION, style="nlg")
    query = answer_query(reader, **QUESTION, style=str)
    assert query.inputs == {"question": ["How high?"], "passages": [["It is 7 metres high."]]}


def client_of(answer, **options):
    """Returns a client of a server that answers every request by a function."""
    client = Client("hills", retries=0, **options)
    client._open()
    client._transport._client = httpx.Client(
        base_url=client.address.url, transport=httpx.MockTransport(answer)
    )
    return client


@pytest.mark.parametrize("body", [b"<html>Log in</html>", b"[1]", b'{"detail": "ok"}', b"\xff"])
def test_a_reply_of_no_model_server_says_so(body):
    client = client_of(lambda request: httpx.Response(200, content=body))
    for ask in (client.status, client.signatures, lambda: client.run({"text": ["a"]})):
        with pytest.raises(ConnectionError, match="is of no model server: its reply has no "):
            ask()


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ("errors resolving nowhere:8500: [field:hostname lookup error]", ConnectionError),
        ("failed to connect to all addresses", ConnectionError),
        ("The model 'disconnected' is being loaded. Repeat the request.", RequestError),
    ],
)
def test_no_server_of_grpc_is_told_from_one_that_refuses(details, expected):
    class Unavailable(grpc.RpcError):
        def code(self):
            return grpc.StatusCode.UNAVAILABLE

        def details(self):
            return details

    transport = Client("hills", "grpc://nowhere")._transport
    assert isinstance(transport, GrpcTransport)
    assert type(transport._failure(Unavailable())) is expected


def test_rest_sends_bytes_and_arrays_as_grpc_does():
    bodies = []

    def answer(request):
        bodies.append(json.loads(request.content)["inputs"])
        return httpx.Response(200, json={"outputs": {}})

    client = client_of(answer)
    for texts in ([b"a"], np.array(["a"]), np.array([b"a"], dtype=object)):
        client.run({"text": texts, "size": [np.int64(3)]})
    assert bodies == [
        {"text": [{"b64": "YQ=="}], "size": [3]},
        {"text": ["a"], "size": [3]},
        {"text": [{"b64": "YQ=="}], "size": [3]},
    ]
    with pytest.raises(TypeError, match=r"^An input holds texts and numbers\. Received: \{1\}$"):
        client.run({"text": [{1}]})


def test_a_position_of_numpy_is_an_integer_of_both_protocols():
    signatures = {"serving_default": ["passage", "answer"], "at": ["passage", "answer"]}
    (start,) = ask_query(signatures, "Ann.", "Ann", np.int64(0)).inputs["answer_start"]
    assert type(start) is int


def test_an_asynchronous_client_sends_as_many_requests_at_a_time_as_it_has_connections():
    client = AsyncClient("hills")
    client._open()
    running, most = set(), []

    async def send(call):
        running.add(asyncio.current_task())
        most.append(len(running))
        await asyncio.sleep(0)
        running.remove(asyncio.current_task())
        return {"outputs": {}}

    client._transport.send_async = send

    async def ask():
        return await asyncio.gather(*(client.run({"text": ["a"]}) for _ in range(250)))

    assert asyncio.run(ask()) == [{}] * 250
    assert max(most) == MOST_AT_A_TIME


def test_a_single_output_has_its_name_over_both_protocols(tmp_path):
    write_joined(tmp_path / "joined")
    asked = {"question": ["How high?"], "passages": [["7 metres."]]}

    async def run(url):
        async with AsyncClient("joined", url) as client:
            return await client.run(asked)

    with Server(tmp_path, port=0, grpc_port=0) as server:
        for url in (server.url, server.grpc_url):
            with Client("joined", url) as client:
                assert list(client.run(asked)) == list(asyncio.run(run(url))) == ["answer"]
                answer = client.answer(question="How high?", passages=["7 metres."])
                assert answer.text == "How high?7 metres."

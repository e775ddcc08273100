"""Questions as inputs of a signature, for exports of several kinds."""

import json

import httpx
import numpy as np

from tests.serving.small_models import write_joined
from tfmrc.serving import Client, Server


def test_a_client_sends_bytes_and_arrays():
    bodies = []

    def answer(request):
        bodies.append(json.loads(request.content)["inputs"])
        return httpx.Response(200, json={"outputs": {}})

    client = Client("hills")
    client._http = httpx.Client(base_url=client.url, transport=httpx.MockTransport(answer))
    for texts in ([b"a"], np.array(["a"]), np.array([b"a"], dtype=object)):
        client.run({"text": texts, "size": [np.int64(3)]})
    assert bodies == [
        {"text": [{"b64": "YQ=="}], "size": [3]},
        {"text": ["a"], "size": [3]},
        {"text": [{"b64": "YQ=="}], "size": [3]},
    ]


def test_a_single_output_has_its_name(tmp_path):
    write_joined(tmp_path / "joined")
    with Server(tmp_path, port=0) as server, Client.from_url(server.url) as client:
        assert list(client.run({"question": ["How high?"], "passages": [["7 metres."]]})) == [
            "answer"
        ]
        answer = client.answer(question="How high?", passages=["7 metres."])
        assert answer.text == "How high?7 metres."

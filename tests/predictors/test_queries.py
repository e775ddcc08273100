"""Questions as inputs of a signature, for exports of several kinds."""

import json

import httpx
import numpy as np
import pytest

from tests.serving.small_models import write_joined
from tfmrc.predictors.queries import answer_query, ask_query
from tfmrc.serving import Client, Server

QUESTION = {"question": "How high?", "passages": ["It is 7 metres high."]}
OTHER = {"classify": ["text"], "embed": ["text"]}


def test_a_model_without_a_signature_to_answer_says_so():
    said = "^This model does not answer questions .* Its signatures are classify, embed."
    with pytest.raises(ValueError, match=said):
        answer_query(OTHER, **QUESTION, style=str)


def test_a_style_of_a_model_without_styles_is_refused():
    reader = {"serving_default": ["question", "passages"]}
    with pytest.raises(ValueError, match=r"^This model has no styles: .* Received: style='nlg'$"):
        answer_query(reader, **QUESTION, style="nlg")
    query = answer_query(reader, **QUESTION, style=str)
    assert query.inputs == {"question": ["How high?"], "passages": [["It is 7 metres high."]]}


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


def test_a_position_of_numpy_is_a_plain_integer():
    signatures = {"serving_default": ["passage", "answer"], "at": ["passage", "answer"]}
    (start,) = ask_query(signatures, "Ann.", "Ann", np.int64(0)).inputs["answer_start"]
    assert type(start) is int


def test_a_single_output_has_its_name(tmp_path):
    write_joined(tmp_path / "joined")
    with Server(tmp_path, port=0) as server, Client.from_url(server.url) as client:
        assert list(client.run({"question": ["How high?"], "passages": [["7 metres."]]})) == [
            "answer"
        ]
        answer = client.answer(question="How high?", passages=["7 metres."])
        assert answer.text == "How high?7 metres."

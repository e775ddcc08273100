"""An existing client of TensorFlow Serving: the official stubs, and our clients, on one server."""

import asyncio
import re

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis.get_model_metadata_pb2 import (
    GetModelMetadataRequest,
    SignatureDefMap,
)
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusRequest, ModelVersionStatus
from tensorflow_serving.apis.model_management_pb2 import ReloadConfigRequest
from tensorflow_serving.apis.model_service_pb2_grpc import ModelServiceStub
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

import tfmrc
from tests.serving.predictors import REQUEST, assert_batched_as_alone, assert_same_arrays
from tfmrc import cli
from tfmrc.predictors import RequestError, signature
from tfmrc.serving import AsyncClient, Client, Server

pytestmark = pytest.mark.usefixtures("exports_once")

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow
QUESTION = {"question": REQUEST["question"][0], "passages": REQUEST["passages"][0]}


@pytest.fixture(scope="module")
def server(exported):
    with Server({"hills": exported.parent}, port=0, grpc_port=0) as running:
        yield running


@pytest.fixture(scope="module")
def channel(server):
    with grpc.insecure_channel(server.grpc_url.split("//")[1]) as made:
        yield made


@pytest.fixture(scope="module")
def stub(channel):
    return PredictionServiceStub(channel)


def predict_request(values=REQUEST, name="hills"):
    request = PredictRequest()
    request.model_spec.name = name
    for key, column in values.items():
        request.inputs[key].CopyFrom(tf.make_tensor_proto(column))
    return request


def test_the_official_stub_predicts(stub, answer_arrays):
    request = predict_request()
    request.model_spec.signature_name = "serving_default"
    request.model_spec.version.value = 7
    reply = stub.Predict(request, timeout=TIMEOUT)
    assert (reply.model_spec.name, reply.model_spec.version.value) == ("hills", 7)
    assert reply.model_spec.signature_name == "serving_default"
    found = {name: tf.make_ndarray(proto) for name, proto in reply.outputs.items()}
    assert_same_arrays(found, answer_arrays, rtol=1e-5)
    assert reply.outputs["mixture"].dtype == types_pb2.DT_FLOAT
    request.output_filter.extend(["answer", "score"])
    assert set(stub.Predict(request, timeout=TIMEOUT).outputs) == {"answer", "score"}


def test_the_official_stub_gets_metadata(stub):
    request = GetModelMetadataRequest(metadata_field=["signature_def"])
    request.model_spec.name = "hills"
    reply = stub.GetModelMetadata(request, timeout=TIMEOUT)
    signatures = SignatureDefMap()
    assert reply.metadata["signature_def"].Unpack(signatures)
    default = signatures.signature_def["serving_default"]
    assert set(default.inputs) == {"question", "passages", "style"}
    assert default.inputs["passages"].name == "serving_default_passages:0"
    assert [dim.size for dim in default.outputs["relevance"].tensor_shape.dim] == [-1, 3]
    assert default.method_name == "tensorflow/serving/predict"


def test_the_official_stub_gets_the_status(channel):
    request = GetModelStatusRequest()
    request.model_spec.name = "hills"
    (status,) = ModelServiceStub(channel).GetModelStatus(request).model_version_status
    assert (status.version, status.state) == (7, ModelVersionStatus.AVAILABLE)


@pytest.mark.parametrize("wrong", [3.5, "3", True, None])
def test_numbers_of_a_request_are_integers(wrong):
    """NumPy would convert them."""
    spec = tf.TensorSpec([None], tf.int32)
    said = f"`answer_start` must hold an integer per row. Received: {wrong!r}"
    with pytest.raises(RequestError, match=f"^{re.escape(said)}$"):
        signature.array_of([3, wrong], spec, "answer_start")
    for deep in (3, [[3]], [[[wrong]] * 2]):
        with pytest.raises(RequestError, match="must hold an integer per row"):
            signature.array_of(deep, spec, "answer_start")
    array = signature.array_of([3, -1], spec, "answer_start")
    assert (array.tolist(), array.dtype) == ([3, -1], np.int32)
    for given in (np.array([3.5]), np.array([2**40])):
        with pytest.raises(RequestError, match=f"not a int32 tensor: it holds {given.dtype}"):
            signature.array_of(given, spec, "answer_start")


@pytest.mark.parametrize(
    ("code", "details", "change"),
    [
        ("NOT_FOUND", "Not served: 'x'", {"name": "x"}),
        ("NOT_FOUND", "hills' version 3", {"version": 3}),
        ("NOT_FOUND", "labels of the model are none", {"version_label": "x"}),
        ("NOT_FOUND", "The signatures are serving_default", {"signature_name": "x"}),
        ("INVALID_ARGUMENT", "The outputs are alternative", {"output_filter": ["x"]}),
        ("INVALID_ARGUMENT", "this model are qa, nlg", {"style": ["limerick"] * 4}),
        ("INVALID_ARGUMENT", "as many rows", {"style": ["qa"]}),
        ("INVALID_ARGUMENT", "`style` is missing", {"style": None}),
        ("INVALID_ARGUMENT", "`style` is not a string tensor", {"style": [1.0] * 4}),
        ("INVALID_ARGUMENT", "must have the shape", {"style": [["qa"]] * 4}),
    ],
)
def test_a_wrong_request_has_its_code(stub, code, details, change):
    request = predict_request()
    for name, value in change.items():
        if name == "style":
            request.inputs.pop("style")
            if value is not None:
                request.inputs["style"].CopyFrom(tf.make_tensor_proto(value))
        elif name == "output_filter":
            request.output_filter.extend(value)
        elif name == "version":
            request.model_spec.version.value = value
        else:
            setattr(request.model_spec, name, value)
    with pytest.raises(grpc.RpcError) as error:
        stub.Predict(request, timeout=TIMEOUT)
    assert error.value.code().name == code
    assert details in error.value.details()


def test_methods_that_the_exports_have_no_signature_for(stub, channel):
    request = GetModelMetadataRequest(metadata_field=["other"])
    request.model_spec.name = "hills"
    with pytest.raises(grpc.RpcError, match="must be signature_def"):
        stub.GetModelMetadata(request)
    for call in (
        lambda: stub.Classify(stub_request("classification")),
        lambda: stub.Regress(stub_request("regression")),
        lambda: stub.MultiInference(stub_request("inference")),
        lambda: ModelServiceStub(channel).HandleReloadConfigRequest(ReloadConfigRequest()),
    ):
        with pytest.raises(grpc.RpcError) as error:
            call()
        assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


def stub_request(kind):
    from tensorflow_serving.apis import classification_pb2, inference_pb2, regression_pb2

    return {
        "classification": classification_pb2.ClassificationRequest,
        "regression": regression_pb2.RegressionRequest,
        "inference": inference_pb2.MultiInferenceRequest,
    }[kind]()


def test_requests_of_a_batch_are_answered_as_alone(exported):
    rows = [{name: [column[row]] for name, column in REQUEST.items()} for row in range(4)]
    rows[1]["passages"] = [REQUEST["passages"][1][:1]]
    rows[2]["passages"] = [["", *[f"A mill of {n} metres" for n in range(40)]]]
    assert_batched_as_alone(exported, [*rows, REQUEST, rows[0]])


def assert_equal_answers(found, right):
    assert type(found) is type(right)
    assert found.text == right.text
    assert found.probability == pytest.approx(right.probability, rel=1e-5)
    assert [word.source_text for word in found.words] == [word.source_text for word in right.words]
    np.testing.assert_allclose(found.relevance, right.relevance, rtol=1e-5)
    assert [each.text for each in found.alternatives] == [each.text for each in right.alternatives]


@pytest.mark.parametrize("protocol", ["url", "grpc_url"])
def test_both_clients_give_typed_answers_over_both_protocols(server, exported, protocol):
    right = tfmrc.load(exported).answer(**QUESTION, style="nlg")
    url = getattr(server, protocol)
    with Client("hills", url, timeout=TIMEOUT) as client:
        assert_equal_answers(client.answer(**QUESTION, style="nlg"), right)
        assert client.signatures() == {"serving_default": client.signatures()["serving_default"]}
        assert client.status()["model_version_status"] == [
            {
                "version": "7",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
        found = client.predict(
            questions=[QUESTION["question"]] * 2,
            passages=[QUESTION["passages"], QUESTION["passages"][:1]],
            styles=["nlg", "qa"],
        )
        assert_equal_answers(found[0], right)
        assert len(found[1].relevance) == 1
        for odd in ({"question": "Who?", "passages": []}, {**QUESTION, "question": "Who \ud83d?"}):
            local = tfmrc.load(exported).answer(**odd, style="nlg")
            assert_equal_answers(client.answer(**odd, style="nlg"), local)
        with pytest.raises(RequestError, match="limerick"):
            client.answer(**QUESTION, style="limerick")

    async def ask():
        async with AsyncClient("hills", url, timeout=TIMEOUT) as client:
            answers = [client.answer(**QUESTION, style="nlg") for _ in range(3)]
            with pytest.raises(RequestError, match="Not served: 'hills' version 9"):
                await AsyncClient("hills", url, version=9, timeout=TIMEOUT).run(REQUEST)
            return await asyncio.gather(*answers), await client.status()

    answers, status = asyncio.run(ask())
    for answer in answers:
        assert_equal_answers(answer, right)
    assert status["model_version_status"][0]["version"] == "7"


def test_the_first_style_is_known_over_rest_only(server, exported):
    right = tfmrc.load(exported).answer(**QUESTION)
    assert_equal_answers(Client.from_url(server.url).answer(**QUESTION), right)

    async def ask():
        async with AsyncClient.from_url(f"{server.url}/v1/models/hills") as client:
            return await client.answer(**QUESTION)

    assert_equal_answers(asyncio.run(ask()), right)
    with pytest.raises(ValueError, match="name the model .* and the style"):
        Client("hills", server.grpc_url).answer(**QUESTION)


@pytest.mark.parametrize("selected", [{"version": 9}, {"label": "canary"}])
def test_a_version_is_kept_when_the_name_is_asked_for(server, selected):
    client = Client.from_url(server.url, **selected)
    with pytest.raises(RequestError, match="answered 404"):
        client.answer(**QUESTION, style="qa")
    assert (client.address.name, client.address.version, client.address.label) == (
        "hills",
        selected.get("version"),
        selected.get("label"),
    )


def test_there_is_no_server():
    for url in ("http://127.0.0.1:1", "grpc://127.0.0.1:1"):
        with Client("hills", url) as client, pytest.raises(ConnectionError, match="no server at"):
            client.status()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("htp://x", "did you mean http://?"),
        ("http://x/v2/models/hills/now", "The address of a model is"),
        ("x", "A server's address is"),
        ("http://[x", "A server's address is http://HOST:PORT, https://, grpc:// or grpcs://. Rec"),
        ("http://x:y/hills", "grpcs://. Received: 'http://x:y/hills'"),
        ("grpc://x:99999/hills", "grpcs://. Received: 'grpc://x:99999/hills'"),
        ("http:///v1", "grpcs://. Received: 'http:///v1'"),
    ],
)
def test_a_wrong_address_is_an_error(url, words):
    with pytest.raises(ValueError) as error:
        Client.from_url(url)
    assert words in str(error.value)


def test_the_command_asks_a_server_as_it_asks_a_folder(server, exported, capsys, monkeypatch):
    monkeypatch.delenv("TFMRC_API_KEY", raising=False)
    asked = ["--question", QUESTION["question"], "--style", "qa"]
    for passage in QUESTION["passages"]:
        asked += ["--passage", passage]
    folder = [exported, f"{server.url}/v1/models/hills/versions/7", f"{server.grpc_url}/hills"]
    said = []
    for model in folder:
        assert cli.main(["answer", str(model), *asked]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]
    assert cli.main(["answer", f"{server.url}/v1/models/valleys", *asked]) == 1
    assert "answered 404: Not served: 'valleys'" in capsys.readouterr().err

"""An existing client of TensorFlow Serving, the official stubs, and our client, on one server."""

import grpc
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow_serving.apis.classification_pb2 import ClassificationRequest
from tensorflow_serving.apis.get_model_metadata_pb2 import GetModelMetadataRequest, SignatureDefMap
from tensorflow_serving.apis.get_model_status_pb2 import GetModelStatusRequest, ModelVersionStatus
from tensorflow_serving.apis.model_service_pb2_grpc import ModelServiceStub
from tensorflow_serving.apis.predict_pb2 import PredictRequest
from tensorflow_serving.apis.prediction_service_pb2_grpc import PredictionServiceStub

import tfmrc
from tests.serving.predictors import REQUEST, assert_batched_as_alone, assert_same_outputs
from tfmrc import cli
from tfmrc.predictors import RequestError
from tfmrc.predictors.exported import signature
from tfmrc.serving import Client, Server

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
    assert_same_outputs(found, answer_arrays)
    assert reply.outputs["mixture"].dtype == types_pb2.DT_FLOAT
    request.output_filter.extend(["answer", "probability"])
    assert set(stub.Predict(request, timeout=TIMEOUT).outputs) == {"answer", "probability"}


def test_the_official_stubs_get_metadata_and_status(stub, channel):
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
    request = GetModelStatusRequest()
    request.model_spec.name = "hills"
    (status,) = ModelServiceStub(channel).GetModelStatus(request).model_version_status
    assert (status.version, status.state) == (7, ModelVersionStatus.AVAILABLE)
    with pytest.raises(grpc.RpcError) as error:
        stub.Classify(ClassificationRequest())
    assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    "wrong", [[3, 3.5], [3, "3"], [3, None], 3, [[3]], [2**40], np.array([2**40]), {"b64": ""}]
)
def test_numbers_of_a_request_are_integers(wrong):
    """NumPy would convert them."""
    spec = tf.TensorSpec([None], tf.int32)
    with pytest.raises(RequestError, match="`answer_start` must hold an int32 per row: "):
        signature.array_of(wrong, spec, "answer_start")
    array = signature.array_of([3, -1], spec, "answer_start")
    assert (array.tolist(), array.dtype) == ([3, -1], np.int32)


@pytest.mark.parametrize(
    ("code", "details", "change"),
    [
        ("NOT_FOUND", "Not served: 'x'", {"name": "x"}),
        ("NOT_FOUND", "The signatures are serving_default", {"signature_name": "x"}),
        ("INVALID_ARGUMENT", "The outputs are answer", {"output_filter": ["x"]}),
        ("INVALID_ARGUMENT", "this model are qa, nlg", {"style": ["limerick"] * 4}),
        ("INVALID_ARGUMENT", "as many rows", {"style": ["qa"]}),
        ("INVALID_ARGUMENT", "`style` is missing", {"style": None}),
        ("INVALID_ARGUMENT", "`style` must hold a string per row", {"style": [1.0] * 4}),
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
        else:
            setattr(request.model_spec, name, value)
    with pytest.raises(grpc.RpcError) as error:
        stub.Predict(request, timeout=TIMEOUT)
    assert error.value.code().name == code
    assert details in error.value.details()


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


def test_the_client_gives_typed_answers(server, exported):
    local = tfmrc.load(exported)
    with Client("hills", server.url, timeout=TIMEOUT) as client:
        for asked in (
            {**QUESTION, "style": "nlg"},
            {"question": "Who?", "passages": [], "style": "nlg"},
            {**QUESTION, "question": "Who \ud83d?", "style": "nlg"},
            QUESTION,  # in the first style
        ):
            assert_equal_answers(client.answer(**asked), local.answer(**asked))
        assert client.status()["model_version_status"] == [
            {
                "version": "7",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            }
        ]
        with pytest.raises(RequestError, match="answered 400: .*limerick"):
            client.answer(**QUESTION, style="limerick")
    with Client.from_url(server.url) as client:
        assert_equal_answers(client.answer(**QUESTION), local.answer(**QUESTION))


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(server, monkeypatch):
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url)
    with Client("hills", "http://hills.example", retries=0, timeout=TIMEOUT) as client:
        with pytest.raises(RequestError, match="answered 403: .* does not serve this host"):
            client.status()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with Client("hills", server.url, retries=0, timeout=TIMEOUT) as client:
        assert client.status()["model_version_status"][0]["version"] == "7"


def test_the_command_asks_a_server_as_it_asks_a_folder(server, exported, capsys, monkeypatch):
    monkeypatch.delenv("TFMRC_API_KEY", raising=False)
    asked = ["--question", QUESTION["question"], "--style", "qa"]
    for passage in QUESTION["passages"]:
        asked += ["--passage", passage]
    printed = []
    for model in (exported, f"{server.url}/v1/models/hills/versions/7"):
        assert cli.main(["answer", str(model), *asked]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert cli.main(["answer", f"{server.url}/v1/models/valleys", *asked]) == 1
    assert "answered 404: Not served: 'valleys'" in capsys.readouterr().err

import base64
import shutil

import httpx
import pytest

import tfmrc
from tests.serving.predictors import REQUEST, assert_same_outputs
from tfmrc.predictors.exported.signature import SavedModel
from tfmrc.predictors.exported.versions import newest_version
from tfmrc.serving import Client, Server

pytestmark = pytest.mark.usefixtures("exports_once")

INSTANCE = {"question": "How high?", "passages": ["It is 7 metres high."], "style": "qa"}
VERSE = {**INSTANCE, "style": "limerick"}


@pytest.fixture(scope="module")
def server(exported):
    with Server({"hills": exported.parent}, port=0) as running:
        yield running


def send(server, method, path, **options):
    reply = httpx.request(method, server.url + path, timeout=3600, **options)
    return reply.status_code, reply.json()


def predict(server, value, path="/v1/models/hills:predict"):
    return send(server, "POST", path, json=value)


def test_columns_in_columns_out(server, answer_arrays):
    status, reply = predict(server, {"inputs": REQUEST, "signature_name": "serving_default"})
    assert status == 200
    assert_same_outputs(reply["outputs"], answer_arrays)


def test_rows_in_rows_out(server, answer_arrays):
    rows = [dict(zip(REQUEST, row, strict=True)) for row in zip(*REQUEST.values(), strict=True)]
    rows[1]["passages"] = rows[1]["passages"][:1]  # the rest of this row are empty strings
    path = "/v1/models/hills/versions/7:predict"
    status, reply = predict(server, {"instances": rows}, path)
    assert status == 200
    found = {name: [row[name] for row in reply["predictions"]] for name in answer_arrays}
    assert_same_outputs(found, answer_arrays)


def test_bytes_travel_as_base64(server):
    def encoded(raw):
        return {"b64": base64.b64encode(raw).decode()}

    plain = predict(server, {"instances": [INSTANCE]})
    packed = {**INSTANCE, "question": encoded(b"How high?")}
    assert predict(server, {"instances": [packed]}) == plain
    status, _ = predict(server, {"instances": [{**INSTANCE, "question": encoded(b"\xff\xfe")}]})
    assert status == 200


def test_state_and_signature_are_told(server):
    status, reply = send(server, "GET", "/v1/models/hills")
    assert status == 200
    assert reply["model_version_status"][0]["state"] == "AVAILABLE"
    assert reply["model_version_status"][0]["version"] == "7"
    status, reply = send(server, "GET", "/v1/models/hills/metadata")
    signature = reply["metadata"]["signature_def"]["signature_def"]["serving_default"]
    passages, relevance = signature["inputs"]["passages"], signature["outputs"]["relevance"]
    assert (passages["dtype"], relevance["dtype"]) == ("DT_STRING", "DT_FLOAT")
    assert [dim["size"] for dim in passages["tensor_shape"]["dim"]] == ["-1", "-1"]
    assert [dim["size"] for dim in relevance["tensor_shape"]["dim"]] == ["-1", "3"]


@pytest.mark.parametrize(
    ("status", "words", "value"),
    [
        (400, "not valid JSON", "{"),
        (400, "not valid JSON", "[" * 100_000),
        (400, 'either "instances" or "inputs"', {}),
        (400, "one object per example", {"instances": []}),
        (400, "The inputs are", {"instances": [INSTANCE, {"question": "x"}]}),
        (400, "`passages` is missing. `style` is missing.", {"instances": [{"question": "x"}]}),
        (
            400,
            "`passages` must hold a list of strings per row",
            {"instances": [{**INSTANCE, "passages": "x"}]},
        ),
        (400, "base64", {"instances": [{**INSTANCE, "question": {"b64": "?"}}]}),
        (400, "this model are qa, nlg. Received: style=limerick", {"instances": [VERSE]}),
        (400, "as many rows", {"inputs": {**REQUEST, "style": ["qa"]}}),
        (404, "serving_default", {"signature_name": "other", "instances": [INSTANCE]}),
    ],
)
def test_a_bad_request_is_explained(server, status, words, value):
    body = {"content" if isinstance(value, str) else "json": value}
    found, reply = send(server, "POST", "/v1/models/hills:predict", **body)
    assert found == status
    assert words in reply["error"]
    assert predict(server, {"instances": [INSTANCE]})[0] == 200, "the server lives on"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/v1/models/valleys", 404),
        ("POST", "/v1/models/hills", 405),
    ],
)
def test_wrong_paths(server, method, path, status):
    found, reply = send(server, method, path)
    assert found == status
    assert reply["error"]


def test_a_long_row_of_passages_does_not_lengthen_the_others(server):
    rows = [{**INSTANCE, "passages": ["It is 7 metres high."] + [""] * 4095}]
    rows += [{**INSTANCE, "passages": ["x"] * 4096}, *[INSTANCE] * 50]
    status, reply = predict(server, {"instances": rows})
    assert status == 200
    first, long, *others = reply["predictions"]
    alone = predict(server, {"instances": [INSTANCE]})[1]["predictions"][0]
    assert (first["answer"], first["truncated"]) == (alone["answer"], False)
    assert long["truncated"] is True
    assert all(row["answer"] == alone["answer"] for row in others)


def test_names_with_spaces_and_unicode_are_served(exported):
    with Server({"les collines é": exported}, port=0) as running:
        client = Client("les collines é", running.url, timeout=3600)
        assert client.status()["model_version_status"][0]["state"] == "AVAILABLE"
        assert client.answer(**INSTANCE) == tfmrc.load(exported).answer(**INSTANCE)


def test_a_damaged_export_is_not_served(exported, tmp_path):
    damaged = shutil.copytree(exported, tmp_path / "7")
    (variables,) = (damaged / "variables").glob("*.data-*")
    content = bytearray(variables.read_bytes())
    content[len(content) // 2] ^= 1
    variables.write_bytes(content)
    with pytest.raises(ValueError, match="hills is not served: DamagedError: .* is damaged"):
        Server({"hills": damaged}, port=0)
    variables.write_bytes(content[:100])
    with pytest.raises(ValueError, match="cannot be loaded as a SavedModel; it is damaged"):
        SavedModel(damaged, verify=False)


def test_the_newest_version_is_served(tmp_path):
    hills = tmp_path / "hills"
    for version in ("2", "10", "3.part", "\N{ARABIC-INDIC DIGIT NINE}99"):
        (hills / version).mkdir(parents=True)
        (hills / version / "saved_model.pb").touch()
    assert newest_version(hills).name == "10"
    assert newest_version(hills / "2").name == "2"
    with pytest.raises(FileNotFoundError, match=f"SavedModels below it: {hills}.$"):
        newest_version(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no SavedModel in"):
        SavedModel(tmp_path / "none")

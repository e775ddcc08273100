"""Answers from documents over REST: what is sent, what is refused, pages and files."""

import io
import json
import os
import re

import httpx
import pytest
from PIL import Image, ImageChops

from tests.documents.files import pdf
from tests.serving.small_models import write_echo, write_quoting
from tfmrc import documents
from tfmrc.predictors import RequestError
from tfmrc.serving import Client, Limits, Server, page

TIMEOUT = 3600  # a guard against hanging; a busy machine is slow
KEY = "open sesame"
PAGES = [("An eagle flew.", 10, 700)], [("An owl sat in the mill.", 20, 600)]
TEXT = f"# Mills\n\n## Owls\n\n<b>It</b> 👩 rained. An owl slept there.\n\n{'It snowed. ' * 90}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents") / "pages"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "mills.md").write_text(TEXT, encoding="utf-8")
    (folder / "birds.pdf").write_bytes(pdf(PAGES))
    (folder / "changed.pdf").write_bytes(pdf(PAGES))
    (folder / "gone.txt").write_text("It has gone.")
    documents.index(folder, folder.with_name("pages.index"))
    os.utime(folder / "changed.pdf")
    (folder / "gone.txt").unlink()
    write_quoting(folder.with_name("models") / "quoting")
    return folder


@pytest.fixture(scope="module")
def server(folder):
    models, index = folder.with_name("models"), folder.with_name("pages.index")
    limits = Limits(body_bytes=2000, elements=40, words=9000)
    with Server(models, port=0, limits=limits, api_key=KEY, documents=index) as running:
        yield running


def send(server, method, path, **options):
    options = {"headers": {"x-api-key": KEY}, "timeout": TIMEOUT, **options}
    return httpx.request(method, f"{server.url}/v1/{path}", **options)


def answer(server, **body):
    reply = send(server, "POST", "documents:answer", json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def get(server, what, **query):
    return send(server, "GET", f"documents/{what}", params=query)


def test_the_client_gets_the_answer_with_its_place(server, folder):
    with Client("", server.url, timeout=TIMEOUT, api_key=KEY) as client:
        found = client.answer_from_documents(question="Which owl sat in a mill?")
    with documents.load(folder.with_name("pages.index")) as collection:
        text = collection.document_text(found.document)
    assert (found.document, found.page, found.text) == ("birds.pdf", 2, "owl")
    assert text[found.start : found.end] == "owl"
    assert found.marked_sentence == "An [owl] sat in the mill."
    assert 0.35 < found.probability < 0.5 and found.is_confident
    [other] = found.alternatives
    assert (other.document, other.heading) == ("deep/mills.md", ("Mills", "Owls"))


def test_an_answer_comes_with_the_text_around_it(server):
    found = answer(server, question="Which owl slept where it rained?", num_alternatives=0)
    assert found["headline"] == found["text"] == "owl"
    assert found["place"].startswith("deep/mills.md, Mills > Owls, characters ")
    assert found["passage"].startswith("<b>It</b> 👩 rained. An owl slept there.\n\nIt snowed.")
    start, end = (found[name] - found["passage_start"] for name in ("start", "end"))
    assert found["passage"][start:end] == "owl"
    assert "alternatives" not in found


def test_a_guess_and_no_answer_are_named(server):
    found = answer(server, question="Which owl sat in a mill, perhaps?")
    assert found["headline"] == "No confident answer. Best guess: owl (0.50)"
    assert not found["is_confident"]
    for question in ("Which llama?", "eagle", ""):  # no passage, no answer in one, no word
        found = answer(server, question=question, num_passages=1)
        assert (found["headline"], "document" in found) == ("No answer in these documents.", False)


def test_the_description_has_the_paths_of_the_server(server):
    described = httpx.get(f"{server.url}/openapi.json", timeout=TIMEOUT).json()
    routes = server._uvicorn.config.app.routes
    paths = {re.sub(r":\w+\}", "}", route.path) for route in routes}
    assert set(described["paths"]) == paths - set(page.FILES)


def test_the_page_learns_of_the_documents(server):
    found = send(server, "GET", "models").json()
    assert (found["documents"], found["headings"]) == ("pages.index", ["Owls"])


def test_a_page_is_a_picture_with_the_answer_marked(server):
    found = answer(server, question="Which owl sat in a mill?")
    place = {"name": found["document"], "start": found["start"], "end": found["end"]}
    plain, marked = (
        get(server, "page", page=2, name="birds.pdf"),
        get(server, "page", page=2, **place),
    )
    assert marked.headers["content-type"] == "image/png"
    plain, marked = (Image.open(io.BytesIO(reply.content)) for reply in (plain, marked))
    assert marked.size == plain.size == (1200, 1600)
    left, top, right, bottom = ImageChops.difference(marked, plain).getbbox()
    # The line begins 50 points from the left, 600 of 800 above the edge: 100 and 400 pixels.
    assert 150 < left < right < 230 and 360 < top < bottom < 410
    elsewhere = get(server, "page", **place | {"page": 1})
    assert elsewhere.content == get(server, "page", page=1, name="birds.pdf").content


@pytest.mark.parametrize(
    "name, content_type, disposition",
    [
        ("birds.pdf", "application/pdf", 'inline; filename="birds.pdf"'),
        ("deep/mills.md", "application/octet-stream", 'attachment; filename="mills.md"'),
    ],
)
def test_a_file_is_shown_or_saved_and_never_runs(server, folder, name, content_type, disposition):
    reply = get(server, "file", name=name)
    assert reply.content == (folder / name).read_bytes()
    assert reply.headers["content-type"] == content_type
    assert reply.headers["content-disposition"] == disposition
    assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "what, query, status, words",
    [
        ("page", {"name": "changed.pdf", "page": 1}, 404, "changed.pdf is not in the index, or"),
        ("file", {"name": "changed.pdf"}, 404, "run `tfmrc index` again"),
        ("file", {"name": "gone.txt"}, 404, "gone.txt is not in the index"),
        ("file", {"name": "../pages.index"}, 404, "../pages.index is not in the index"),
        ("page", {"name": "none.pdf"}, 404, "none.pdf is not in the index"),
        (
            "page",
            {"name": "birds.pdf", "page": 3},
            404,
            "There is no page 3; the last one is page 2",
        ),
        ("page", {"name": "birds.pdf", "page": 0}, 404, "There is no page 0"),
        ("page", {"name": "deep/mills.md"}, 404, "Only PDF files have pictures"),
        (
            "page",
            {"name": "birds.pdf", "page": "x"},
            400,
            "`page`: Input should be a valid integer",
        ),
        ("file", {}, 400, "`name`: Field required"),
    ],
)
def test_what_cannot_be_shown_is_named(server, what, query, status, words):
    reply = get(server, what, **query)
    assert reply.status_code == status and words in reply.json()["error"]


@pytest.mark.parametrize(
    "body, status, words",
    [
        ("{", 400, "not valid JSON"),
        ([], 400, "`body`: Input should be"),
        ({}, 400, "`question`: Field required"),
        ({"question": "owl", "passages": []}, 400, "`passages`: Extra inputs"),
        ({"question": "owl", "num_passages": 101}, 400, "`num_passages`: Input should be less"),
        ({"question": "owl", "model": "x"}, 404, "Not served: 'x'"),
        ({"question": "owl", "style": "x"}, 400, "This model has no styles"),
        ({"question": "owl " * 400, "num_passages": 100}, 200, ""),
        ({"question": "o" * 2000}, 413, "at most 2,000 bytes"),
        ({"question": [[]] * 99}, 413, "at most 40 values"),
    ],
)
def test_a_wrong_question_is_refused(server, body, status, words):
    content = body if isinstance(body, str) else json.dumps(body)
    reply = send(server, "POST", "documents:answer", content=content)
    assert reply.status_code == status, reply.text
    assert words in reply.text


def test_limits_and_the_key_hold_as_for_other_requests(server, monkeypatch):
    for path in ("documents/file?name=birds.pdf", "documents/page?name=birds.pdf"):
        assert send(server, "GET", path, headers={}).status_code == 401
    assert send(server, "POST", "documents:answer", headers={}).status_code == 401
    for limit, status in ({"words": 5}, 413), ({"requests": 0}, 429):
        monkeypatch.setattr(server.service, "limits", Limits(**limit))
        with server.manager.use("quoting") as used:
            monkeypatch.setattr(used.loaded.batcher, "_limits", Limits(**limit))
        reply = send(server, "POST", "documents:answer", json={"question": "Which owl?"})
        assert reply.status_code == status
    assert get(server, "page", name="birds.pdf").status_code == 429


def test_one_of_several_models_is_named(folder, tmp_path):
    write_quoting(tmp_path / "quoting")
    (tmp_path / "echo").mkdir()
    write_echo(tmp_path / "echo", 1)
    with Server(tmp_path, port=0, documents=folder.with_name("pages.index")) as server:
        reply = send(server, "POST", "documents:answer", json={"question": "owl"})
        assert "Not served: ''. Served: echo version 1, quoting" in reply.json()["error"]
        with Client("echo", server.url, timeout=TIMEOUT) as client:
            with pytest.raises(RequestError, match="This model does not answer questions"):
                client.answer_from_documents(question="owl")
        with Client("quoting", server.url, timeout=TIMEOUT) as client:
            assert client.answer_from_documents(question="owl").text == "owl"


def test_a_server_without_documents_has_no_such_paths(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no index"):
        Server(folder.with_name("models"), port=0, documents=tmp_path / "no.index")
    with Server(folder.with_name("models"), port=0) as server:
        assert "documents" not in send(server, "GET", "models").json()
        assert send(server, "POST", "documents:answer", json={"question": "?"}).status_code == 404
